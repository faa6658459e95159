#!/usr/bin/env python3
"""Random programs with int8 activations. numpy finds the scales from the calibration
arrays, computes each product from the integers that the files have, and compares what
`ane-run` returns, and what the report says.

usage: activations.py FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys

import numpy as np

import reference


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == code, f"exit code {done.returncode}: {command}\n{done.stderr[-2000:]}"
    return done.stdout + done.stderr


# Products, as text and in numpy.

class Product:
    """A product of a value and the weight `name`; `axis` is that of its channels."""

    def text(self, x):
        raise NotImplementedError

    def __init__(self, name, shape, axis):
        self.name, self.shape, self.axis = name, shape, axis


class Left(Product):
    def text(self, x):
        return f"{self.name} @ {x}"

    def apply(self, x, w):
        return w @ x


class Right(Product):
    def text(self, x):
        return f"{x} @ {self.name}"

    def apply(self, x, w):
        return x @ w


class Linear(Product):
    def text(self, x):
        return f"linear({x}, {self.name})"

    def apply(self, x, w):
        return x @ w.T


class Conv(Product):
    stride, groups = 1, 1

    def text(self, x):
        flags = f", strides = [{self.stride}, {self.stride}]" if self.stride > 1 else ""
        flags += f", groups = {self.groups}" if self.groups > 1 else ""
        return f"conv({x}, {self.name}{flags})"

    def apply(self, x, w):
        n, channels, height, width = x.shape
        outputs, inputs, kh, kw = w.shape
        rows, columns = ((height - kh) // self.stride + 1, (width - kw) // self.stride + 1)
        y = np.zeros((n, outputs, rows, columns))
        per = outputs // self.groups
        for group in range(self.groups):
            part = x[:, group * inputs:(group + 1) * inputs]
            filters = w[group * per:(group + 1) * per]
            for i in range(kh):
                for j in range(kw):
                    window = part[:, :, i:i + self.stride * (rows - 1) + 1:self.stride,
                                  j:j + self.stride * (columns - 1) + 1:self.stride]
                    y[:, group * per:(group + 1) * per] += np.einsum(
                        "oi,nihw->nohw", filters[:, :, i, j], window)
        return y


ACTIVATIONS = {"": lambda x: x, "relu": lambda x: np.maximum(x, 0),
               "silu": lambda x: x / (1 + np.exp(np.minimum(-x, 700))), "tanh": np.tanh}


class Case:
    def __init__(self, draw):
        rng = np.random.default_rng(draw.getrandbits(32))
        kind = draw.choice(["left", "right", "linear", "conv", "conv"])
        self.steps, self.weights = [], {}  # (product, activation)
        depth = draw.choice([1, 2, 2, 3])
        if kind == "conv":
            size = draw.randint(6, 9)
            shape = [draw.choice([1, 1, 2]), 8 * draw.randint(2, 4), size, size]
        else:
            shape = [16 * draw.randint(2, 5), draw.choice([1, 3, 16, 40])]
            if kind != "left":
                shape.reverse()
        self.input = list(shape)
        for number in range(depth):
            name = f"w{number}"
            channels = shape[{"left": 0, "right": 1, "linear": 1, "conv": 1}[kind]]
            outputs = 8 * max(draw.randint(2, 8), -(-256 // channels) if kind != "conv" else 0)
            if kind == "conv":
                product = Conv(name, None, 1)
                size = draw.choice([1, 3, 3]) if shape[2] >= 5 else 1
                product.stride = 2 if shape[2] >= 7 and draw.random() < 0.3 else 1
                product.groups = draw.choice([1, 1, 2, channels])
                outputs = outputs // product.groups * product.groups or product.groups
                weight = (outputs, channels // product.groups, size, size)
                edge = (shape[2] - size) // product.stride + 1
                shape = [shape[0], outputs, edge, edge]
            elif kind == "left":
                product, weight = Left(name, None, 0), (outputs, channels)
                shape = [outputs, shape[1]]
            else:
                product = (Right if kind == "right" else Linear)(name, None, 1)
                weight = (channels, outputs) if kind == "right" else (outputs, channels)
                shape = [shape[0], outputs]
            fan = np.prod(weight) / outputs
            self.weights[name] = (rng.standard_normal(weight) / fan**0.5).astype(np.float16)
            if draw.random() < 0.1:
                self.weights[name][:] = 0
            self.steps.append((product, draw.choice(list(ACTIVATIONS))))
        self.kind, self.output, self.runs = kind, shape, draw.choice([1, 1, 2, 5])
        self.shared = draw.random() < 0.3  # another product of the first input
        value = "x"
        lines = []
        for number, (product, activation) in enumerate(self.steps):
            text = product.text(value)
            lines.append(f"  y{number} = {f'{activation}({text})' if activation else text};")
            value = f"y{number}"
        if self.shared:
            first = self.weights["w0"]
            self.weights["v"] = (rng.standard_normal(first.shape) / 8).astype(np.float16)
            twin = re.sub(r"\bw0\b", "v", self.steps[0][0].text("x"))
            lines.append(f"  z = {twin};")
        names = [f"weight {name}: fp16[{', '.join(map(str, each.shape))}];"
                 for name, each in self.weights.items()]
        self.first = None
        result = f"fp16[{', '.join(map(str, self.output))}]"
        value = f"return {value};"
        if self.shared:
            # The largest of all elements keeps the shapes of both apart.
            axes = ", ".join(map(str, range(len(self.output))))
            value = (f"return {value[7:-1]} + reduce_max(z, axes = [{axes}], "
                     "keep_dims = true);")
        shape = ", ".join(map(str, self.input))
        self.text = "\n".join([f"kernel k(x: fp16[{shape}]) -> {result} {{",
                               *("  " + line for line in names), *lines, f"  {value}", "}", ""])
        scale = draw.choice([1, 1, 0.01, 100])
        spread = np.exp(0.8 * rng.standard_normal(self.input[self.steps[0][0].axis]))
        if draw.random() < 0.3:
            spread[rng.random(len(spread)) < 0.3] = 0

        def array():
            x = rng.standard_normal(self.input) * scale
            axis = self.steps[0][0].axis
            broad = [1] * len(self.input)
            broad[axis] = -1
            return (x * spread.reshape(broad)).astype(np.float16)
        self.seen = [array() * (0 if draw.random() < 0.05 else 1) for _ in range(self.runs)]
        self.given = (array() * draw.choice([1, 1, 4])).astype(np.float16)

    def forward(self, x, weights, before):
        """`before(name, axis, x)` comes before each product."""
        start = x
        for product, activation in self.steps:
            x = product.apply(before(product.name, product.axis, x), weights[product.name])
            x = ACTIVATIONS[activation](x)
        if self.shared:
            product = self.steps[0][0]
            x = x + product.apply(before("v", product.axis, start), weights["v"]).max()
        return x


def scales_of(largest, scales, margin):
    """By docs/use/quantization.md."""
    whole = largest.max()
    if whole == 0:
        return np.ones_like(largest)
    if scales == "per-tensor":
        largest = np.full_like(largest, whole)
    exact = np.maximum(largest, whole / 128) * margin / 127
    return np.float16(np.clip(exact, 2.0**-14, 65504)).astype(np.float64)


def along(scales, axis, rank):
    return scales.reshape([-1 if a == axis else 1 for a in range(rank)])


def through_int8(x, scales, axis):
    wide = along(scales, axis, x.ndim)
    return np.clip(np.rint(x / wide), -128, 127) * wide


def check(seed, folder):
    draw = random.Random(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    case = Case(draw)
    scales = draw.choice(["per-channel", "per-channel", "per-tensor"])
    margin = draw.choice([1.5, 1, 2, 0.5])
    granularity = draw.choice(["", "", ":per-tensor"])
    (folder / "k.tdsl").write_text(case.text)
    reference.write_safetensors(folder / "w.safetensors",
                                {f"k.{name}": value for name, value in case.weights.items()})
    np.save(folder / "x.npy", np.stack(case.seen) if case.runs > 1 else case.seen[0])
    np.save(folder / "given.npy", case.given)
    run("anec", folder / "k.tdsl", f"--weights={folder}/w.safetensors",
        f"--quantize=w8a8{granularity}", f"--activation-scales={scales}",
        f"--activation-margin={margin}", f"--calibrate=x={folder}/x.npy",
        f"--quantize-report={folder}/report.json", "-o", folder / "k.mil")

    # The weights as the file has them, in the order of the report.
    exact = {name: value.astype(np.float64) for name, value in case.weights.items()}
    unpacked, rows = dict(exact), json.loads((folder / "report.json").read_text())["weights"]
    ops = reference.read_quantized(folder / "k.mil")
    wanted = [name for name, value in case.weights.items() if value.size >= 2048]
    assert sorted(row["name"].split(".")[-1] for row in rows) == sorted(wanted), (rows, wanted)
    for (op, _, operands), row in zip(ops, rows):
        name = row["name"].split(".")[-1]
        dense = reference.dequantized(op, operands, np.float64)
        shape = exact[name].shape
        stored = [n for n in dense.shape if n > 1]
        kept = [n for n in shape if n > 1]
        if stored != kept or (case.kind == "right" and len(set(kept)) == 1 and np.linalg.norm(
                dense.reshape(shape) - exact[name]) > np.linalg.norm(
                    dense.reshape(shape[::-1]).T - exact[name])):
            dense = dense.reshape(kept[::-1]).T
        unpacked[name] = dense.reshape(shape)

    # Scales by the program without quantization.
    largest = {}

    def observe(name, axis, x):
        others = tuple(a for a in range(x.ndim) if a != axis)
        largest[name] = np.maximum(largest.get(name, 0), np.abs(x).max(axis=others))
        return x
    for x in case.seen:
        case.forward(x.astype(np.float64), exact, observe)
    # Weights are known by their elements: those of zeros can be equal.
    def equal(name):
        return [other for other in largest if np.array_equal(exact[other], exact[name])
                and len(largest[other]) == len(largest[name])]
    largest = {name: np.max([largest[other] for other in equal(name)], axis=0)
               for name in largest}
    scale = {name: scales_of(each, scales, margin) for name, each in largest.items()}
    for row in rows:
        own, said = scale[row["name"].split(".")[-1]], row["input"]
        assert said["scales"] == (len(own) if scales == "per-channel" else 1), (said, own)
        for key, value in (("least_scale", own.min()), ("most_scale", own.max())):
            assert abs(said[key] / value - 1) < 2e-3, (key, said, value)

    # What the report says of errors, product by product.
    sums = {name: np.zeros(6) for name in wanted}

    def measure(name, axis, x):
        if name in sums:
            rounded = through_int8(x, scale[name], axis)
            product = next(p for p, _ in case.steps if p.name == (name if name != "v" else "w0"))
            y = product.apply(x, exact[name])
            changed = product.apply(rounded, unpacked[name])
            clipped = np.abs(rounded - x) > along(scale[name], axis, x.ndim) * (0.5 + 2**-10)
            sums[name] += [x.size, clipped.sum(), (x**2).sum(), ((rounded - x)**2).sum(),
                           (y**2).sum(), ((changed - y)**2).sum()]
        return x
    for x in case.seen:
        case.forward(x.astype(np.float64), exact, measure)
    for row in rows:
        name = row["name"].split(".")[-1]
        said = row["input"]
        size, clipped, square, error, whole, changed = sum(sums[other] for other in equal(name))
        assert abs(said["clipped"] - clipped / size) < 3e-3, (name, said, clipped)
        for key, value in (("relative_error", (error / square)**0.5 if square else 0),
                           ("output_error", (changed / whole)**0.5 if whole else 0)):
            assert abs(said[key] - value) < 0.01 * value + 1e-5, (name, key, said, value)

    # What it returns, with fp32 between the ops.
    want = case.forward(case.given.astype(np.float64), unpacked, lambda name, axis, x:
                        through_int8(x, scale[name], axis) if name in wanted else x)
    run("ane-run", folder / "k.mil", f"--input=x={folder}/given.npy", "--numerics=fp32",
        f"--output-dir={folder}/out")
    got = np.load(next((folder / "out").glob("*.npy"))).astype(np.float64).reshape(case.output)
    size = np.linalg.norm(want)
    error = np.linalg.norm(got - want) / size if size else np.linalg.norm(got)
    # A number between two integers can go either way after the first product.
    assert error < (1e-5 if len(case.steps) == 1 else 1e-2), (error, case.text)
    return error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    errors = []
    for seed in range(flags.seed, flags.seed + flags.count):
        try:
            errors.append(check(seed, flags.folder / str(seed)))
        except AssertionError as error:
            print(f"seed {seed}: {error}")
            return 1
        shutil.rmtree(flags.folder / str(seed))
    print(f"{flags.count} programs agree; the median error is {np.median(errors):.1e}")
    return 0


sys.exit(main())
