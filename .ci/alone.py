#!/usr/bin/env python3
"""Writes a compile_commands.json with a command for each source: those that a build with
ANEC_UNITY compiles together are there by themselves, with the same options.

usage: alone.py BUILD FOLDER"""
import json
import pathlib
import re
import sys


def sources(entry):
    """What a command compiles: one file, or those that ANEC_UNITY compiles together."""
    unit = entry["file"]
    if "/Unity/unity_" not in unit:
        return [unit]
    return re.findall(r'^#include "(.+)"$', pathlib.Path(unit).read_text(), re.M)


def main(build, folder):
    entries = json.loads((build / "compile_commands.json").read_text())
    alone = [{**entry, "file": source,
              "command": entry["command"].replace(f" -c {entry['file']}", f" -c {source}")}
             for entry in entries for source in sources(entry)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(alone, indent=2))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
