"""Compares the checkpoints of a run on one window with AdamW in double
precision, on the gradients that ane-run computes of each checkpoint."""
import json
import subprocess

import numpy as np


def read(path):
    data = open(path, "rb").read()
    length = int.from_bytes(data[:8], "little")
    arrays = {}
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    for name, row in header.items():
        begin, end = row["data_offsets"]
        arrays[name] = np.frombuffer(
            data[8 + length + begin:8 + length + end],
            "<f4").reshape(row["shape"]).astype(float)
    return arrays


def folder(step):
    return f"run/step-{step:08}"


window = np.arange(60, 77, dtype=np.int32)
np.save("tokens.npy", window[:16])
np.save("targets.npy", window[1:])
hyper = json.load(open(f"{folder(1)}/state.json"))["hyperparameters"]
m = v = None
for step in range(2, 5):
    before = read(f"{folder(step - 1)}/weights.safetensors")
    moments = read(f"{folder(step - 1)}/optimizer.safetensors")
    subprocess.run(
        ["ane-run", "tiny.anepkg", "--numerics=fp32", "--gradients",
         "g.safetensors", f"--weights={folder(step - 1)}/weights.safetensors",
         "--input", "tokens=tokens.npy", "--input", "targets=targets.npy"],
        check=True, stdout=subprocess.DEVNULL)
    gradients = read("g.safetensors")
    norm = np.sqrt(sum((g ** 2).sum() for g in gradients.values()))
    assert norm > hyper["clip"], norm
    rate = hyper["lr"] * min(step / hyper["warmup"], 1)
    after = read(f"{folder(step)}/weights.safetensors")
    assert before.keys() == gradients.keys() == after.keys()
    for name, g in gradients.items():
        g = g * hyper["clip"] / norm
        if step == 2:  # the first step's, which began with none
            assert np.abs(moments[f"{name}.m"]).max() > 0
        m = hyper["beta1"] * moments[f"{name}.m"] + (1 - hyper["beta1"]) * g
        v = hyper["beta2"] * moments[f"{name}.v"] + (1 - hyper["beta2"]) * g * g
        mean = m / (1 - hyper["beta1"] ** step)
        root = np.sqrt(v / (1 - hyper["beta2"] ** step)) + hyper["epsilon"]
        decay = hyper["weight-decay"] if g.ndim > 1 else 0
        expected = before[name] * (1 - rate * decay) - rate * mean / root
        error = np.abs(after[name] - expected).max()
        assert error < 1e-6, (step, name, error)
        assert np.abs(after[name] - before[name]).max() > 1e-3, (step, name)
