#!/usr/bin/env python3
"""Counts where lib and tools compare text with a literal, and fails where a file does so more often
than modes.txt allows.

A mode of a parameter, of a flag or of a file of anec's is an enumeration (ANEC_ENUM, see
docs/develop/style.md): its words are written once, and the compiler finds a switch that lacks one. What is
left is text of others: names in files of formats, keys of JSON, file names. modes.txt has a line for
each file: how many comparisons it has, and with what. `--list` prints them; `--write` lowers the
numbers of files that have fewer."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
allowed_path = root / "test/Docs/Inputs/modes.txt"
TEXT = r'"(?:[^"\\\n]|\\.)*"'
COMPARED = re.compile(
    rf"[!=]=\s*(?:(?:llvm::)?StringRef\()?{TEXT}|{TEXT}\s*[!=]=|"
    rf"\.equals(?:_insensitive)?\({TEXT}\)")


def without_comments(text):
    """The code, with strings kept but for their signs of equality, and as many lines."""
    return re.sub(rf"({TEXT})|'(?:\\.|[^'\\\n])'|//[^\n]*|/\*.*?\*/",
                  lambda m: m[1].replace("=", "\0") if m[1] else "\n" * m[0].count("\n"), text, flags=re.S)


def comparisons(path):
    text = without_comments(path.read_text())
    return [(text.count("\n", 0, m.start()) + 1, " ".join(m[0].replace("\0", "=").split()))
            for m in COMPARED.finditer(text)]


found = {}
for folder in ("lib", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix in (".cpp", ".h", ".mm"):
            if here := comparisons(path):
                found[str(path.relative_to(root))] = here

allowed, reasons = {}, {}
for line in allowed_path.read_text().splitlines():
    if line and not line.startswith("#"):
        name, count, reason = line.split(None, 2)
        allowed[name], reasons[name] = int(count), reason

if "--list" in sys.argv:
    for name, here in found.items():
        for line, text in here:
            print(f"{name}:{line}: {text}")
errors = 0
for name, here in found.items():
    most = allowed.get(name, 0)
    if len(here) <= most:
        continue
    errors += 1
    print(f"{name}: {len(here)} comparisons with literals, and modes.txt allows {most}; use an "
          "enumeration, or add the line if the text is of a format of others:")
    for line, text in here:
        print(f"  {name}:{line}: {text}")
if "--write" in sys.argv:
    lines = [line for line in allowed_path.read_text().splitlines()
             if line.startswith("#") or not line]
    lines += [f"{name} {min(len(found[name]), allowed[name])} {reasons[name]}"
              for name in sorted(allowed) if name in found]
    allowed_path.write_text("\n".join(lines) + "\n")
total = sum(map(len, found.values()))
print(f"{len(found)} files, {total} comparisons, {errors} errors")
sys.exit(errors > 0)
