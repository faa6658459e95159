#!/usr/bin/env python3
"""Checks a folder of several files with weights: the arrays are those of another folder,
the index is what transformers writes, and every file has as many arrays as have room.
usage: shards.py WHOLE PARTS BYTES"""
import json
import os
import sys

import model_files

whole, parts, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(f"{parts}/model.safetensors.index.json", encoding="utf-8") as file:
    index = json.load(file)
found, sizes = {}, []
count = len([name for name in os.listdir(parts) if name.endswith(".safetensors")])
for number in range(1, count + 1):
    name = f"model-{number:05}-of-{count:05}.safetensors"
    arrays = model_files.read_safetensors(f"{parts}/{name}")[0]
    assert {array for array, other in index["weight_map"].items() if other == name} == set(arrays)
    sizes.append([len(raw) for _, _, raw in arrays.values()])
    found |= arrays
assert count > 1 and len(found) == len(index["weight_map"])
right = model_files.read_folder(whole)
assert found == right, found.keys() ^ right.keys()
for one, after in zip(sizes, sizes[1:]):
    assert (sum(one) <= most or len(one) == 1) and sum(one) + after[0] > most
assert index["metadata"]["total_size"] == sum(map(sum, sizes))
