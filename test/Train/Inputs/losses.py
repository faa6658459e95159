"""Checks that two runs logged the same losses, bit for bit, of steps 1 to N.

usage: losses.py FOLDER FOLDER N"""
import json
import pathlib
import sys


def losses(folder):
    rows = map(json.loads,
               pathlib.Path(folder, "train.jsonl").read_text().splitlines())
    return [(row["step"], row["loss"], row.get("val_loss")) for row in rows]


left, right = losses(sys.argv[1]), losses(sys.argv[2])
assert [row[0] for row in left] == list(range(1, int(sys.argv[3]) + 1)), left
for one, other in zip(left, right):
    assert one == other, (one, other)
assert len(left) == len(right), (len(left), len(right))
