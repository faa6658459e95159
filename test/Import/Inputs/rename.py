#!/usr/bin/env python3
"""Writes the arrays of a folder under the program's names, with metadata and
without or with some arrays.
usage: rename.py FOLDER NAMES.json OUT.safetensors [KEY=VALUE | -NAME | +NAME]..."""
import json
import sys

import model_files

folder, names_file, out, *changes = sys.argv[1:]
with open(names_file, encoding="utf-8") as file:
    names = json.load(file)
arrays = model_files.read_folder(folder)
renamed = {name: arrays[other] for name, other in names.items() if isinstance(other, str)}
metadata = {}
for change in changes:
    if change[0] == "-":
        del renamed[change[1:]]
    elif change[0] == "+":
        renamed[change[1:]] = ("F16", [1], b"\0\0")
    else:
        key, _, value = change.partition("=")
        metadata[key] = value
model_files.write_arrays(out, renamed, metadata)
