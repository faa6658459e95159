#!/usr/bin/env python3
"""Says where code looks up an op or a parameter by a string.

Rows (`ops::Concat`), their traits and the handles of `param` do that: the compiler checks them."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
params = set(re.findall(r'^PARAM\(\w+, "(\w+)"',
                        (root / "include/anec/IR/Params.def").read_text(), re.M))
PARAM = re.compile(
    r"""(?:\bAttr(?:\s+\w+)?\(
       | (?:\.|->)(?:operand|constant|setConstant|hasOperand|valueSlot|
                     constantSlot|findValueParam|findConstantParam)\(
       | \bcheck\w+\(\s*ctx,
       | \battrs\.emplace_back\(
       | \bparam\.name\s*[=!]=
       )\s*"(\w+)\"""", re.X)
OP = re.compile(
    r"""(?:\b(?:def|row|def\(\))(?:\.|->)name\s*[=!]=
       | \b(?:def|row|def\(\))(?:\.|->)name\.(?:starts|ends)_with\(
       | \b(?:ops|opTable\(\)|table)\.find\(
       )\s*"(\w+)\"""", re.X)

files, errors = 0, 0
for folder in ("include", "lib", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".cpp", ".h", ".mm"):
            continue
        files += 1
        text = path.read_text()
        found = [(m.start(1), f'names the parameter "{m[1]}" by a string; use '
                              "its handle") for m in PARAM.finditer(text)
                 if m[1] in params]
        found += [(m.start(1), f'names the op "{m[1]}" by a string; use its row '
                               "or a trait") for m in OP.finditer(text)]
        for at, message in sorted(found):
            line = text.count("\n", 0, at) + 1
            print(f"{path.relative_to(root)}:{line}: {message}")
        errors += len(found)
print(f"{files} files, {errors} errors")
sys.exit(errors > 0)
