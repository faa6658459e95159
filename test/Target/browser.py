#!/usr/bin/env python3
"""Opens a page in headless Chromium, and checks what is shown: as many graphs,
with nodes that are apart, and a picture with the colours of the legend.

usage: browser.py FILE.html PROFILE_FOLDER GRAPHS"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
         "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--window-size=1200,1400"]
COLOURS = {"dispatch": (0x98, 0xa2, 0xb3), "computing": (0x2f, 0x6f, 0xd0),
           "a host op": (0xf4, 0xef, 0xe3), "a kernel": (0xe3, 0xee, 0xfc)}


def system_path():
    """PATH without the tools of a Mac: Debian's chromium is a script."""
    return os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep)
                           if folder != os.environ.get("MAC_TOOLS"))


def chromium(profile, *arguments):
    shutil.rmtree(profile, ignore_errors=True)
    return subprocess.run(["chromium", *FLAGS, f"--user-data-dir={profile}",
                           *arguments], text=True, timeout=120,
                          env={**os.environ, "PATH": system_path()},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def pixels(path):
    """The colours of a PNG of 8 bits, with or without alpha."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    size = 3 if kind == 2 else 4
    at, packed = 8, b""
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, row = zlib.decompress(packed), bytearray(width * size)
    colours = set()
    for y in range(height):
        begin = y * (width * size + 1)
        row = unfilter(raw[begin], raw[begin + 1:begin + 1 + width * size], row,
                       size)
        colours.update(zip(row[0::size], row[1::size], row[2::size]))
    return colours


def unfilter(kind, line, above, size):
    line = bytearray(line)
    for i in range(len(line)):
        left = line[i - size] if i >= size else 0
        up, corner = above[i], above[i - size] if i >= size else 0
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + up) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + up) // 2) & 255
        elif kind == 4:
            guess = left + up - corner
            near = min((left, up, corner), key=lambda v: abs(guess - v))
            line[i] = (line[i] + near) & 255
    return line


def overlaps(svg):
    boxes = [tuple(map(float, box)) for box in re.findall(
        r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"',
        svg)]
    return sum(x1 < x2 + w2 and x2 < x1 + w1 and y1 < y2 + h2 and y2 < y1 + h1
               for i, (x1, y1, w1, h1) in enumerate(boxes)
               for x2, y2, w2, h2 in boxes[:i])


def main(page, profile, graphs):
    url = pathlib.Path(page).resolve().as_uri()
    shown = chromium(profile, "--dump-dom", url).stdout
    problems = []
    drawings = re.findall(r"<svg.*?</svg>", shown, re.S)
    if len(drawings) != int(graphs):
        problems.append(f"{len(drawings)} graphs")
    problems += [f"{count} boxes overlap" for count in map(overlaps, drawings)
                 if count]
    picture = pathlib.Path(page).with_suffix(".png")
    chromium(profile, f"--screenshot={picture}", url)
    colours = pixels(picture)
    problems += [f"no colour of {what}" for what, colour in COLOURS.items()
                 if colour not in colours]
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
