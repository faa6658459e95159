#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a small GPT-2, whose matrices are multiplied as their transposes, and compares
what adapters were merged into it with their products.

usage: gpt2_adapters.py write FOLDER
       gpt2_adapters.py compare FOLDER ADAPTERS.safetensors NAMES.json MERGED SCALE"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Import/Inputs"))
import model_files  # noqa: E402

CONFIG = {"model_type": "gpt2", "n_layer": 2, "n_embd": 8, "n_head": 2, "vocab_size": 5,
          "n_positions": 16}


def write(folder):
    shapes = {"wte.weight": (5, 8), "wpe.weight": (16, 8), "ln_f.weight": (8,), "ln_f.bias": (8,)}
    for layer in range(2):
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"h.{layer}.{norm}.weight": (8,), f"h.{layer}.{norm}.bias": (8,)}
        for name, rows, columns in (("attn.c_attn", 8, 24), ("attn.c_proj", 8, 8),
                                    ("mlp.c_fc", 8, 32), ("mlp.c_proj", 32, 8)):
            shapes |= {f"h.{layer}.{name}.weight": (rows, columns),
                       f"h.{layer}.{name}.bias": (columns,)}
    rng = np.random.default_rng(1)
    arrays = {name: rng.normal(0, 0.3, shape) for name, shape in shapes.items()}
    model_files.write_model(folder, CONFIG, arrays, {name: "float32" for name in arrays}, 1)


def read(path):
    data = pathlib.Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    types = {"F32": np.float32, "F16": np.float16}
    return {name: np.frombuffer(data[8 + size:][slice(*one["data_offsets"])], types[one["dtype"]])
            .reshape(one["shape"]).astype(np.float64)
            for name, one in json.loads(data[8:8 + size]).items() if name != "__metadata__"}


def compare(folder, adapters, names, merged, scale):
    base, made = (read(pathlib.Path(one) / "model.safetensors") for one in (folder, merged))
    drawn, count = read(adapters), 0
    for name, stored in json.loads(pathlib.Path(names).read_text()).items():
        if not isinstance(stored, str):
            continue  # What else the file says.
        expected = base[stored]
        if name + "_lora_a" in drawn:
            a, b = drawn[name + "_lora_a"], drawn[name + "_lora_b"]
            assert abs(b).max() > 0, name
            expected = expected + float(scale) * (b @ a).T
            count += 1
        assert abs(made[stored] - expected).max() < 1e-6, name
    assert count == 8, count


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
