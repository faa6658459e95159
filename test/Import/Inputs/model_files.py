"""Writes models in the layout of Hugging Face: config.json, and .safetensors
files with an index if there are several."""
import json
import os
import struct

import numpy as np

CODES = {"float32": "F32", "float16": "F16", "bfloat16": "BF16"}


def stored(array, dtype):
    """The bytes of an array, and the values that they stand for."""
    if dtype != "bfloat16":
        values = array.astype(dtype)
        return values.tobytes(), values.astype(np.float64)
    bits = array.astype(np.float32).view(np.uint32) >> 16
    return bits.astype("<u2").tobytes(), (bits << 16).view(np.float32).astype(np.float64)


def write_safetensors(path, arrays, dtypes):
    header, data, values = {"__metadata__": {"format": "pt"}}, b"", {}
    for name, array in arrays.items():
        raw, values[name] = stored(array, dtypes[name])
        header[name] = {"dtype": CODES[dtypes[name]], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    return values


def write_model(folder, config, arrays, dtypes, shards=1):
    """Returns the arrays as they were stored."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/config.json", "w") as file:
        json.dump(config, file, indent=2)
    if shards == 1:
        return write_safetensors(f"{folder}/model.safetensors", arrays, dtypes)
    names, values, weight_map = list(arrays), {}, {}
    for shard in range(shards):
        part = {name: arrays[name] for name in names[shard::shards]}
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        values.update(write_safetensors(f"{folder}/{file}", part, dtypes))
        weight_map.update({name: file for name in part})
    with open(f"{folder}/model.safetensors.index.json", "w") as file:
        json.dump({"metadata": {}, "weight_map": weight_map}, file)
    return values


def read_safetensors(path):
    """The arrays as (code, shape, bytes) by name, and the metadata."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    metadata = header.pop("__metadata__", {})
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}, metadata


def read_folder(folder):
    """The arrays of a folder, from one file or several."""
    arrays = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".safetensors"):
            arrays.update(read_safetensors(f"{folder}/{name}")[0])
    return arrays


def write_arrays(path, arrays, metadata=None):
    """The reverse of read_safetensors."""
    header, data = {"__metadata__": metadata or {}}, b""
    for name, (code, shape, raw) in arrays.items():
        header[name] = {"dtype": code, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
