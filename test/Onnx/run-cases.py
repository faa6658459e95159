#!/usr/bin/env python3
"""Runs the cases of ONNX's own test data (Debian's libonnx-testdata) with ane-run in
fp32, and compares outputs with ONNX's tolerances.

usage: run-cases.py ANE_RUN FOLDER [--list=cases.txt] [--write] [--filter=REGEX]
                    [--shard=I/N] [--jobs=N]

FOLDER is for inputs and outputs. Each case passes, or is refused with a diagnostic;
a crash, a hang or a wrong number is an error. --list names the file of the
outcomes that are expected; --write writes it.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import onnx_cases

SECONDS = 60


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    index, count = map(int, args.shard.split("/"))
    cases = [case for case in onnx_cases.cases()
             if re.search(args.filter, case.name)][index - 1::count]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        outcomes = dict(zip(
            (case.name for case in cases),
            pool.map(lambda case: outcome(args.ane_run, case,
                                          args.folder / case.name), cases)))
    if args.verbose:
        for name, text in outcomes.items():
            print(f"{name} {text}")
    report(cases, outcomes)
    failures = [f"{name}: {text}" for name, text in outcomes.items()
                if not text.startswith(("passes", "refused"))]
    if args.write:
        text = "".join(f"{name} {text}\n" for name, text in outcomes.items())
        args.list.write_text(text)
    elif args.list:
        failures += compare(args.list, outcomes)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures or not cases else 0


def compare(path, outcomes):
    """Outcomes that are not those of the list."""
    failures = []
    listed = dict(line.split(" ", 1) for line in path.read_text().splitlines())
    for name, text in outcomes.items():
        before = listed.get(name, "not listed")
        if before != text:
            failures.append(f"{name}: {text}; the list has `{before}`")
    return failures


def report(cases, outcomes):
    """Prints how many cases passed, of each kind."""
    of_kind, passed = collections.Counter(), collections.Counter()
    for case in cases:
        of_kind[case.kind()] += 1
        passed[case.kind()] += outcomes[case.name] == "passes"
    for kind, count in sorted(of_kind.items(), key=lambda pair: -pair[1]):
        print(f"{kind}: {passed[kind]} of {count} pass")


def outcome(ane_run, case, folder):
    """`passes`, `refused: ID`, or what is wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for inputs, outputs in case.data():
            text = run(ane_run, case, folder, inputs, outputs)
            if text:
                return text
        return "passes"
    finally:
        shutil.rmtree(folder)


def run(ane_run, case, folder, inputs, outputs):
    command = [ane_run, case.folder / "model.onnx", "--numerics=fp32",
               f"--output-dir={folder}/out"]
    for position, (name, array) in enumerate(inputs.items()):
        path = folder / f"{position}.npy"
        if array.dtype != object:
            numpy.save(path, array)
        command += ["--input", f"{name}={path}"]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True,
                              text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"hangs: runs for more than {SECONDS} s"
    if done.returncode:
        return refusal(done)
    for name, expected in outputs.items():
        path = folder / "out" / f"{name}.npy"
        if not path.exists():
            return f"wrong: no output `{name}`"
        text = onnx_cases.difference(numpy.load(path), expected)
        if text:
            return f"wrong: `{name}`: {text}"
    return None


def refusal(done):
    """The node and id of the diagnostic that refuses a case."""
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if done.returncode not in (1, 2) or not errors:
        lines = done.stderr.strip().splitlines() or ["nothing"]
        return f"crashes: exit code {done.returncode}, {lines[-1]}"
    op = re.search(r"\bnode `[^`]*` \((\w+)\)", errors[0])
    name = re.search(r"\[([a-z0-9-]+)\]$", errors[0])
    if not name:
        return f"crashes: an error without an id: {errors[0]}"
    return " ".join(["refused:", *(op.groups() if op else ()), name[1]])


if __name__ == "__main__":
    sys.exit(main())
