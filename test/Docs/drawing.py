#!/usr/bin/env python3
"""Draws the folders of include/anec and lib with their includes as docs/structure.svg.

usage: drawing.py ROOT           compares the drawing with the code
       drawing.py ROOT --write   draws it again"""
import html
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import layers

WIDTH, BAND, BOX_HEIGHT, GAP, MARGIN, LABEL = 760, 88, 54, 28, 16, 150
LANE = 16  # between the lines that pass floors on the left


def includes(root):
    """The folders that each folder includes, and the subfolders it has."""
    uses, parts = {}, {}
    for top in ("include/anec", "lib"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".mm"):
                continue
            inside = path.relative_to(root)
            folder = layers.own_folder(inside)
            if layers.floor_of(folder) is None:
                continue
            used = uses.setdefault(folder, set())
            below = inside.parts[len(pathlib.PurePath(top).parts) + 1:-1]
            if folder != "anec.h" and below:
                parts.setdefault(folder, set()).add(below[0])
            for header in re.findall(r'^\s*#\s*(?:include|import)\s*"(?:anec|lib)/([^"]+)"',
                                     path.read_text(), re.M):
                target = header.split("/")[0]
                if target != folder and layers.floor_of(target) is not None:
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


def line(path, tip, direction):
    """A path with an arrow at its end, which points down or to the right."""
    x, y = tip
    head = (f"M{x - 4:.0f} {y - 7:.0f} L{x:.0f} {y:.0f} L{x + 4:.0f} {y - 7:.0f} Z"
            if direction == "down" else
            f"M{x - 7:.0f} {y - 4:.0f} L{x:.0f} {y:.0f} L{x - 7:.0f} {y + 4:.0f} Z")
    return (f'<path d="{path}" fill="none" stroke="#7b8794" stroke-width="1.4"/>\n'
            f'<path d="{head}" fill="#7b8794"/>')


def share(others, other, boxes):
    """Where on a side the line to `other` is, when it has lines to all `others`."""
    order = sorted(others, key=lambda folder: (boxes[folder][0], folder))
    return (order.index(other) + 1) / (len(order) + 1)


def near_line(edge, edges, boxes):
    """From one floor to the one below."""
    a, b = edge
    (ax, ay, a_width, _), (bx, by, b_width, _) = boxes[a], boxes[b]
    x1 = ax + a_width * share([to for start, to in edges if start == a], b, boxes)
    x2 = bx + b_width * share([start for start, to in edges if to == b], a, boxes)
    y1, bend = ay + BOX_HEIGHT, (by - ay - BOX_HEIGHT) / 2
    return line(f"M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} "
                f"{by - bend:.0f} {x2:.0f} {by:.0f}", (x2, by), "down")


def far_line(edge, edges, boxes, lane):
    """Past floors, on the left of all boxes."""
    a, b = edge
    starts = [to for start, to in edges if start == a]
    ends = [start for start, to in edges if to == b]
    y1 = boxes[a][1] + BOX_HEIGHT * share(starts, b, boxes)
    y2 = boxes[b][1] + BOX_HEIGHT * share(ends, a, boxes)
    x1, x2 = boxes[a][0], boxes[b][0]
    return line(f"M{x1:.0f} {y1:.0f} H{lane + 8:.0f} Q{lane:.0f} {y1:.0f} {lane:.0f} "
                f"{y1 + 8:.0f} V{y2 - 8:.0f} Q{lane:.0f} {y2:.0f} {lane + 8:.0f} "
                f"{y2:.0f} H{x2:.0f}", (x2, y2), "right")


def draw(root):
    uses, parts = includes(root)
    floors = [[folder for folder in floor if folder in uses]
              for floor in layers.FLOORS]
    floors = [floor for floor in floors if floor]
    height = MARGIN * 2 + BAND * len(floors)
    boxes = {}
    for number, floor in enumerate(floors):
        top = MARGIN + BAND * (len(floors) - 1 - number)
        names = {f: ", ".join(sorted(parts.get(f, ()))) for f in floor}
        sizes = {f: max(130, 24 + 7 * max(len(f) + 2, len(names[f]))) for f in floor}
        total = sum(sizes.values()) + GAP * 2 * (len(floor) - 1)
        left = LABEL + (WIDTH - LABEL - total) / 2
        for folder in floor:
            boxes[folder] = (left, top + (BAND - BOX_HEIGHT) / 2, sizes[folder],
                             names[folder])
            left += sizes[folder] + GAP * 2
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
           f'font-family="Helvetica, Arial, sans-serif">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    for number in range(len(floors)):
        top = MARGIN + BAND * (len(floors) - 1 - number)
        if number % 2:
            out.append(f'<rect x="0" y="{top}" width="{WIDTH}" height="{BAND}" '
                       f'fill="#f4f6f9"/>')
        out.append(f'<text x="20" y="{top + BAND / 2 + 4:g}" font-size="12" '
                   f'fill="#8a94a3">floor {number}</text>')
    level = {folder: number for number, floor in enumerate(floors) for folder in floor}
    edges = [(a, b) for a, targets in sorted(reduced(uses).items()) for b in targets]
    near = [(a, b) for a, b in edges if level[a] - level[b] == 1]
    far = sorted((edge for edge in edges if edge not in near),
                 key=lambda edge: (level[edge[0]] - level[edge[1]], edge))
    lines = [near_line(edge, near, boxes) for edge in near]
    edge_of_boxes = min(box[0] for box in boxes.values())
    lines += [far_line(edge, far, boxes, edge_of_boxes - LANE * (lane + 1))
              for lane, edge in enumerate(far)]
    out += lines
    for folder, (x, y, width, names) in boxes.items():
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{width}" '
                   f'height="{BOX_HEIGHT}" rx="6" fill="#e3edf8" stroke="#35608f"/>')
        label = folder if folder.endswith(".h") else folder + "/"
        middle = x + width / 2
        out.append(f'<text x="{middle:.0f}" y="{y + (23 if names else 33):.0f}" '
                   f'font-size="15" font-weight="bold" text-anchor="middle" '
                   f'fill="#1d3557">{html.escape(label)}</text>')
        if names:
            out.append(f'<text x="{middle:.0f}" y="{y + 42:.0f}" font-size="11.5" '
                       f'text-anchor="middle" fill="#46607d">{html.escape(names)}</text>')
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
