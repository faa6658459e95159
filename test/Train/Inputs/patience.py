"""Checks that a run ended after PATIENCE validations, EVERY steps apart, without a
lower loss, and that `best` is the checkpoint of the lowest.

usage: patience.py FOLDER PATIENCE EVERY"""
import json
import os
import sys

folder, patience, every = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = [json.loads(line) for line in open(folder + "/train.jsonl")]
losses = {row["step"]: row["val_loss"] for row in rows if row.get("val_loss")
          and row["step"] % every == 0}
best = min(losses, key=losses.get)
assert rows[-1]["step"] == best + patience * every, (rows[-1], best)
assert os.readlink(folder + "/best") == f"step-{best:08}", best
state = json.load(open(folder + "/best/state.json"))
assert state["val_loss"] == losses[best] == state["best"]["val_loss"], state
