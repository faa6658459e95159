#!/usr/bin/env python3
"""Checks that what anec writes for a target breaks no rule of that target that
is an error or a warning: the examples, for every target and in every mode.

usage: own-programs.py ANEC EXAMPLES OUTPUT_FOLDER [--all]

Without --all, each example is compiled in two modes for each target, others for
the next one."""
import itertools
import json
import pathlib
import re
import subprocess
import sys

MODES = [list(filter(None, mode)) for mode in itertools.product(
    ("", "--weight-mode=baked"), ("", "--io=separate"), ("", "--fuse=max"))]
MODES.append(["--forward-only"])
# What an example has of these does not change which ops it has. An epsilon of
# 1e-6, which some have, is warned of, and is the user's to change.
CHANGED = {"layers": 2, "vocab": 2000, "eps": 1e-5}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True,
                          text=True)


def programs(anec, examples, output, is_all):
    """Yields the command that compiles each program, and its file."""
    targets = [line.split()[0] for line in
               run(anec, "--list-targets").stdout.splitlines()
               if re.match(r"m\d", line)]
    turn = 0
    for example in sorted(examples.glob("*.tdsl")):
        text = example.read_text()
        is_model = re.search("^model ", text, re.M)
        kernels = re.findall(r"^(?:kernel|layer) (\w+)", text, re.M)
        changed = [f"--define={name}={value}" for name, value in CHANGED.items()
                   if re.search(rf"\b{name} = \d", text)]
        for target in targets:
            common = [example, f"--target={target}", *changed]
            if not is_model:
                for kernel in kernels:
                    file = output / "k" / "k.mil"
                    yield [anec, *common, f"--kernel={kernel}", "--init=1",
                           "-o", file], file
                continue
            modes = MODES if is_all else [MODES[(turn + i) % len(MODES)]
                                          for i in (0, 4)]
            turn += 1
            for mode in modes:
                # Weights that are inputs need no values.
                values = [] if "baked" not in str(mode) and \
                    "--forward-only" not in mode else ["--init=1"]
                file = output / "p.anepkg"
                yield [anec, *common, *mode, *values, "-o", file], file


def main(anec, examples, output, *flags):
    output = pathlib.Path(output)
    (output / "k").mkdir(parents=True, exist_ok=True)
    count, problems = 0, []
    for command, file in programs(anec, pathlib.Path(examples), output,
                                  "--all" in flags):
        count += 1
        done = run(*command)
        if done.returncode:
            problems.append((command, done.stderr))
            continue
        target = next(part for part in command if "--target" in str(part))
        report = json.loads(run(anec, "check", file, target,
                                "--format=json").stdout)
        problems += [(command, f"{found['rule']}: {found['message']}")
                     for found in report["findings"]
                     if found["severity"] != "remark"]
    for command, problem in problems:
        print(" ".join(map(str, command)), problem, sep="\n  ")
    print(f"{count} programs, {len(problems)} problems")
    sys.exit(bool(problems))


main(*sys.argv[1:])
