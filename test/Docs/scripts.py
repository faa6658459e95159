#!/usr/bin/env python3
"""Prints the shell scripts of the sources, but not those of tests' inputs.
usage: scripts.py ROOT"""
import pathlib
import re
import sys

FOLDERS = [".ci", "benchmarks", "examples", "packaging", "test"]


def is_script(path):
    if "Inputs" in path.parts or not path.is_file():
        return False
    with path.open("rb") as file:
        return bool(re.match(rb"#!.*\b(ba)?sh$", file.readline().rstrip()))


def main(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if is_script(path):
                print(path)


main(pathlib.Path(sys.argv[1]))
