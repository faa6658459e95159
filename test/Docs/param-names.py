#!/usr/bin/env python3
"""Says where code asks for a parameter of an op by a string.

Handles of `param` do that (include/anec/IR/Params.def): a misspelt one does not compile.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
names = set(re.findall(r'^PARAM\(\w+, "(\w+)"',
                       (root / "include/anec/IR/Params.def").read_text(), re.M))
LOOKUP = re.compile(
    r"""(?:\bAttr(?:\s+\w+)?\(
       | (?:\.|->)(?:operand|constant|setConstant|hasOperand|valueSlot|constantSlot|
                     findValueParam|findConstantParam)\(
       | \bcheck\w+\(\s*ctx,
       | \battrs\.emplace_back\(
       | \bparam\.name\s*[=!]=
       )\s*"(\w+)\"""", re.X)

files, errors = 0, 0
for folder in ("include", "lib", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".cpp", ".h", ".mm"):
            continue
        files += 1
        text = path.read_text()
        for found in LOOKUP.finditer(text):
            if found[1] in names:
                line = text.count("\n", 0, found.start(1)) + 1
                print(f"{path.relative_to(root)}:{line}: names the parameter "
                      f"\"{found[1]}\" by a string; use its handle")
                errors += 1
print(f"{files} files, {errors} errors")
sys.exit(errors > 0)
