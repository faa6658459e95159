"""Checks that two runs logged nearly the same losses of steps 1 to N, which are
not all the same.

usage: near.py FOLDER FOLDER N TOLERANCE"""
import json
import pathlib
import sys


def losses(folder):
    rows = map(json.loads,
               pathlib.Path(folder, "train.jsonl").read_text().splitlines())
    return {row["step"]: row["loss"] for row in rows}


left, right = losses(sys.argv[1]), losses(sys.argv[2])
count, tolerance = int(sys.argv[3]), float(sys.argv[4])
assert list(left) == list(right) == list(range(1, count + 1)), (left, right)
for step in left:
    difference = abs(left[step] - right[step])
    assert difference <= tolerance, (step, left[step], right[step])
assert left[1] - left[count] > 50 * tolerance, "nothing was learned"
