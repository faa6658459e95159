#!/usr/bin/env python3
"""Writes the arrays of a safetensors file again, with other values, in a type.

  stored_types.py FROM TO F64|F32|F16|BF16|F8_E4M3|F8_E5M2

The values are the same in each type: all types hold them exactly."""
import json
import random
import struct
import sys

VALUES = [0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.0, 0.375]
# Bytes, bits of the fraction, bias of the exponent.
TYPES = {"F64": (8, 52, 1023), "F32": (4, 23, 127), "F16": (2, 10, 15), "BF16": (2, 7, 127),
         "F8_E4M3": (1, 3, 7), "F8_E5M2": (1, 2, 15)}


def encode(value, kind):
    size, fraction, bias = TYPES[kind]
    mantissa, exponent = abs(value), 0
    while mantissa and mantissa < 1:
        mantissa, exponent = mantissa * 2, exponent - 1
    while mantissa >= 2:
        mantissa, exponent = mantissa / 2, exponent + 1
    bits = (value < 0) << (size * 8 - 1)
    if value:
        bits |= (exponent + bias) << fraction | int((mantissa - 1) * (1 << fraction))
    return bits.to_bytes(size, "little")


source, target, kind = sys.argv[1:]
with open(source, "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
draw, arrays, data = random.Random(1), {}, b""
for name, entry in header.items():
    if name == "__metadata__":
        continue
    count = 1
    for extent in entry["shape"]:
        count *= extent
    packed = b"".join(encode(draw.choice(VALUES), kind) for _ in range(count))
    arrays[name] = {"dtype": kind, "shape": entry["shape"],
                    "data_offsets": [len(data), len(data) + len(packed)]}
    data += packed
text = json.dumps(arrays).encode()
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
