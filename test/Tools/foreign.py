#!/usr/bin/env python3
"""Checks the tables of flags that one tool names of another: the other has them, this
one has not.
usage: foreign.py SOURCES"""
import pathlib
import re
import subprocess
import sys


def flags(tool):
    text = subprocess.run([tool, "--help-all"], check=True, capture_output=True,
                          text=True).stdout
    return set(re.findall(r"^  -+([\w-]+)", text, re.M))


def main(sources):
    rows, errors = 0, []
    for path in sorted(pathlib.Path(sources).glob("*/an*.cpp")):
        tool = path.stem
        for flag, other in re.findall(r'\{"([\w-]+)",\s+"([\w-]+)"\}', path.read_text()):
            rows += 1
            if flag not in flags(other):
                errors.append(f"{other} has no --{flag}")
            if flag in flags(tool):
                errors.append(f"{tool} has --{flag} itself")
    for error in errors:
        print(error)
    print(f"{rows} flags, {len(errors)} errors")


if __name__ == "__main__":
    main(*sys.argv[1:])
