#!/usr/bin/env python3
"""Says where code looks up an op or a parameter by a string.

Rows (`ops::Concat`), their traits and the handles of `param` do that: the compiler checks them.
A handle is declared once, and a file in lib/Ops uses it."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
HANDLE = re.compile(r'^ANEC_(?:PARAM|MODE)\((\w+),\s*"(\w+)"', re.M)
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

texts = {path: path.read_text() for folder in ("include", "lib", "tools")
         for path in sorted((root / folder).rglob("*"))
         if path.suffix in (".cpp", ".h", ".mm")}
params = {m[2] for text in texts.values() for m in HANDLE.finditer(text)}
rows = "".join(text for path, text in texts.items()
               if path.is_relative_to(root / "lib/Ops"))
used = set(re.findall(r"\bparam::(\w+)", rows))
declared = {}
errors = 0
for path, text in texts.items():
    found = [(m.start(1), f'names the parameter "{m[1]}" by a string; use '
                          "its handle") for m in PARAM.finditer(text)
             if m[1] in params]
    found += [(m.start(1), f'names the op "{m[1]}" by a string; use its row '
                           "or a trait") for m in OP.finditer(text)]
    for m in HANDLE.finditer(text):
        first = declared.setdefault(m[1], path)
        if first != path:
            found.append((m.start(1), f"declares {m[1]}, as {first.relative_to(root)} "
                                      "does; move it to a header of both"))
        elif m[1] not in used:
            found.append((m.start(1), f"declares {m[1]}, which no row has"))
    for at, message in sorted(found):
        line = text.count("\n", 0, at) + 1
        print(f"{path.relative_to(root)}:{line}: {message}")
    errors += len(found)
print(f"{len(texts)} files, {errors} errors")
sys.exit(errors > 0)
