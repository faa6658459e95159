#!/usr/bin/env python3
"""Changes one byte in the middle of an entry of a zip archive, and nothing else.

  damage_entry.py GOOD.pt2 DAMAGED.pt2 ENTRY [ENTRY]

ENTRY is the end of the entry's name. A second one is an entry of the archive that the
first one is."""
import io
import pathlib
import struct
import sys
import zipfile


def place(contents, ending):
    """Where the contents of the entry begin, and their size."""
    with zipfile.ZipFile(io.BytesIO(contents)) as archive:
        entry = next(entry for entry in archive.infolist() if entry.filename.endswith(ending))
    lengths = struct.unpack_from("<HH", contents, entry.header_offset + 26)
    return entry.header_offset + 30 + sum(lengths), entry.file_size


def main(good, damaged, *endings):
    contents = bytearray(pathlib.Path(good).read_bytes())
    begin, size = 0, len(contents)
    for ending in endings:
        offset, size = place(bytes(contents[begin:begin + size]), ending)
        begin += offset
    contents[begin + size // 2] ^= 1
    pathlib.Path(damaged).write_bytes(contents)


if __name__ == "__main__":
    main(*sys.argv[1:])
