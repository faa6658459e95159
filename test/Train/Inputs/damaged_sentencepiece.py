#!/usr/bin/env python3
"""Writes SentencePiece models by hand: two that are whole, and damaged ones.

usage: damaged_sentencepiece.py FOLDER"""
import pathlib
import struct
import sys

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def number(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    if isinstance(value, float):
        return number(key << 3 | 5) + struct.pack("<f", value)
    return number(key << 3 | 2) + number(len(value)) + value


def piece(text, score=0.0, kind=NORMAL):
    return field(1, field(1, text) + field(2, score) + field(3, kind))


def characters(units, texts):
    """A character map: each unit is (label, offset, has a text), or a place of a text."""
    words = [unit | 1 << 31 if isinstance(unit, int)
             else unit[0] | unit[2] << 8 | unit[1] << 10 for unit in units]
    return struct.pack(f"<{1 + len(words)}I", 4 * len(words), *words) + texts


PIECES = (piece(b"<unk>", kind=UNKNOWN) + piece(b"<s>", kind=CONTROL)
          + piece(b"</s>", kind=CONTROL))
LETTERS = piece(b"a", -2.0) + piece(b"b", -2.5) + piece("\u2581ab".encode(), -3.0)
BPE = field(2, field(3, 2))


def mapped(charsmap):
    return PIECES + LETTERS + field(3, field(2, charsmap))


def whole_map(to):
    """Of 256 units, that of `x` (120) leads to unit 0xF8, where the place of its text
    is."""
    units = [(0, 0, 0)] * 256
    units[120] = (120, 0x80, 1)
    units[120 ^ 0x80] = to
    return units


MODELS = {
    # x becomes b.
    "whole": mapped(characters(whole_map(0), b"b\0")),
    # Two pieces that a user defined, of two characters each.
    "defined": PIECES + piece("\u2581a".encode(), kind=USER_DEFINED)
               + piece(b"ab", kind=USER_DEFINED) + piece(b"b", -1.0) + piece("\u2581".encode(), 1.5),
    "text-outside": mapped(characters(whole_map(7), b"b\0")),
    "unit-outside": mapped(characters([(0, 1 << 20, 0)], b"b\0")),
    "no-root": mapped(characters([0x7FFFFFFF], b"b\0")),
    "no-leaf": mapped(characters(whole_map((0, 0, 0)), b"b\0")),
    "map-size": mapped(b"\xff\xff\xff\x7f"),
    "long-text": mapped(characters(whole_map(0), b"b" * 5000 + b"\0")),
    "no-unknown": piece(b"a"),
    "two-unknown": PIECES + piece(b"?", kind=UNKNOWN),
    "twice": PIECES + LETTERS + piece(b"a"),
    "empty-piece": PIECES + piece(b""),
    "long-piece": PIECES + piece(b"a" * 1025),
    "nan": PIECES + piece(b"a", float("nan")),
    "kind": PIECES + piece(b"a", kind=9),
    "byte-name": PIECES + piece(b"<0x4>", kind=BYTE) + field(2, field(35, 1)),
    "bytes-missing": PIECES + piece(b"<0x41>", kind=BYTE) + field(2, field(35, 1)),
    "bytes-unused": PIECES + piece(b"<0x41>", kind=BYTE),
    "model-type": PIECES + LETTERS + field(2, field(3, 7)),
    "decoding-map": PIECES + LETTERS + field(5, field(2, characters(whole_map(0), b"b\0"))),
    # Each unused piece is divided into the one before it and a letter.
    "deep": PIECES + BPE + piece(b"a", -1.0)
            + b"".join(piece(b"a" * size, -float(size), UNUSED) for size in range(2, 1000)),
}

if __name__ == "__main__":
    for name, data in MODELS.items():
        pathlib.Path(sys.argv[1], name + ".model").write_bytes(data)
