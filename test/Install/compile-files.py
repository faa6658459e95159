#!/usr/bin/env python3
"""Compiles files of a configured build, and nothing else of it.

  compile-files.py BUILD FILE..."""
import json
import pathlib
import subprocess
import sys

build, *files = sys.argv[1:]
entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
failed = 0
for file in files:
    found = [entry for entry in entries if entry["file"].endswith("/" + file)]
    if len(found) != 1:
        sys.exit(f"{len(found)} commands compile {file}")
    done = subprocess.run(found[0]["command"], shell=True, cwd=found[0]["directory"])
    failed += done.returncode != 0
    print(f"{file} {'fails' if done.returncode else 'compiles'}")
sys.exit(1 if failed else 0)
