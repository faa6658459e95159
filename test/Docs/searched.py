#!/usr/bin/env python3
"""Checks that an index of MkDocs has every page of docs/, under words that it has.

usage: searched.py ROOT search_index.json"""
import json
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
entries = json.loads(pathlib.Path(sys.argv[2]).read_text())["docs"]
found = {entry["location"].split("#")[0] for entry in entries}
missing = [page.name for page in sorted(root.glob("docs/**/*.md"))
           if str(page.relative_to(root).with_suffix(".html")) not in found and page.name != "README.md"]
of_rule = {entry["location"].split("#")[0] for entry in entries if "no-cumsum" in entry["text"]}
if "docs/reference/rules.html" not in of_rule:
    missing.append("no-cumsum in docs/reference/rules.md")
print(len(found), "pages to search,", "without " + ", ".join(missing) if missing else "all")
sys.exit(bool(missing))
