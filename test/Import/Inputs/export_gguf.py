#!/usr/bin/env python3
"""Writes random models as GGUF files, imports them, exports other weights to another
file like them, and reads that by its own reader: metadata and arrays must be those of the
first file, but for the weights and the type of elements.
usage: export_gguf.py [--seed=1] [--models=33] FOLDER"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

import gguf_files
import model_files
from gguf_models import ARCHITECTURES, TYPES, Model, write_gguf

DTYPES = {0: "<f4", 1: "<f2", gguf_files.BF16: "<u2", 28: "<f8"}
#: of elements: the code in GGUF files, the value of general.file_type
ELEMENTS = {"float32": (0, 0), "float16": (1, 1), "bfloat16": (gguf_files.BF16, 32)}


class Reader:
    """metadata: (type, bytes) by key; arrays: (code, shape, bytes or None) by name."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.at = 0
        assert self.take(4) == b"GGUF"
        self.version, = self.unpack("<I")
        arrays, values = self.unpack("<QQ")
        self.metadata = {}
        for _ in range(values):
            key = self.string().decode()
            kind, = self.unpack("<I")
            begin = self.at
            self.skip(kind)
            assert key not in self.metadata
            self.metadata[key] = kind, self.data[begin:self.at]
        entries = []
        for _ in range(arrays):
            name = self.string().decode()
            rank, = self.unpack("<I")
            shape = self.unpack(f"<{rank}Q")[::-1]
            entries.append((name, shape, *self.unpack("<IQ")))
        alignment = 32
        if "general.alignment" in self.metadata:
            alignment, = struct.unpack("<I", self.metadata["general.alignment"][1])
        begin = -(-self.at // alignment) * alignment
        self.arrays, end = {}, 0
        for name, shape, code, offset in entries:
            assert offset % alignment == 0 and offset >= end
            raw = None
            if code in DTYPES:
                size = int(np.prod(shape)) * np.dtype(DTYPES[code]).itemsize
                end = offset + size
                raw = self.data[begin + offset:begin + end]
                assert len(raw) == size
            self.arrays[name] = code, shape, raw
        self.whole = begin + -(-end // alignment) * alignment

    def take(self, size):
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size:self.at]

    def unpack(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def string(self):
        return self.take(self.unpack("<Q")[0])

    def skip(self, kind):
        if kind == gguf_files.STRING:
            self.string()
        elif kind == gguf_files.ARRAY:
            element, count = self.unpack("<IQ")
            for _ in range(count):
                self.skip(element)
        else:
            self.unpack(gguf_files.SCALARS[kind])


def describes_elements(key):
    return key == "general.file_type" or key == "general.quantization_version"


def check(seed, family, kind, dtype, work):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    block = gguf_files.PACKINGS[kind].elements if kind in gguf_files.PACKINGS else 1
    write_gguf(seed, Model(seed, family, block), kind, f"{work}/model.gguf")
    run = lambda *command: subprocess.run(command, cwd=work, check=True)
    run("anec", "import", "model.gguf", "-o", "model.tdsl")
    with open(f"{work}/model.names.json", encoding="utf-8") as file:
        names = {key: name for key, name in json.load(file).items() if isinstance(name, str)}
    before = Reader(f"{work}/model.gguf")
    rng = np.random.default_rng(seed)
    weights = {key: rng.normal(0, 0.3, before.arrays[name][1]) for key, name in names.items()}
    values = model_files.write_safetensors(f"{work}/own.safetensors", weights,
                                           {key: dtype for key in weights})
    run("anec", "convert", "own.safetensors", "--weight-map=model.names.json",
        "--like=model.gguf", "-o", "back.gguf")
    after = Reader(f"{work}/back.gguf")
    code, file_type = ELEMENTS[dtype]
    assert after.version == 3 and after.whole == len(after.data)
    assert after.metadata["general.file_type"] == (gguf_files.UINT32,
                                                   struct.pack("<I", file_type))
    keep = lambda reader: {key: value for key, value in reader.metadata.items()
                           if not describes_elements(key)}
    assert keep(before) == keep(after)
    assert list(before.arrays) == list(after.arrays)
    key_of = {name: key for key, name in names.items()}
    for name, (written, shape, raw) in after.arrays.items():
        assert shape == before.arrays[name][1], name
        if name not in key_of:
            assert before.arrays[name] == (written, shape, raw), name
            continue
        assert written == (code if len(shape) > 1 else 0), (name, written)
        stored = np.frombuffer(raw, DTYPES[written]).reshape(shape)
        if written == gguf_files.BF16:
            stored = (stored.astype(np.uint32) << 16).view(np.float32)
        assert np.array_equal(stored.astype(np.float64), values[key_of[name]]), name
    run("anec", "import", "back.gguf", "-o", "again.tdsl")
    for end in "tdsl", "names.json":
        run("cmp", f"model.{end}", f"again.{end}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=33)
    parser.add_argument("work")
    arguments = parser.parse_args()
    families, failures = list(ARCHITECTURES), 0
    seeds = range(arguments.seed, arguments.seed + arguments.models)
    for seed in seeds:
        case = (families[seed % len(families)], TYPES[seed % len(TYPES)],
                list(ELEMENTS)[seed % len(ELEMENTS)])
        try:
            check(seed, *case, f"{arguments.work}/{seed}")
        except (AssertionError, subprocess.CalledProcessError) as wrong:
            print(f"{seed} {case}: {wrong!r}")
            failures += 1
    print(f"{len(seeds)} models, {failures} wrong")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
