#!/usr/bin/env python3
r"""edit.py FILE EDIT...: changes a file in place, or fails when an edit changes nothing.

  s/PATTERN/TEXT/       replaces every match; any character instead of the slashes
  s/PATTERN/TEXT/first  replaces the first match of the file
  /PATTERN/d            removes the lines with a match

Patterns and texts are those of Python's `re`, with lines for `^` and `$`."""
import re
import sys


def apply(text, edit):
    if edit.startswith("/") and edit.endswith("/d"):
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not re.search(edit[1:-2], line))
    parts = edit[2:].split(edit[1:2])
    if edit[0] != "s" or len(parts) != 3 or parts[2] not in ("", "first"):
        sys.exit(f"edit.py: `{edit}` is no edit")
    return re.sub(parts[0], parts[1], text, count=1 if parts[2] else 0,
                  flags=re.MULTILINE)


def main(path, *edits):
    # Bytes that are no text stay as they are.
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    for edit in edits:
        changed = apply(text, edit)
        if changed == text:
            sys.exit(f"edit.py: `{edit}` changes nothing in {path}")
        text = changed
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(*sys.argv[1:])
