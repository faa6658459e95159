"""Prints the records of a weight file, read without any of anec's code."""
import struct
import sys

NAMES = {1: "fp16", 2: "fp32", 3: "uint8", 4: "int8", 14: "int32"}
data = open(sys.argv[1], "rb").read()
count, version = struct.unpack_from("<II", data)
print(f"version {version} count {count} size {len(data)}")
offset = 64
for _ in range(count):
    sentinel, code, size, begin = struct.unpack_from("<IIQQ", data, offset)
    assert sentinel == 0xDEADBEEF and begin == offset + 64
    head = data[begin:begin + min(size, 4)].hex()
    print(f"{offset}: {NAMES[code]} {size} bytes at {begin}: {head}")
    offset = (begin + size + 63) // 64 * 64
assert begin + size == len(data)
