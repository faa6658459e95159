"""Writes the weight files of weight-files.test into a folder: one that is as it
should be, with four fp16 at offset 64, and ones with a single fault each."""
import pathlib
import struct
import sys

FP16 = 1


def weights(version=2, mark=0xDEADBEEF, code=FP16, size=8, data=128):
    header = struct.pack("<II56x", 1, version)
    record = struct.pack("<IIQQQ32x", mark, code, size, data, 0)
    return header + record + b"\x00\x3c" * 4


files = {
    "good": weights(),
    "version1": weights(version=1),
    "code": weights(code=99),
    "size": weights(size=2**63),
    "data-offset": weights(data=2**64 - 4),
    "cut-header": weights()[:100],
    "cut-data": weights()[:-1],
    "empty": b"",
    "text": b"These are no weights.\n" * 10,
}
folder = pathlib.Path(sys.argv[1])
for name, content in files.items():
    (folder / (name + ".bin")).write_bytes(content)
(folder / "folder.bin").mkdir(exist_ok=True)
