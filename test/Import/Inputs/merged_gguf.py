#!/usr/bin/env python3
"""Checks a GGUF file with merged adapters: metadata and arrays are those of the first, but
for the arrays whose names have a part.
usage: merged_gguf.py BEFORE.gguf AFTER.gguf PART"""
import sys

from export_gguf import Reader, describes_elements

before, after = Reader(sys.argv[1]), Reader(sys.argv[2])
kept = [{key: value for key, value in reader.metadata.items() if not describes_elements(key)}
        for reader in (before, after)]
assert kept[0] == kept[1]
assert list(before.arrays) == list(after.arrays)
changed = [name for name, array in after.arrays.items() if array != before.arrays[name]]
assert changed == [name for name in after.arrays if sys.argv[3] in name] != [], changed
