#!/usr/bin/env python3
"""Keeps the table of private names in docs/use/ane.md and the code together.

usage: evidence.py ROOT

Every class, selector, function, key and constant of Apple's frameworks that the
backends use without Apple's headers has a row with a source, the kind of the
evidence and the systems that it was seen on, and every row is of a name that is
used. Prints what is missing and fails.
"""
import glob
import re
import sys

KINDS = {"code", "dump", "listing", "diff", "documented", "guess"}
CONFIGURED = {
    # Numbers that are passed to the frameworks, by file.
    "lib/Runtime/ANE/Model.h": ["qualityOfService"],
    "lib/Runtime/ANE/PerfStats.mm": ["timeMask"],
    "lib/Runtime/ANE/E5rtModel.mm": ["engineMask", "hostBuffer"],
    "lib/Runtime/Apple/CoreMLProtocols.h": ["mlCpuAndNeuralEngine",
                                            "mlFeatureMultiArray"],
}


def text_of(root, name):
    with open(f"{root}/{name}") as file:
        return re.sub(r"//[^\n]*", "", file.read())


def joined(code):
    """Adjacent string literals as one."""
    return re.sub(r'"\s*\n\s*"', "", code)


def methods(root):
    """Of the table of methods that are looked up before they are called."""
    code = joined(text_of(root, "lib/Runtime/ANE/PrivateFramework.mm"))
    constants = dict(re.findall(r'constexpr char (\w+)\[\] =\s*"([^"]*)"', code))
    row = re.compile(r"\{\"(\w+)\", '([+-])',\s*(?:\"([^\"]*)\"|(\w+))")
    for owner, kind, selector, constant in row.findall(code):
        yield owner
        yield f"{kind}[{owner} {selector or constants[constant]}]"


def declared(root):
    """Of protocols: classes whose methods are not in that table."""
    classes = {}
    for name in ("Protocols.h", "E5Protocols.h"):
        with open(f"{root}/lib/Runtime/ANE/{name}") as file:
            text = file.read()
        # `/// The class _ANEBuffer.` or `/// Instances of _ANEModel.`
        for comment, body in re.findall(
                r"((?:///[^\n]*\n)+)@protocol \w+ <NSObject>\n(.*?)@end", text,
                re.S):
            owner = re.search(r"(?:class|Instances of) (_?[A-Z]\w+)", comment)
            body = re.sub(r"//[^\n]*", "", body)
            for declaration in re.findall(r"^- (.*?);", body, re.S | re.M):
                declaration = re.sub(r"\([^()]*\)", "", declaration)
                parts = re.findall(r"(\w+):", declaration)
                selector = "".join(p + ":" for p in parts)
                classes.setdefault(owner[1], set()).add(
                    selector or declaration.strip())
    return classes


def strings(root):
    """Classes and keys, by how they are spelled in the code."""
    for path in sorted(glob.glob(f"{root}/lib/Runtime/ANE/*.mm") +
                       glob.glob(f"{root}/lib/Runtime/CoreML/*.mm")):
        code = joined(text_of(root, path[len(root) + 1:]))
        private = "/CoreML/" in path
        for at, literal in re.findall(r'(@?)"((?:[^"\\]|\\.)*)"', code):
            if at and (not private or
                       literal.startswith(("_", "MLE5", "kANEF"))):
                yield literal
        for name in re.findall(r'(?:classNamed|allocated)\(\s*"(\w+)"', code):
            if not private or name.startswith(("_", "MLE5")):
                yield name


def used(root):
    names = set(methods(root)) | set(strings(root))
    known = {re.sub(r"^.\[\w+ (.*)\]$", r"\1", name) for name in names}
    for owner, selectors in declared(root).items():
        for selector in selectors - known:
            names.add(f"-[{owner} {selector}]")
    names |= set(re.findall(r"\be5rt_\w+",
                            text_of(root, "lib/Runtime/ANE/E5rt.def") +
                            text_of(root, "lib/Runtime/ANE/E5rt.h")))
    names |= set(re.findall(r"\b\w+\.framework(?=/)",
                            text_of(root,
                                    "lib/Runtime/ANE/PrivateFramework.mm")))
    for name, constants in CONFIGURED.items():
        code = text_of(root, name)
        for constant in constants:
            value = re.search(rf"\b{constant} = (\d+)", code)
            names.add(f"{constant} = {value[1] if value else '?'}")
    return names


def main():
    root = sys.argv[1]
    with open(f"{root}/docs/use/ane.md") as file:
        page = file.read()
    section = page.split("## Private symbols\n")[1].split("\n## ")[0]
    rows, wrong = {}, []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| `") or len(cells) != 5:
            continue
        name, purpose, source, kinds, systems = cells
        name = name.strip("`")
        if name in rows:
            wrong.append(f"{name}: two rows")
        rows[name] = kinds
        if not (purpose and source and systems):
            wrong.append(f"{name}: a cell is empty")
        for kind in kinds.split(", "):
            if kind not in KINDS:
                wrong.append(f"{name}: the evidence is `{kind}`")
    names = used(root)
    wrong += [f"{name}: used, and has no row" for name in sorted(names)
              if name not in rows]
    wrong += [f"{name}: has a row, and is not used" for name in sorted(rows)
              if name not in names]
    print("\n".join(wrong))
    print(f"{len(rows)} rows, {len(names)} names")
    sys.exit(bool(wrong))


main()
