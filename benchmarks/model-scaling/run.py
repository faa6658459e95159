#!/usr/bin/env python3
"""Compiles models of 100 and 400 distinct layers, and of one layer with 500 and
2,000 ops, to packages. See ../README.md.
"""

import argparse
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import interleaved

# Milliseconds at the larger size, and the exponent of the growth.
LIMITS = {"layers": 2000, "ops": 1000}
GROWTH_LIMIT = 1.3
SIZES = {"layers": (100, 400), "ops": (500, 2000)}


def layers(count, out):
    """Feed-forward layers that differ in a constant."""
    for i in range(count):
        out.write(f"layer l{i}(x: fp16[8, 16]) -> fp16[8, 16] {{\n"
                  "  weight g: fp16[8];\n  weight w, v: fp16[8, 8];\n"
                  "  h = rmsnorm(x, g);\n"
                  f"  return x + v @ (silu(w @ h) * {1 + i / 1000:.3f});\n}}\n")
    out.write("model m(x: fp16[8, 16]) -> fp32 {\n  x0 = x * 1;\n")
    for i in range(count):
        out.write(f"  x{i + 1} = l{i}(x{i});\n")
    out.write(f"  return mean(cast(x{count} * x{count}, fp32));\n}}\n")


def ops(count, out):
    """One layer that is a chain of elementwise ops."""
    forms = ["tanh({})", "{} * 0.5", "sigmoid({})", "{} + x", "silu({})"]
    out.write("layer l(x: fp16[8, 16]) -> fp16[8, 16] {\n"
              "  weight w: fp16[8, 8];\n  v0 = w @ x;\n")
    for i in range(count):
        out.write(f"  v{i + 1} = {forms[i % 5].format(f'v{i}')};\n")
    out.write(f"  return v{count};\n}}\nmodel m(x: fp16[8, 16]) -> fp32 {{\n"
              "  y = l(x);\n  return mean(cast(y * y, fp32));\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--foreign", type=float, default=0.05)
    options = parser.parse_args()
    work = options.build.resolve() / "benchmarks" / "model-scaling"
    work.mkdir(parents=True, exist_ok=True)
    commands = {}
    for kind, sizes in SIZES.items():
        for size in sizes:
            path = work / f"{kind}{size}.tdsl"
            with open(path, "w") as out:
                globals()[kind](size, out)
            commands[kind, size] = interleaved.Command(
                f"{kind} {size}",
                [options.build / "bin" / "anec", path, "-o",
                 work / f"{kind}{size}.anepkg"], processor=True)
    results, _ = interleaved.measure(list(commands.values()), options.rounds,
                                     1, options.foreign, retries=1, pause=0)
    times = {key: result.median() for key, result in zip(commands, results)}
    fine = True
    for kind, (small, large) in SIZES.items():
        one, many = times[kind, small], times[kind, large]
        exponent = math.log(many / one) / math.log(large / small)
        ok = many <= LIMITS[kind] and exponent <= GROWTH_LIMIT
        fine &= ok
        print(f"{kind}: {one:.0f} ms at {small}, {many:.0f} ms at {large}, "
              f"growth n^{exponent:.2f}; limits {LIMITS[kind]} ms, "
              f"n^{GROWTH_LIMIT}: {'yes' if ok else 'NO'}")
    print("measured: medians of processor time")
    sys.exit(0 if fine else 1)


main()
