#!/usr/bin/env python3
"""Writes a GGUF file with an array of each type that anec reads, of any bits, and
checks that a program has the very elements that gguf_files.py computes: in fp32, and
rounded to fp16.  usage: gguf_types.py WORK"""
import os
import sys

import numpy as np

import gguf_files
from random_models import run


def program(names, dtype):
    weights = "".join(f"  weight {name}: {dtype}[4, 512];\n" for name in names)
    results = ", ".join(f"x{name}" for name in names)
    types = ", ".join(f"{dtype}[4, 512]" for _ in names)
    sums = "".join(f"  x{name} = {name} + x;\n" for name in names)
    return f"kernel k(x: {dtype}[4, 512]) -> ({types}) {{\n{weights}{sums}  return {results};\n}}\n"


def main(work):
    os.makedirs(work, exist_ok=True)
    rng = np.random.default_rng(1)
    arrays, wanted = {}, {}
    for kind in ["F32", "F16", "BF16", "F64", *gguf_files.PACKINGS]:
        array = rng.normal(0, 1, (4, 512))
        code, raw, values = gguf_files.pack(rng, array, kind)
        name = "w" + kind.lower()
        arrays["k." + name] = (code, raw, array.shape)
        wanted[name] = values
    gguf_files.write_gguf(f"{work}/all.gguf", {"general.architecture": "none"}, arrays)
    names = list(wanted)
    for dtype, numpy_type in (("fp32", np.float32), ("fp16", np.float16)):
        with open(f"{work}/{dtype}.tdsl", "w", encoding="utf-8") as file:
            file.write(program(names, dtype))
        np.save(f"{work}/x.npy", np.zeros((4, 512), numpy_type))
        run("anec", f"{work}/{dtype}.tdsl", f"--weights={work}/all.gguf", "-o",
            f"{work}/{dtype}.mil")
        run("ane-run", f"{work}/{dtype}.mil", f"--numerics={dtype}", "--input",
            f"x={work}/x.npy", "--output-dir", f"{work}/{dtype}")
        for name in names:
            got = np.load(f"{work}/{dtype}/x{name}.npy").reshape(4, 512)
            exact = wanted[name].astype(np.float32).astype(numpy_type)
            same = "same" if np.array_equal(got, exact) else "OTHER"
            print(f"{dtype} {name}: {same}, from {exact.min():.3f} to {exact.max():.3f}")


main(sys.argv[1])
