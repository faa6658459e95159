#!/usr/bin/env python3
"""Trains a model whose weights are constants of its programs on the double of
the engine's framework: 60 programs are compiled anew for each of 40 updates, and
a process may compile 110, so that the run goes on in process after process.
Every loss has to be that of a run on the CPU backend, which nothing interrupts,
bit for bit, and so has the checkpoint at the end. See ../README.md."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = ["dim=32", "hidden=64", "heads=2", "kv_heads=2", "seq=32", "vocab=256"]


def losses(folder):
    rows = [json.loads(line)
            for line in (folder / "train.jsonl").read_text().splitlines()]
    return [(row["step"], row["loss"]) for row in rows]


def train(program, package, folder, options, *more, environment=None):
    """What a run printed, and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run(
        [program, "train", package, f"--data={options.data}", "--seed=3",
         "--init=1", "--threads=1", f"--steps={options.steps}",
         f"--checkpoint={folder}", *more],
        env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: a run ended with {done.returncode}:\n{done.stderr}")
    return done.stdout, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="where `ninja all ane-test-programs` was run")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "docs")
    options = parser.parse_args()
    build = options.build.resolve()
    double = build / "test" / "bin" / "ane-run-double"
    if not double.exists():
        sys.exit(f"error: there is no {double}; `ninja ane-test-programs` makes it")
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        package = work / "model.anepkg"
        defines = [word for size in SIZES + [f"layers={options.layers}"]
                   for word in ("--define", size)]
        subprocess.run([build / "bin" / "anec", ROOT / "examples" / "llama.tdsl",
                        *defines, "--weight-mode=baked", "--init=1", "-o",
                        package], check=True)
        _, quiet = train(build / "bin" / "ane-run", package, work / "cpu", options,
                         "--backend=cpu")
        environment = dict(os.environ)
        environment["ANEC_ANE_FRAMEWORK"] = str(
            build / "test" / "lib" / "ane-double.so")
        environment["ANE_DOUBLE_REPORT"] = str(work / "report")
        environment["TEMP"] = str(work)
        text, restarted = train(double, package, work / "ane", options,
                                "--backend=ane", environment=environment)
        left = [path for path in work.iterdir()
                if path.is_dir() and (path / "model.mil").exists()]
        if left:
            sys.exit(f"error: {len(left)} staged folders are left")
        if losses(work / "cpu") != losses(work / "ane"):
            sys.exit("error: the losses differ")
        last = f"step-{options.steps:08}/weights.safetensors"
        if (work / "cpu" / last).read_bytes() != (work / "ane" / last).read_bytes():
            sys.exit("error: the weights at the end differ")
        restarts = len(re.findall(r"resumed from", text))
        compiles = re.search(r"(\d+) compiles", (work / "report").read_text())
        print(f"{options.steps} updates in {restarts + 1} processes "
              f"({compiles[1]} programs compiled by the last): all "
              f"{len(losses(work / 'ane'))} losses and the weights are those of "
              f"an uninterrupted run on the CPU backend ({restarted:.1f} s beside "
              f"{quiet:.1f} s, measured)")
        if not restarts:
            sys.exit("error: the limit was never met")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
