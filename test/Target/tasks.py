#!/usr/bin/env python3
"""Checks in docs/reference/accuracy.md that predicted numbers of tasks are nearer to the
recorded ones than numbers of ops are, for programs that are held out.

usage: tasks.py PAGE"""
import pathlib
import re
import sys

ROW = re.compile(r"\| (m\d) \| held out \| ([a-z ]+) \| (\d+) \| (\d+) "
                 r"\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|")


def main(page):
    rows = {(target, what): [float(x) for x in numbers]
            for target, what, *numbers in ROW.findall(pathlib.Path(page).read_text())}
    for target in ("m1", "m2"):
        count, equal, median, typical, worst = rows[target, "predicted tasks"]
        ops = rows[target, "number of ops"]
        assert ops[0] == count and equal / count > 0.75 > 0.5 > ops[1] / count, rows
        assert median == 1 and typical < 1.5 < ops[3] and worst < ops[4] / 5, rows
        print(f"{target}, held out: {count:.0f} programs")


if __name__ == "__main__":
    main(*sys.argv[1:])
