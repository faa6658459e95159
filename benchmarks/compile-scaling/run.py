#!/usr/bin/env python3
"""Reads, verifies and prints synthetic modules of 10,000 and 100,000 ops with
anec, as MIL and as IR text, beside mlir-opt on as many tosa ops. See
../README.md.
"""

import argparse
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import generate
import interleaved

FORMS = ["mil", "ir", "tosa"]
# What is given to the growth of cost per op, and to memory.
GROWTH_LIMIT, BYTES_LIMIT = 1.3, 3 * 1024


def write_modules(work, sizes):
    paths = {}
    for form in FORMS:
        for size in sizes:
            paths[form, size] = work / f"module{size}.{form}"
            with open(paths[form, size], "w") as out:
                getattr(generate, form)(size, out)
    return paths


def make_commands(options, paths):
    commands = {}
    for (form, size), path in paths.items():
        if form == "tosa":
            command = [options.mlir, path, "--mlir-disable-threading",
                       "-o", "/dev/null"]
        else:
            command = [options.build / "bin" / "anec", path, f"--emit={form}"]
        commands[form, size] = interleaved.Command(
            f"{'mlir-opt' if form == 'tosa' else 'anec'} {form} {size}",
            command, processor=True)
    return commands


def report(results, commands, small, large):
    """False when anec grows beyond its limits."""
    print(f"{'':14}  {'ms at ' + str(small):>12}  {'ms at ' + str(large):>13}"
          f"  {'us per op':>9}  {'growth':>6}  {'net':>6}"
          f"  {'bytes per op':>12}")
    fine = True
    for form in FORMS:
        start, one, many = (results[form, size].median()
                            for size in (1, small, large))
        growth = (many / large) / (one / small)
        net = ((many - start) / large) / ((one - start) / small)
        kilobytes = (commands[form, large].peak_kilobytes -
                     commands[form, 1].peak_kilobytes)
        memory = kilobytes * 1024 / large
        name = "mlir-opt tosa" if form == "tosa" else f"anec {form}"
        print(f"{name:14}  {one:12.1f}  {many:13.1f}"
              f"  {many / large * 1e3:9.2f}  {growth:6.2f}  {net:6.2f}"
              f"  {memory:12.0f}")
        if form != "tosa":
            fine &= growth <= GROWTH_LIMIT and memory < BYTES_LIMIT
    print("measured: medians of processor time; `net` is the growth without "
          f"starting up (anec {results['mil', 1].median():.1f} ms, "
          f"mlir-opt {results['tosa', 1].median():.1f} ms)")
    print(f"growth of anec's cost per op at most {GROWTH_LIMIT}, bytes per op "
          f"below {BYTES_LIMIT}: {'yes' if fine else 'NO'}")
    ratio = interleaved.ratio_of_rounds(results["mil", large],
                                        results["tosa", large])
    print(f"anec mil to mlir-opt at {large}: {ratio:.2f}; limit 1: "
          f"{'yes' if ratio <= 1 else 'NO'}")
    return fine and ratio <= 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--mlir", default="mlir-opt-19")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--foreign", type=float, default=0.05)
    options = parser.parse_args()
    if not shutil.which(options.mlir):
        sys.exit(f"error: {options.mlir} is missing; run\n"
                 "  apt-get install -y --no-install-recommends mlir-19-tools")
    small, large = 10_000, 100_000
    work = options.build.resolve() / "benchmarks" / "compile-scaling"
    work.mkdir(parents=True, exist_ok=True)
    paths = write_modules(work, [1, small, large])
    commands = make_commands(options, paths)
    results, _ = interleaved.measure(list(commands.values()), options.rounds,
                                     1, options.foreign, retries=1, pause=0)
    sys.exit(0 if report(dict(zip(commands, results)), commands, small, large)
             else 1)


main()
