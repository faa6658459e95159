#!/usr/bin/env python3
"""Writes a compile_commands.json with a command for each source: those that a build with
ANEC_UNITY compiles together are there by themselves, with the same options.

usage: alone.py BUILD FOLDER"""
import json
import pathlib
import re
import sys

build, folder = map(pathlib.Path, sys.argv[1:])
entries = []
for entry in json.loads((build / "compile_commands.json").read_text()):
    unit = entry["file"]
    together = "/Unity/unity_" in unit
    sources = [unit]
    if together:
        sources = re.findall(r'^#include "(.+)"$', pathlib.Path(unit).read_text(), re.M)
    for source in sources:
        entries.append({**entry, "file": source,
                        "command": entry["command"].replace(f" -c {unit}", f" -c {source}")})
folder.mkdir(parents=True, exist_ok=True)
(folder / "compile_commands.json").write_text(json.dumps(entries, indent=2))
