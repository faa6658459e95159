#!/usr/bin/env python3
"""Runs random products of integer weights with few columns of fp16, with one and with
three threads: the results must have the same bits, and be those of numpy in double
precision within what fixed point may be off by.

  random-integers.py ANE_RUN FOLDER [--cases=N] [--seed=N]

A failing case is made smaller, one number at a time, before it is printed."""
import argparse
import pathlib
import random
import subprocess
import sys

import numpy as np

RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15)}


def draw(source):
    group = source.choice([16, 32, 32, 32, 64, 96, 128])
    return {
        "dtype": source.choice(list(RANGES)),
        "op": source.choice(["linear", "matmul", "conv"]),
        "group": group,
        "groups": source.choice([1, 1, 2, 3, 5, 8, 16, 17, 33]),
        "whole": source.random() < 0.25,  # one scale for a row
        "rows": source.choice([1, 2, 3, 4, 5, 8, 11, 19, 40]),
        "blockRows": source.choice([1, 1, 1, 2]),
        "columns": source.choice([1, 1, 1, 2, 3, 4, 5, 8, 15, 16, 17]),
        "offset": source.choice([None, None, "integer", "float"]),
        "fill": source.choice(["normal", "normal", "outliers", "zeros", "tiny", "large"]),
        "special": source.choice([None] * 6 + ["inf", "nan"]),
        "seed": source.randrange(1 << 30),
    }


def arrays(case):
    rng = np.random.default_rng(case["seed"])
    k, rows = case["group"] * case["groups"], case["rows"] * case["blockRows"]
    low, high = RANGES[case["dtype"]]
    data = rng.integers(low, high + 1, (rows, k))
    blocks = (rows // case["blockRows"], 1 if case["whole"] else case["groups"])
    scale = (rng.uniform(0.5, 1.5, blocks) * rng.choice([-1, 1, 1], blocks) / 256
             ).astype(np.float16)
    offset = None
    if case["offset"] == "integer":
        offset = rng.integers(low, high + 1, blocks)
    elif case["offset"] == "float":
        offset = (rng.uniform(low, high, blocks) / 2).astype(np.float16)
    x = rng.standard_normal((case["columns"], k))
    if case["fill"] == "outliers":
        x *= np.where(rng.random(x.shape) < 0.02, 300, 0.1)
    elif case["fill"] == "zeros":
        x *= rng.random((1, k)) < 0.1
    elif case["fill"] == "tiny":
        x *= 1e-7
    elif case["fill"] == "large":
        x *= 100
    x = x.astype(np.float16)
    if case["special"]:
        x[rng.integers(case["columns"]), rng.integers(k)] = case["special"]
    return data, scale, offset, x


def literal(dtype, values):
    shape = ", ".join(map(str, values.shape))
    numbers = ", ".join(repr(value.item()) for value in values.reshape(-1))
    return f"{{val = {dtype}[{shape}]({numbers})}} : {dtype}[{shape}]"


def program(case, data, scale, offset, x):
    """[outputs, inputs] times x, as one of the ops that have weights."""
    rows, k, n = data.shape[0], data.shape[1], case["columns"]
    ones = [1, 1] if case["op"] == "conv" else []
    shaped = [a.reshape(list(a.shape) + ones) for a in (data, scale)]
    lines = [f"  %d = const() {literal(case['dtype'], shaped[0])}",
             f"  %s = const() {literal('fp16', shaped[1])}"]
    parts = "%d, %s"
    if offset is not None:
        kind = case["dtype"] if case["offset"] == "integer" else "fp16"
        lines.append(f"  %o = const() "
                     f"{literal(kind, offset.reshape(list(offset.shape) + ones))}")
        parts += ", %o"
    w = ", ".join(map(str, [rows, k] + ones))
    lines.append(f"  %w = constexpr_blockwise_shift_scale({parts}) : fp16[{w}]")
    if case["op"] == "conv":
        given, result = f"fp16[1, {k}, 1, {n}]", f"fp16[1, {rows}, 1, {n}]"
        lines.append('  %y = conv(%x, %w) {strides = [1, 1], pad_type = "valid", '
                     f'pad = [0, 0, 0, 0], dilations = [1, 1], groups = 1}} : {result}')
    elif case["op"] == "linear":
        given, result = f"fp16[{n}, {k}]", f"fp16[{n}, {rows}]"
        lines.append(f"  %y = linear(%x, %w) : {result}")
    else:
        given, result = f"fp16[{k}, {n}]", f"fp16[{rows}, {n}]"
        lines.append(f"  %y = matmul(%w, %x) : {result}")
    return "\n".join([f"kernel @product(%x: {given}) -> (%y: {result}) {{", *lines,
                      "  return %y", "}", ""])


def run(ane_run, folder, case, x, threads, name):
    """What is wrong with a run, which writes FOLDER/NAME/y.npy."""
    data, scale, offset, _ = arrays(case)
    file = folder / "product.ir"
    file.write_text(program({**case, "columns": len(x)}, data, scale, offset, x))
    given = x if case["op"] == "linear" else x.T
    if case["op"] == "conv":
        given = given[None, :, None, :]
    np.save(folder / "x.npy", np.ascontiguousarray(given))
    result = subprocess.run(
        [ane_run, file, f"--input=x={folder / 'x.npy'}", f"--threads={threads}",
         "--output-dir", folder / name], capture_output=True, text=True)
    return (result.stderr or f"exit code {result.returncode}") if result.returncode else ""


def column(folder, case, name):
    """The bits of the first column of a result."""
    y = np.load(folder / name / "y.npy")
    first = y[0] if case["op"] == "linear" else y.reshape(len(arrays(case)[0]), -1)[:, 0]
    return np.ascontiguousarray(first).tobytes()


def problem(ane_run, folder, case):
    """What is wrong with a case; empty when nothing is."""
    data, scale, offset, x = arrays(case)
    for threads in (1, 3):
        wrong = run(ane_run, folder, case, x, threads, f"threads{threads}")
        if wrong:
            return wrong
    if (folder / "threads1/y.npy").read_bytes() != (folder / "threads3/y.npy").read_bytes():
        return "the bits depend on the number of threads"
    few = case["columns"] <= 16 and case["group"] % 32 == 0
    if case["columns"] > 1 and few:
        wrong = run(ane_run, folder, case, x[:1], 1, "alone")
        if wrong:
            return wrong
        if column(folder, case, "alone") != column(folder, case, "threads1"):
            if np.isfinite(x.astype(np.float64)).all():
                return "the bits depend on the number of columns"
    got = np.load(folder / "threads1/y.npy").astype(np.float64)
    rows, n = data.shape[0], case["columns"]
    got = got if case["op"] == "linear" else got.reshape(rows, n).T
    each = [data.shape[0] // scale.shape[0], data.shape[1] // scale.shape[1]]
    spread = np.kron(scale.astype(np.float64), np.ones(each))
    moved = data.astype(np.float64)
    if offset is not None:
        moved = moved - np.kron(offset.astype(np.float64), np.ones(each))
    weights = spread * moved
    exact = x.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        want = exact @ weights.T
        rounded = want.astype(np.float16).astype(np.float64)
        # Half a step of fixed point for each element of x, sums in fp32, and the
        # rounding of the result; offsets make larger sums, which cancel.
        padded = np.zeros((n, -(-exact.shape[1] // 32) * 32))
        padded[:, :exact.shape[1]] = np.abs(exact)
        steps = np.repeat(padded.reshape(n, -1, 32).max(axis=2), 32, axis=1)
        steps = steps[:, :exact.shape[1]] / 65534
        size = np.abs(spread) * (np.abs(data) + np.abs(moved) + 16)
        bound = steps @ np.abs(weights).T + 2e-6 * np.abs(exact) @ size.T
        bound += np.abs(want) * 2.0**-11 + 2.0**-25
    for at in np.ndindex(want.shape):
        if not np.isfinite(want[at]) or not np.isfinite(rounded[at]):
            same = np.array_equal(got[at], rounded[at], equal_nan=True)
            near = np.isfinite(want[at]) and abs(want[at]) < 65600 and abs(got[at]) > 65400
            if not same and not near:
                return f"{at} is {got[at]}, and numpy has {want[at]}"
        elif not abs(got[at] - want[at]) <= bound[at]:
            return f"{at} is {got[at]}, and numpy has {want[at]} within {bound[at]}"
    return ""


def smaller(case):
    """Cases with one number less."""
    for key in ("groups", "rows", "blockRows", "columns"):
        if case[key] > 1:
            yield {**case, key: case[key] // 2}
            yield {**case, key: case[key] - 1}
    for key in ("offset", "special"):
        if case[key]:
            yield {**case, key: None}
    if case["fill"] != "normal":
        yield {**case, "fill": "normal"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for number in range(args.cases):
        case = draw(random.Random(args.seed * 1000003 + number))
        said = problem(args.ane_run, args.folder, case)
        if not said:
            continue
        found = True
        while found:
            found = False
            for less in smaller(case):
                if problem(args.ane_run, args.folder, less):
                    case, found = less, True
                    break
        sys.exit(f"case {number}: {said}\nsmaller: {case}\n"
                 f"{problem(args.ane_run, args.folder, case)}")
    print(f"{args.cases} products of integers, 0 failed")


main()
