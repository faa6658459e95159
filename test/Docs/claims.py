#!/usr/bin/env python3
"""Checks what pages say of the structure and in numbers: the layers and folders in the table of
docs/overview.md are those of layers.py, and the numbers in CLAIMS are those of what they count.

usage: claims.py ROOT"""
import ast
import json
import pathlib
import re
import sys


def layers_of(root):
    """{layer: [folder]} in LAYERS of layers.py."""
    for node in ast.parse((root / "test/Docs/layers.py").read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "LAYERS":
            return {layer: list(folders) for layer, folders in
                    ast.literal_eval(node.value).items()}
    sys.exit("layers.py has no LAYERS")


def table_of(root):
    """The same, as the table of docs/overview.md has it."""
    table, layer = {}, None
    for cells in re.findall(r"^\| ([^|]*)\| `([^`|]*)` \|", (root / "docs/overview.md").read_text(),
                            re.M):
        layer = cells[0].strip() or layer
        table.setdefault(layer, []).append(cells[1].rstrip("/"))
    return table


def number_of_rules(root):
    return len(re.findall(r"^### ", (root / "docs/reference/rules.md").read_text(), re.M))


def number_of_verdicts(root):
    lines = (root / "test/Target/Inputs/verdicts.jsonl").read_text().splitlines()
    return sum(len(json.loads(line)["accepted"]) for line in lines)


# A page, where its number is, what is counted, and to which power of ten it is rounded down.
CLAIMS = [
    ("README.md", r"asks ([\d,]+) rules", number_of_rules, 1),
    ("docs/use/status.md", r"with ([\d,]+) rules", number_of_rules, 1),
    ("docs/use/status.md", r"([\d,]+) recorded verdicts", number_of_verdicts, 1000),
    ("README.md", r"([\d,]+) recorded verdicts", number_of_verdicts, 1000),
]


def errors_of(root):
    layers, table = layers_of(root), table_of(root)
    for layer in {**layers, **table}:
        if layers.get(layer) != table.get(layer):
            yield (f"docs/overview.md: the layer `{layer}` has {table.get(layer)}, and layers.py "
                   f"{layers.get(layer)}")
    for page, pattern, count, unit in CLAIMS:
        found = re.findall(pattern, (root / page).read_text())
        if not found:
            yield f"{page}: nothing is `{pattern}`"
        for text in found:
            right = count(root) // unit * unit
            if int(text.replace(",", "")) != right:
                yield f"{page}: says {text} for `{pattern}`, and it is {right:,}"


if __name__ == "__main__":
    errors = list(errors_of(pathlib.Path(sys.argv[1])))
    print("\n".join(errors + [f"{len(CLAIMS)} numbers, {len(errors)} errors"]))
    sys.exit(bool(errors))
