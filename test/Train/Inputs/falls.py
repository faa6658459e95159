"""Checks that the loss of a run fell to less than a share of what it was, on
what it was trained on and on what it was not: means of the first and the last
five steps, and the first and the last validation.

usage: falls.py FOLDER SHARE"""
import json
import pathlib
import sys

rows = [json.loads(line) for line in
        pathlib.Path(sys.argv[1], "train.jsonl").read_text().splitlines()]
share = float(sys.argv[2])
losses = [row["loss"] for row in rows]
first, last = sum(losses[:5]), sum(losses[-5:])
assert last < share * first, (first / 5, last / 5)
validations = [row["val_loss"] for row in rows if "val_loss" in row]
assert validations[-1] < validations[0], validations
assert validations[-1] < 2 * share * losses[0], (losses[0], validations)
