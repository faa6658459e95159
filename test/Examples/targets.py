#!/usr/bin/env python3
"""Compiles every kernel and layer of the examples for every target, comparing
results before and after each pass, and checks that no rule is broken.

usage: targets.py ANEC EXAMPLES OUTPUT_FOLDER"""
import pathlib
import re
import subprocess
import sys

# Small enough for the double-precision reference; what matters to rules stays.
SMALLER = ["--define", "dim=64", "--define", "hidden=96", "--define", "heads=2",
           "--define", "kv_heads=2", "--define", "seq=64",
           "--define", "height=14", "--define", "width=14",
           "--define", "batch=2", "--define", "size=16", "--define", "inner=96",
           "--define", "source_seq=48", "--define", "experts=3"]


def run(*arguments):
    return subprocess.run(arguments, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def defines_of(text):
    config = re.search(r"config \{(.*?)\n\}", text, re.S)
    names = set(re.findall(r"(\w+) =", config[1])) if config else set()
    for flag, define in zip(SMALLER[::2], SMALLER[1::2]):
        if define.split("=")[0] in names:
            yield from (flag, define)


def main(anec, examples, output):
    targets = [line.split()[0] for line in
               run(anec, "--list-targets").stdout.splitlines()]
    problems, count = [], 0
    for path in sorted(pathlib.Path(examples).glob("*.tdsl")):
        text = path.read_text()
        for kernel in re.findall(r"^(?:kernel|layer) (\w+)", text, re.M):
            for target in targets:
                count += 1
                mil = pathlib.Path(output, target, f"{path.stem}-{kernel}.mil")
                mil.parent.mkdir(parents=True, exist_ok=True)
                made = run(anec, str(path), f"--kernel={kernel}", "--init=1",
                           f"--target={target}", "--verify-numerics",
                           "-o", str(mil), *defines_of(text))
                checked = run(anec, "check", f"--target={target}", str(mil))
                for step in (made, checked):
                    if step.returncode:
                        problems.append(f"{mil.name} {target}: {step.stdout}")
    print("\n".join(problems + [f"{count} programs, {len(problems)} problems"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
