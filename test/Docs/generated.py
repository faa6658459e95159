#!/usr/bin/env python3
"""Compares the generated pages of docs/ with what anec prints now.

usage: generated.py ANEC DOCS_FOLDER"""
import difflib
import pathlib
import subprocess
import sys

anec, docs = sys.argv[1:]
stale = False
for page in ("reference/ops", "reference/passes", "reference/rules", "reference/targets",
             "reference/chips", "reference/errors", "reference/diagnostics", "formats/onnx",
             "formats/pytorch"):
    path = pathlib.Path(docs, f"{page}.md")
    old = path.read_text() if path.exists() else ""
    new = subprocess.run([anec, "debug", f"--dump-docs={path.stem}"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    difference = list(difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"docs/{page}.md", "now", lineterm=""))
    print("\n".join(difference), end="\n" * bool(difference))
    stale |= bool(difference) or not new
if stale:
    print("refresh them: cmake --build build --target refresh-docs")
sys.exit(stale)
