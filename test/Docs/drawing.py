#!/usr/bin/env python3
"""Draws the folders of include/anec and lib by layers as docs/structure.svg, with the includes
from one row to the next; layers.py has them all.

usage: drawing.py ROOT           compares the drawing with the code
       drawing.py ROOT --write   draws it again"""
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import layers

WIDTH, BAND, BOX_HEIGHT, GAP, MARGIN = 760, 88, 54, 28, 16


def includes(root):
    """The folders that each folder includes, and the subfolders it has."""
    uses, parts = {}, {}
    for top in ("include/anec", "lib"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".mm"):
                continue
            inside = path.relative_to(root)
            folder = layers.own_folder(inside)
            if folder not in layers.INCLUDED or str(inside) in layers.OF_ALL:
                continue
            used = uses.setdefault(folder, set())
            below = inside.parts[len(pathlib.PurePath(top).parts) + 1:-1]
            if folder != "anec.h" and below:
                parts.setdefault(folder, set()).add(below[0])
            for header in re.findall(r'^\s*#\s*(?:include|import)\s*"((?:anec|lib)/[^"]+)"',
                                     path.read_text(), re.M):
                target = layers.folder_of(header)
                if target != folder and target in layers.INCLUDED:
                    used.add(target)
    return uses, parts


def reduced(uses):
    """The same without edges that follow from others."""
    def reach(start):
        seen, todo = set(), list(uses.get(start, ()))
        while todo:
            folder = todo.pop()
            if folder not in seen:
                seen.add(folder)
                todo.extend(uses.get(folder, ()))
        return seen
    return {folder: sorted(target for target in used
                           if not any(target in reach(other)
                                      for other in used if other != target))
            for folder, used in uses.items()}


def share(others, other, boxes):
    """Where on a side the line to `other` is, when it has lines to all `others`."""
    order = sorted(others, key=lambda folder: (boxes[folder][0], folder))
    return (order.index(other) + 1) / (len(order) + 1)


def arrow(edge, edges, boxes):
    """From one floor to the one below."""
    a, b = edge
    (ax, ay, a_width, _), (bx, by, b_width, _) = boxes[a], boxes[b]
    x1 = ax + a_width * share([to for start, to in edges if start == a], b, boxes)
    x2 = bx + b_width * share([start for start, to in edges if to == b], a, boxes)
    y1, bend = ay + BOX_HEIGHT, (by - ay - BOX_HEIGHT) / 2
    return (f'<path d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} '
            f'{by - bend:.0f} {x2:.0f} {by:.0f}" fill="none" stroke="#7b8794" '
            f'stroke-width="1.4"/>\n'
            f'<path d="M{x2 - 4:.0f} {by - 7:.0f} L{x2:.0f} {by:.0f} L{x2 + 4:.0f} '
            f'{by - 7:.0f} Z" fill="#7b8794"/>')


def floors_of(uses):
    """The layers as floors, from the ground up, and the name of each layer at its highest:
    folders of one floor do not include each other."""
    names, floors = [], []
    for layer, folders in layers.LAYERS.items():
        height = {}
        for folder in folders:
            if folder in uses:
                height[folder] = 1 + max((height[name] for name in uses[folder]
                                          if name in height), default=-1)
        top = max(height.values(), default=-1)
        for floor in range(top + 1):
            names.append(layer if floor == top else "")
            floors.append([folder for folder in height if height[folder] == floor])
    return names, floors


def draw(root):
    uses, parts = includes(root)
    names, floors = floors_of(uses)
    height = MARGIN * 2 + BAND * len(floors)
    boxes = {}
    for number, floor in enumerate(floors):
        top = MARGIN + BAND * (len(floors) - 1 - number)
        inner = {f: ", ".join(sorted(parts.get(f, ()))) for f in floor}
        sizes = {f: max(130, 24 + 7 * max(len(f) + 2, len(inner[f]))) for f in floor}
        total = sum(sizes.values()) + GAP * 2 * (len(floor) - 1)
        left = (WIDTH - total) / 2
        for folder in floor:
            boxes[folder] = (left, top + (BAND - BOX_HEIGHT) / 2, sizes[folder],
                             inner[folder])
            left += sizes[folder] + GAP * 2
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'font-family="Helvetica, Arial, sans-serif">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    shaded = [sum(map(bool, names[:number])) % 2 == 1 for number in range(len(floors))]
    for number in range(len(floors)):
        top = MARGIN + BAND * (len(floors) - 1 - number)
        if shaded[number]:
            out.append(f'<rect x="0" y="{top}" width="{WIDTH}" height="{BAND}" '
                       f'fill="#f4f6f9"/>')
        out.append(f'<text x="{WIDTH - 12}" y="{top + 14}" font-size="12" text-anchor="end" '
                   f'fill="#8a94a3">{names[number]}</text>')
    level = {folder: number for number, floor in enumerate(floors) for folder in floor}
    edges = [(a, b) for a, targets in sorted(reduced(uses).items()) for b in targets]
    edges = [(a, b) for a, b in edges if level[a] - level[b] == 1]
    out += [arrow(edge, edges, boxes) for edge in edges]
    for folder, (x, y, width, inner) in boxes.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width}" '
                   f'height="{BOX_HEIGHT}" rx="6" fill="#e3edf8" stroke="#35608f"/>')
        label = folder if folder.endswith(".h") else folder + "/"
        middle = x + width / 2
        out.append(f'<text x="{middle:.0f}" y="{y + (23 if inner else 33):.0f}" '
                   f'font-size="15" font-weight="bold" text-anchor="middle" '
                   f'fill="#1d3557">{html.escape(label)}</text>')
        if inner:
            out.append(f'<text x="{middle:.0f}" y="{y + 42:.0f}" font-size="11.5" '
                       f'text-anchor="middle" fill="#46607d">{html.escape(inner)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main(root, *options):
    path = root / "docs" / "structure.svg"
    drawing = draw(root)
    if "--write" in options:
        path.write_text(drawing)
        return 0
    if path.exists() and path.read_text() == drawing:
        return 0
    print("docs/structure.svg does not show the folders as they are; draw it again:\n"
          "  python3 test/Docs/drawing.py . --write")
    return 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), *sys.argv[2:]))
