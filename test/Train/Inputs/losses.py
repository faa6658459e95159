"""Checks that two runs logged the same losses, bit for bit, of steps 1 to N, and
the same metrics with --metrics. With --near, only five digits are compared.

usage: losses.py FOLDER FOLDER N [--metrics] [--near]"""
import json
import pathlib
import sys


def losses(folder):
    rows = map(json.loads,
               pathlib.Path(folder, "train.jsonl").read_text().splitlines())
    keys = ["step", "loss", "val_loss"]
    if "--metrics" in sys.argv:
        keys += ["metrics", "val_metrics"]
    return [[row.get(key) for key in keys] for row in rows]


left, right = losses(sys.argv[1]), losses(sys.argv[2])
assert [row[0] for row in left] == list(range(1, int(sys.argv[3]) + 1)), left
for one, other in zip(left, right):
    if "--near" in sys.argv:
        one, other = [[value and float(f"{value:.5g}") for value in row]
                      for row in (one, other)]
    assert one == other, (one, other)
assert len(left) == len(right), (len(left), len(right))
