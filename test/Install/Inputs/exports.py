"""Checks that libanec-c exports what its header declares, and nothing else.

usage: exports.py HEADER FOLDER"""
import pathlib
import re
import subprocess
import sys

header = pathlib.Path(sys.argv[1]).read_text()
declared = set(re.findall(r"^ANEC_API[^;(]*?\b(anec_\w+)\(", header, re.M))
library = next(path for path in pathlib.Path(sys.argv[2]).rglob("libanec-c.*")
               if path.suffix in (".so", ".dylib"))
flags = ["-gU"] if library.suffix == ".dylib" else ["-D", "--defined-only"]
symbols = subprocess.run(["nm", *flags, library], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
exported = {line.split()[-1].lstrip("_") for line in symbols.splitlines()}
assert len(declared) > 50, declared
assert exported == declared, (exported - declared, declared - exported)
