#!/usr/bin/env python3
"""Runs the ops of attention with random sizes and masks, with one and with three threads:
the results must have the same bits, and be those of numpy in double precision, as far
as rounding can change them. The ops must run as one step.

  random-attention.py ANE_RUN FOLDER [--cases=N] [--seed=N]"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np

SINGLE = 2.0**-24  # the most that rounding to fp32 changes, relatively
SOFTMAX = 1.5e-6  # of the kernels of softmax, as VectorKernels.h says
# By rounding to the element type, relatively and at least.
ROUNDED = {"fp32": (SINGLE, 2.0**-150), "fp16": (2.0**-11, 2.0**-25)}
LOWEST = {"fp32": -np.finfo(np.float32).max, "fp16": -65504.0}


def draw(rng):
    def one(*choices):
        return choices[rng.integers(len(choices))]

    group, queries = int(rng.integers(1, 4)), int(one(1, 3, 17, 64, 65, 130, 200))
    if group * queries < 16:
        queries += 16
    parts = [int(one(1, 5, 16, 100, 257, rng.integers(1, 400)))
             for _ in range(one(1, 2, 2))]
    return {
        "dtype": one("fp32", "fp16"), "heads": int(rng.integers(1, 4)), "group": group,
        "queries": queries, "width": int(one(1, 8, 33, 64)), "parts": parts,
        "masks": [one("none", "row", "rows", "causal", "all") for _ in parts],
        "swapped": bool(rng.integers(2)), "high": one(True, True, False)}


def mask_of(rng, kind, queries, keys, dtype):
    """Upper bounds of scores; a row of them, or one for each query."""
    lowest = LOWEST[dtype]
    if kind == "row":
        seen = np.arange(keys)[None] < rng.integers(0, keys + 1)
    elif kind == "rows":
        seen = rng.random((queries, keys)) < rng.random()
    elif kind == "causal":
        seen = np.arange(keys)[None] <= np.arange(queries)[:, None]
    else:
        seen = np.zeros((1, keys), bool)
    return np.where(seen, -lowest, lowest)


def program(case):
    dtype, heads, group, queries, width = (
        case[name] for name in ("dtype", "heads", "group", "queries", "width"))
    rows, total = group * queries, sum(case["parts"])
    ports, body, scores = [f"%q: {dtype}[{heads}, {width}, {rows}]"], [], []
    for i, (keys, mask) in enumerate(zip(case["parts"], case["masks"])):
        ports += [f"%k{i}: {dtype}[{heads}, {width}, {keys}]",
                  f"%v{i}: {dtype}[{heads}, {width}, {keys}]"]
        body += [f"%s{i} = matmul(%q, %k{i}) {{transpose_x = true}} : "
                 f"{dtype}[{heads}, {rows}, {keys}]"]
        name, shape = f"%s{i}", f"{dtype}[{heads * group}, {queries}, {keys}]"
        body += [f"%h{i} = reshape(%s{i}) {{shape = [{heads * group}, {queries}, {keys}]}} : "
                 f"{shape}"]
        name = f"%h{i}"
        if mask != "none":
            count = 1 if mask in ("row", "all") else queries
            ports += [f"%m{i}: {dtype}[1, {count}, {keys}]"]
            operands = f"%m{i}, {name}" if case["swapped"] else f"{name}, %m{i}"
            body += [f"%b{i} = minimum({operands}) : {shape}"]
            name = f"%b{i}"
        scores.append(name)
    whole, all_scores = f"{dtype}[{heads * group}, {queries}, {total}]", scores[0]
    if len(scores) > 1:
        body += [f"%all = concat({', '.join(scores)}) {{axis = 2}} : {whole}"]
        all_scores = "%all"
    body += [f"%p = softmax({all_scores}) : {whole}"]
    outputs, begin = [], 0
    for i, keys in enumerate(case["parts"]):
        name = "%p"
        if len(scores) > 1:
            size = [heads * group, queries, keys]
            body += [f"%p{i} = slice_by_size(%p) {{begin = [0, 0, {begin}], size = {size}}} : "
                     f"{dtype}{size}"]
            name = f"%p{i}"
        begin += keys
        body += [f"%r{i} = reshape({name}) {{shape = [{heads}, {rows}, {keys}]}} : "
                 f"{dtype}[{heads}, {rows}, {keys}]",
                 f"%o{i} = matmul(%v{i}, %r{i}) {{transpose_y = true}} : "
                 f"{dtype}[{heads}, {width}, {rows}]"]
        outputs.append(f"%o{i}")
    result, out = outputs[0], f"{dtype}[{heads}, {width}, {rows}]"
    if len(outputs) > 1:
        operands = reversed(outputs) if case["swapped"] else outputs
        body += [f"%y = add({', '.join(operands)}) : {out}"]
        result = "%y"
    return (f"kernel @main({', '.join(ports)}) -> (%out: {out}) {{\n  "
            + "\n  ".join(body + [f"return {result}"]) + "\n}\n")


def off_sum(magnitudes, count):
    """How far a sum of `count` products may be off in fp32, whose magnitudes have the
    given sum: in any order, roundings as often cancel as they add up."""
    return (np.sqrt(count) + 1) * SINGLE * magnitudes


def reference(case, arrays):
    """The result, and how far each element may be off: to first order, the roundings of
    each op as they go through the later ones."""
    relative, least = ROUNDED[case["dtype"]]

    def off_rounding(values):
        return np.abs(values) * relative + least

    scores, off_scores = [], []
    q = arrays["q"].astype(float)
    heads = case["heads"] * case["group"]
    for i, keys in enumerate(case["parts"]):
        k = arrays[f"k{i}"].astype(float)
        part = np.einsum("hdr,hdk->hrk", q, k)
        off = np.zeros_like(part)
        if case["high"]:  # low ones are integers, which are exact
            off = off_sum(np.einsum("hdr,hdk->hrk", abs(q), abs(k)), case["width"])
            off += off_rounding(part)
        part, off = (array.reshape(heads, case["queries"], keys) for array in (part, off))
        if f"m{i}" in arrays:
            mask = arrays[f"m{i}"].astype(float)
            off = np.where(mask < part, 0, off)
            part = np.minimum(part, mask)
        scores.append(part)
        off_scores.append(off)
    scores, off_scores = (np.concatenate(parts, axis=2) for parts in (scores, off_scores))
    scores -= scores.max(axis=2, keepdims=True)
    probs = np.exp(scores)
    probs /= probs.sum(axis=2, keepdims=True)
    # What all scores of a row are off by does not change its probabilities.
    off_scores += np.minimum(np.abs(scores), 104) * SINGLE
    off_scores += (probs * off_scores).sum(axis=2, keepdims=True) + SOFTMAX
    off_probs = probs * np.expm1(off_scores) + off_rounding(probs)
    result, margin, begin = 0, 0, 0
    for i, keys in enumerate(case["parts"]):
        these = slice(begin, begin + keys)
        v = arrays[f"v{i}"].astype(float)
        p, off = (array[:, :, these].reshape(case["heads"], -1, keys)
                  for array in (probs, off_probs))
        part = np.einsum("hdk,hrk->hdr", v, p)
        result = result + part
        margin = margin + np.einsum("hdk,hrk->hdr", abs(v), off) + off_rounding(part)
        margin += off_sum(np.einsum("hdk,hrk->hdr", abs(v), p), keys)
        begin += keys
    return result, margin + (off_rounding(result) if len(case["parts"]) > 1 else 0)


def check(ane_run, folder, case, rng):
    dtype = case["dtype"]
    numpy_type = np.float32 if dtype == "fp32" else np.float16
    (folder / "a.ir").write_text(program(case))
    heads, width = case["heads"], case["width"]
    shapes = {"q": (heads, width, case["group"] * case["queries"])}
    for i, keys in enumerate(case["parts"]):
        shapes |= {f"k{i}": (heads, width, keys), f"v{i}": (heads, width, keys)}
    arrays = {name: rng.standard_normal(shape).astype(numpy_type)
              for name, shape in shapes.items()}
    arrays["q"] *= numpy_type(width ** -0.5)
    if not case["high"]:  # scores as low as what hides in fp16: -2047 * 32
        arrays["q"][:] = 0
        arrays["q"][:, 0] = 32
        for i, keys in enumerate(case["parts"]):
            arrays[f"k{i}"][:, 0] = rng.integers(-2047, -2044, (heads, keys))
    for i, (keys, kind) in enumerate(zip(case["parts"], case["masks"])):
        if kind != "none":
            arrays[f"m{i}"] = mask_of(rng, kind, case["queries"], keys, dtype)[None].astype(
                numpy_type)
    inputs = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        inputs += ["--input", f"{name}={folder / name}.npy"]
    results = []
    for threads in (1, 3):
        subprocess.run([ane_run, folder / "a.ir", *inputs, f"--threads={threads}",
                        f"--output-dir={folder / 'out'}"], check=True, stdout=subprocess.PIPE)
        results.append(np.load(folder / "out" / "out.npy"))
    if results[0].tobytes() != results[1].tobytes():
        return "threads change the result"
    expected, margin = reference(case, arrays)
    errors = np.abs(results[0].astype(float) - expected) / margin
    if not errors.max() <= 1:
        return f"an error is {errors.max()} of what rounding explains"
    steps = subprocess.run([ane_run, "bench", folder / "a.ir", *inputs, "--profile",
                            "--iterations=1", "--warmup=0"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    count = sum(" = " in line for line in steps.splitlines())
    return None if count == 1 else f"there are {count} steps"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for seed in range(options.seed, options.seed + options.cases):
        rng = np.random.default_rng(seed)
        case = draw(rng)
        wrong = check(options.ane_run, options.folder, case, rng)
        if wrong:
            failed += 1
            print(f"seed {seed}: {wrong}: {case}")
    print(f"{options.cases} attentions, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
