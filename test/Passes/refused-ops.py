#!/usr/bin/env python3
"""Compares what `legalize` makes of ops that engines refuse, or compute wrongly, with NumPy:
random programs of `cumsum`, `band_part`, `sin`, `cos` and `gather` along the last axis, run
in fp32 and with values in fp16.

usage: refused-ops.py ANEC ANE_RUN FOLDER [COUNT]"""
import pathlib
import random
import re
import subprocess
import sys

import numpy


def cumsum(draw):
    """(text of the op, shape, function of numpy, number of steps that are rounded)"""
    shape = [draw.randint(1, 9) for _ in range(draw.randint(1, 5))]
    axis = draw.randrange(-len(shape), len(shape))
    exclusive, reverse = draw.random() < 0.5, draw.random() < 0.5

    def right(x):
        x = numpy.flip(x, axis) if reverse else x
        sums = numpy.cumsum(x, axis)
        sums = sums - x if exclusive else sums
        return numpy.flip(sums, axis) if reverse else sums
    words = f"axis = {axis}, exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}"
    return "cumsum", words, shape, right


def band_part(draw):
    shape = [draw.randint(1, 9) for _ in range(draw.randint(2, 5))]
    lower, upper = draw.randint(-1, 9), draw.randint(-1, 9)

    def right(x):
        row, column = numpy.indices(shape[-2:])
        kept = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
        return numpy.where(kept, x, 0)
    return "band_part", f"lower = {lower}, upper = {upper}", shape, right


def sine(draw):
    shape = [draw.randint(1, 9) for _ in range(draw.randint(1, 5))]
    op = draw.choice(["sin", "cos"])
    return op, "", shape, getattr(numpy, op)


def gather(draw):
    shape = [draw.randint(1, 9) for _ in range(draw.randint(1, 4))]
    least = 0 if len(shape) > 1 else 1
    extents = [draw.randint(1, 4) for _ in range(draw.randint(least, 5 - len(shape)))]
    indices = [draw.randrange(shape[-1]) for _ in range(numpy.prod(extents, dtype=int))]
    if draw.random() < 0.3:  # Those that follow one another.
        first = draw.randrange(shape[-1])
        extents, indices = [shape[-1] - first], list(range(first, shape[-1]))
    words = f"axis = {draw.choice([-1, len(shape) - 1])}"
    indices = numpy.array(indices).reshape(extents)
    return "gather", words, shape, lambda x: numpy.take(x, indices, -1), indices


def kind_of(dtype, shape):
    return f"{dtype}[{', '.join(map(str, shape))}]" if len(shape) else dtype


def program(op, words, shape, dtype, result, indices=None):
    words = f" {{{words}}}" if words else ""
    kind, constant, more = kind_of(dtype, shape), "", ""
    if indices is not None:
        ints = kind_of("int32", indices.shape)
        text = ", ".join(map(str, indices.ravel()))
        value = f"{ints}({text})" if indices.ndim else text
        constant, more = f"  %i = const() {{val = {value}}} : {ints}\n", ", %i"
    return (f"kernel @main(%x: {kind}) -> (%y: {kind_of(dtype, result)}) {{\n{constant}"
            f"  %y = {op}(%x{more}){words} : {kind_of(dtype, result)}\n  return %y\n}}\n")


def is_left(op, shape, text):
    if op == "gather":
        op = rf"gather\(.*axis = (-1|{len(shape) - 1})\b"
        return len(shape) > 1 and re.search(op, text)
    return f" {op}(" in text


def check(number, draw, anec, ane_run, folder):
    op, words, shape, right, *indices = draw.choice([cumsum, band_part, sine, gather])(draw)
    numbers = numpy.random.default_rng(number)
    span = 10 if op in ("sin", "cos") else 1
    for dtype, limit in (("fp32", 4e-6), ("fp16", 1.2e-2)):
        source, fixed = folder / "source.ir", folder / "fixed.mlpackage"
        result = right(numpy.zeros(shape)).shape
        source.write_text(program(op, words, shape, dtype, result, *indices))
        # A package keeps the shapes and types of its interface.
        made = subprocess.run([anec, str(source), "--target=m1", "-o", str(fixed)],
                              capture_output=True, text=True)
        if made.returncode:
            return f"{op} {words} {shape} {dtype}: {made.stderr}"
        text = subprocess.run([anec, str(fixed), "--emit=ir"], capture_output=True, text=True)
        if text.returncode or is_left(op, shape, text.stdout):
            return f"{op} {words} {shape} {dtype} is left"
        x = (numbers.uniform(-span, span, shape)).astype(
            numpy.float32 if dtype == "fp32" else numpy.float16)
        numpy.save(folder / "x.npy", x)
        ran = subprocess.run([ane_run, str(fixed), "--input", f"x={folder / 'x.npy'}",
                              f"--numerics={dtype}", "--output-dir", str(folder / "out")],
                             capture_output=True, text=True)
        if ran.returncode:
            return f"{op} {words} {shape} {dtype}: {ran.stderr}"
        got = numpy.load(folder / "out" / "y.npy").astype(float)
        expected = right(x.astype(float))
        error = abs(got - expected).max() / max(1, abs(expected).max())
        if got.shape != expected.shape or not error <= limit:
            return f"{op} {words} {shape} {dtype}: off by {error:.2g}"
    return None


def main(anec, ane_run, folder, count=60):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(1)
    problems = [check(number, draw, anec, ane_run, folder) for number in range(int(count))]
    problems = [problem for problem in problems if problem]
    print("\n".join(problems + [f"{count} programs, {len(problems)} wrong"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
