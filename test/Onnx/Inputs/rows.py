"""Whether each row of the table of operators is the only one of its name in its domain, and
has its signature.

usage: rows.py PAGE LIB

PAGE is what `anec debug --dump-docs=onnx` prints, LIB the folder lib/Onnx."""
import pathlib
import re
import sys

page, lib = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
parts = page.read_text().split("## Operators of onnxruntime")
errors = 0
for part, folder in zip(parts, (lib, lib / "Microsoft"), strict=True):
    # Those that are refused need none.
    rows = re.findall(r"^\| ([A-Z]\w+) (?![^\n]*\| no \|)", part, re.M)
    signatures = set(re.findall(r"^SIGNATURE\((\w+),", (folder / "Signatures.def").read_text(),
                                re.M))
    for row in sorted({row for row in rows if rows.count(row) > 1}):
        errors += 1
        print(f"{row}: it has two rows")
    for row in sorted(set(rows) - signatures):
        errors += 1
        print(f"{row}: it has no signature; run test/World/_onnx_schemas.py")
    print(f"{len(rows)} operators in {folder.name}")
sys.exit(errors > 0)
