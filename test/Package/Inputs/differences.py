#!/usr/bin/env python3
"""Runs a package in fp32 numerics, and compares some gradients with central
differences of the loss, weights being moved in a .safetensors file.

usage: differences.py ANE_RUN PACKAGE WORK_FOLDER [STEP TOLERANCE]"""
import json
import pathlib
import struct
import subprocess
import sys

import numpy as np


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    body = data[8 + size:]
    dtypes = {"F32": "<f4", "F16": "<f2"}
    return {name: np.frombuffer(body[entry["data_offsets"][0]:entry["data_offsets"][1]],
                                dtypes[entry["dtype"]]).reshape(entry["shape"]).astype("f4")
            for name, entry in header.items() if name != "__metadata__"}


def write_safetensors(path, arrays):
    header, body = {}, b""
    for name, array in arrays.items():
        bytes_ = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(bytes_)]}
        body += bytes_
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def main(ane_run, package, work, step="1e-2", tolerance="2e-3"):
    step, tolerance = float(step), float(tolerance)
    package, work = pathlib.Path(package), pathlib.Path(work)
    work.mkdir()
    entry = json.loads((package / "manifest.json").read_text())["entries"][0]
    tokens = np.array([1, 4, 1], "i4"), np.array([4, 1, 5], "i4")
    for name, ids in zip(("tokens", "targets"), tokens):
        shape = next(i["shape"] for i in entry["inputs"] if i["name"] == name)
        np.save(work / f"{name}.npy", np.resize(ids, shape))
    weights = read_safetensors(package / "weights" / "model.safetensors")

    def run(arrays, *more):
        write_safetensors(work / "weights.safetensors", arrays)
        subprocess.run([ane_run, package, "--numerics=fp32",
                        f"--weights={work}/weights.safetensors",
                        f"--input=tokens={work}/tokens.npy",
                        f"--input=targets={work}/targets.npy",
                        f"--output-dir={work}", *more],
                       check=True, stdout=subprocess.DEVNULL)
        return float(np.load(work / "output.npy").item())

    run(weights, f"--gradients={work}/gradients.safetensors")
    gradients = read_safetensors(work / "gradients.safetensors")
    if sorted(gradients) != sorted(weights):
        sys.exit(f"error: gradients of {sorted(gradients)}")
    random = np.random.default_rng(1)
    failed = 0
    for name, gradient in gradients.items():
        direction = random.standard_normal(gradient.shape).astype("f4")
        ends = [run({**weights, name: weights[name] + sign * step * direction},
                    f"--function={entry['name']}") for sign in (1, -1)]
        difference = (ends[0] - ends[1]) / (2 * step)
        along = float((gradient * direction).sum())
        if abs(difference - along) > tolerance * max(abs(along), 0.1):
            print(f"{name}: {along}, and the loss moves by {difference}")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
