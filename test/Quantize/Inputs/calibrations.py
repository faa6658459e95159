#!/usr/bin/env python3
"""Random products with correlated inputs, quantized with and without --calibrate.
The numbers in the files are unpacked by numpy: they must be on the grid of plain
rounding, change the outputs as much as the report says, and less than plain
rounding does; a GPTQ written from its paper must not do better.

usage: calibrations.py FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np

import reference

FORMS = ["int4", "int4", "int8", "lut4", "lut6", "int4:per-tensor", "int8:per-tensor",
         "int4:group=8", "int4:group=16", "lut4:per-channel", "lut4:group=4"]


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == code, f"exit code {done.returncode}: {command}\n{done.stderr[-2000:]}"
    return done.stdout + done.stderr


def vectors(draw, inputs, samples):
    """[inputs, samples], of a few directions and some noise, and with inputs that
    are always zero."""
    rng = np.random.default_rng(draw.getrandbits(32))
    kind = draw.choice(["correlated"] * 5 + ["white", "zero", "huge"])
    rank = max(1, inputs // draw.choice([4, 8, 16]))
    x = rng.standard_normal((inputs, rank)) @ rng.standard_normal((rank, samples))
    x = x / np.sqrt(rank) + 0.1 * rng.standard_normal((inputs, samples))
    if kind == "white":
        x = rng.standard_normal((inputs, samples))
    x *= np.exp(0.7 * rng.standard_normal((inputs, 1)))
    if draw.random() < 0.3:
        x[rng.random(inputs) < 0.2] = 0
    if kind == "zero":
        x[:] = 0
    if kind == "huge":
        x *= 20000 / np.abs(x).max()
    return kind, np.clip(x, -60000, 60000)


class Case:
    """A kernel, its weights as [outputs, inputs], and what each one multiplies."""

    def __init__(self, draw):
        self.runs = draw.choice([1, 1, 3])
        kind = draw.choice(["left", "right", "matmul", "transposed", "linear", "conv", "chain"])
        inputs, outputs = 16 * draw.randint(2, 6), 8 * draw.randint(4, 12)
        while inputs * outputs < 2048:
            outputs += 8
        batch, width = draw.choice([1, 2]), draw.choice([1, 4, 16, 40])
        self.shape, form = {
            "left": ((inputs, width), "w @ x"),
            "right": ((width, inputs), "x @ w"),
            "matmul": ((batch, width, inputs), "matmul(x, w, transpose_y = true)"),
            "transposed": ((batch, inputs, width), "matmul(x, w, transpose_x = true)"),
            "linear": ((width, inputs), "linear(x, w)"),
            "conv": ((batch, inputs, 2, width), "conv(x, w)"),
            "chain": ((inputs, width), "v @ relu(w @ x)"),
        }[kind]
        axis = {"left": 0, "right": 1, "matmul": 2, "transposed": 1, "linear": 1, "conv": 1,
                "chain": 0}[kind]
        samples = self.runs * int(np.prod(self.shape)) // inputs
        self.kind, x = vectors(draw, inputs, samples)
        rng = np.random.default_rng(draw.getrandbits(32))
        w = (rng.standard_normal((outputs, inputs)) * 0.1).astype(np.float16)
        if draw.random() < 0.2:
            w[draw.randrange(outputs)] = 0
        if draw.random() < 0.3:
            w[:, draw.randrange(inputs)] *= 10
        # The input's axis leads; the others, runs too, are samples in any order.
        moved = [n for i, n in enumerate(self.shape) if i != axis]
        x = x.astype(np.float16).reshape(inputs, self.runs, *moved)
        self.array = np.ascontiguousarray(np.moveaxis(x, 0, axis + 1))
        x = x.reshape(inputs, samples).astype(np.float64)
        self.weights = {"w": w.T if kind in ("right", "transposed") else
                        w[:, :, None, None] if kind == "conv" else w}
        self.products = [(w.astype(np.float64), x)]
        if kind == "chain":
            least = -(-2048 // outputs)
            v = (rng.standard_normal((max(least, 24) // 8 * 8 + 8, outputs)) * 0.1).astype(np.float16)
            self.weights["v"] = v
            self.products.append((v.astype(np.float64),
                                  np.maximum(w.astype(np.float64) @ x, 0)))
        n = outputs if kind != "chain" else self.weights["v"].shape[0]
        result = {"left": (n, width), "right": (width, n), "matmul": (batch, width, n),
                  "transposed": (batch, width, n), "linear": (width, n),
                  "conv": (batch, n, 2, width), "chain": (n, width)}[kind]
        shape = ", ".join(map(str, self.shape))
        declared = [f"  weight {name}: fp16[{', '.join(map(str, value.shape))}];"
                    for name, value in self.weights.items()]
        self.text = "\n".join([f"kernel k(x: fp16[{shape}]) -> fp16[{', '.join(map(str, result))}] {{",
                               *declared, f"  return {form};", "}", ""])

    def save(self, path):
        array = self.array if self.runs > 1 else self.array[0]
        np.save(path, array)


def matrix_of(array, w):
    """A stored array as [outputs, inputs]: it is that, or the transpose."""
    shape = [n for n in array.shape if n > 1]
    flat = array.reshape(shape)
    candidates = [flat] if flat.shape == w.shape else []
    if flat.T.shape == w.shape:
        candidates.append(flat.T)
    return min(candidates, key=lambda c: np.linalg.norm(c - w), default=None)


def gptq(w, x, numbers, round_to):
    """The error of the outputs of GPTQ, in the paper's order of steps: columns by
    their moments, damping of a hundredth, the inverse's upper factor."""
    h = x @ x.T
    dead = np.diag(h) == 0
    h = h + np.eye(len(h)) * (0.01 * np.mean(np.diag(h)) + 1e-300)
    h[dead, :] = h[:, dead] = 0
    h[dead, dead] = 1
    order = np.argsort(-np.diag(x @ x.T), kind="stable")
    upper = np.linalg.cholesky(np.linalg.inv(h[np.ix_(order, order)])).T
    rest, q = w[:, order].copy(), np.zeros_like(w)
    for j, column in enumerate(order):
        q[:, column] = round_to(rest[:, j], column)
        error = (rest[:, j] - q[:, column]) / upper[j, j]
        rest[:, j + 1:] -= np.outer(error, upper[j, j + 1:])
    gains = (((w - q) @ x)**2).sum(1) < (((w - numbers) @ x)**2).sum(1)
    q[~gains] = numbers[~gains]
    return np.linalg.norm((w - q) @ x)


def rounding(form, granularity, w, plain):
    """Rounds a column of a matrix to the grid of plain rounding."""
    if form.startswith("lut"):
        blocks = reference.blocks_of(w.shape, 0, 1, form, granularity)
        rows = w.shape[0] // blocks[0]
        grids = [np.unique(plain[i:i + rows]) for i in range(0, w.shape[0], rows)]

        def nearest(values, column):
            return np.array([grids[i // rows][np.abs(grids[i // rows] - value).argmin()]
                             for i, value in enumerate(values)])
        return nearest
    blocks = reference.blocks_of(w.shape, 0, 1, form, granularity)
    scales = np.empty(blocks)
    for index, part in reference.each_block(w.shape, blocks):
        scales[index] = reference.quantize_linear(w[part].ravel(), form, np.float16)[0]
    wide = np.repeat(np.repeat(scales, w.shape[0] // blocks[0], 0), w.shape[1] // blocks[1], 1)

    def to_grid(values, column):
        most = reference.MOST[form]
        return np.float16(reference.integers(values, wide[:, column], most)
                          * wide[:, column]).astype(np.float64)
    return to_grid


def relative(error, whole):
    return error / whole if whole else 0.0


def check(seed, folder):
    draw = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case, flag = Case(draw), FORMS[seed % len(FORMS)]
    form, _, granularity = flag.partition(":")
    granularity = granularity or ("per-tensor" if form.startswith("lut") else "per-channel")
    (folder / "k.tdsl").write_text(case.text)
    reference.write_safetensors(folder / "w.safetensors",
                                {f"k.{name}": value for name, value in case.weights.items()})
    case.save(folder / "x.npy")
    ops = {}
    for name, flags in (("plain", []), ("calibrated", [f"--calibrate=x={folder}/x.npy"])):
        run("anec", folder / "k.tdsl", f"--weights={folder}/w.safetensors", f"--quantize={flag}",
            f"--quantize-report={folder}/{name}.json", "-o", folder / name / "k.mil", *flags)
        ops[name] = reference.read_quantized(folder / name / "k.mil")
    rows = json.loads((folder / "calibrated.json").read_text())["weights"]
    assert len(ops["plain"]) == len(ops["calibrated"]) == len(case.products) == len(rows)
    gains = []
    for (op, _, before), (op2, _, after), row in zip(ops["plain"], ops["calibrated"], rows):
        w, x = case.products[[f"k.{n}" for n in case.weights].index(row["name"])
                             if row["name"].startswith("k.") else
                             list(case.weights).index(row["name"])]
        assert op == op2
        # Scales and palettes are those of plain rounding, and numbers in range.
        for key in before:
            if key not in ("data", "quantized_data", "indices"):
                assert np.array_equal(before[key][1], after[key][1]), key
        if form in reference.MOST:
            data = after["data" if "data" in after else "quantized_data"][1]
            assert np.abs(data).max() <= reference.MOST[form]
        plain = matrix_of(reference.dequantized(op, before, np.float16).astype(np.float64), w)
        q = matrix_of(reference.dequantized(op, after, np.float16).astype(np.float64), w)
        whole = np.linalg.norm(w @ x)
        error, to_nearest = (np.linalg.norm((w - each) @ x) for each in (q, plain))
        close = 2e-4 * relative(to_nearest, whole) + 1e-9
        assert abs(row["output_error"] - relative(error, whole)) < close, (row, error, whole)
        assert abs(row["output_error_to_nearest"] - relative(to_nearest, whole)) < close, row
        changed = np.linalg.norm(w - q) / np.linalg.norm(w)
        assert abs(row["relative_error"] - changed) < 1e-6 * changed + 1e-12, (row, changed)
        # No row gets worse.
        by_row = [(((w - each) @ x)**2).sum(1) for each in (q, plain)]
        assert (by_row[0] <= by_row[1] * (1 + 1e-3) + 1e-12 * whole**2).all()
        best = gptq(w, x, plain, rounding(form, granularity, w, plain))
        assert error <= best * 1.03 + 1e-6 * whole, (error, best, to_nearest)
        gains.append(relative(error, to_nearest) if to_nearest else 1)
    if case.kind == "correlated" and form in ("int4", "int8"):
        assert max(gains) < 0.9, gains
    return gains


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=22)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    gains = []
    for seed in range(flags.seed, flags.seed + flags.count):
        try:
            gains += check(seed, flags.folder / str(seed))
        except AssertionError as error:
            print(f"seed {seed}: {error}")
            return 1
        shutil.rmtree(flags.folder / str(seed))
    print(f"{flags.count} kernels agree; errors are {np.mean(gains):.2f} of those of rounding")
    return 0


sys.exit(main())
