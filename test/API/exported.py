"""The names that the header declares, those of the list, and those that the shared library
exports are the same.

usage: exported.py anec-c.h symbols.txt LIBRARY, without an ending"""
import pathlib
import re
import subprocess
import sys

header, listed, library = sys.argv[1:]
text = pathlib.Path(header).read_text()
declared = set(re.findall(r"\bANEC_API[^;(]*?\b(anec_\w+)\(", text))
lines = pathlib.Path(listed).read_text().splitlines()
if lines != sorted(set(lines)):
    print(f"{listed} is not sorted")
of_mac = sys.platform == "darwin"
library += ".dylib" if of_mac else ".so"
out = subprocess.run(["nm", "-g" if of_mac else "-D", "--defined-only", library], check=True,
                     capture_output=True, text=True).stdout
exported = {line.split()[-1][of_mac:] for line in out.splitlines() if line.strip()}
for one, other, what in ((declared, set(lines), "declared, and not listed"),
                         (set(lines), declared, "listed, and not declared"),
                         (set(lines), exported, "listed, and not exported"),
                         (exported, set(lines), "exported, and not listed")):
    for name in sorted(one - other):
        print(f"{name}: {what}")
print(f"{len(exported)} names")
