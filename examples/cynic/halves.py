"""Rounds the arrays of a .safetensors file to fp16.

usage: halves.py FROM TO"""
import json
import pathlib
import struct
import sys

import numpy

data = pathlib.Path(sys.argv[1]).read_bytes()
begin = 8 + struct.unpack("<Q", data[:8])[0]
entries = json.loads(data[8:begin])
header, values = {"__metadata__": {"format": "pt"}}, b""
for name, entry in sorted(entries.items()):
    if name == "__metadata__":
        continue
    first, last = (begin + offset for offset in entry["data_offsets"])
    half = numpy.frombuffer(data[first:last], "<f4").astype("<f2").tobytes()
    header[name] = {"dtype": "F16", "shape": entry["shape"],
                    "data_offsets": [len(values), len(values) + len(half)]}
    values += half
text = json.dumps(header).encode()
pathlib.Path(sys.argv[2]).write_bytes(
    struct.pack("<Q", len(text) + -len(text) % 8) + text + b" " * (-len(text) % 8) + values)
