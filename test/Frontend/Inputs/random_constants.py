#!/usr/bin/env python3
"""Random expressions without inputs, as a constant of the file, in a kernel, a layer, a
model, a repeat and a `fn`: they must have the same bits everywhere, which are those of
numpy with one rounding for each op. Numbers are computed in double precision, in
`config` as elsewhere.

  random_constants.py ANEC ANE_RUN FOLDER [--programs=N] [--seed=N]
"""
import argparse
import pathlib
import subprocess
import sys

import numpy as np

TYPES = {"fp16": np.float16, "fp32": np.float32}
N = 4  # elements of a value


class Draw:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def one(self, *choices):
        return choices[self.random.integers(len(choices))]

    def number(self):
        return round(float(self.random.uniform(0.1, 4)), int(self.random.integers(1, 6)))


def rounded(function, kind, *operands):
    """An op: computed in double precision, and rounded once."""
    with np.errstate(all="ignore"):
        return TYPES[kind](function(*(each.astype(float) for each in operands)))


UNARY = {
    "sqrt({})": lambda x: np.sqrt(x), "abs({})": np.abs, "floor({})": np.floor,
    "ceil({})": np.ceil, "exp({})": np.exp, "exp2({})": np.exp2, "tanh({})": np.tanh,
    "relu({})": lambda x: np.maximum(x, 0), "square({})": lambda x: x * x,
    "sin({})": np.sin, "-{}": lambda x: -x,
    "reshape({}, shape = [4])": lambda x: x.reshape(4),
    "clip({}, 0.25, 2.5)": lambda x: np.clip(x, 0.25, 2.5),
    "sum({}, axes = 0, keep_dims = true) * 1": lambda x: x.sum(keepdims=True),
    "mean({}, axes = 0, keep_dims = true) * 1": lambda x: x.mean(keepdims=True),
    "max({}, axes = 0, keep_dims = true) * 1": lambda x: x.max(keepdims=True),
}
BINARY = {
    "({} + {})": np.add, "({} - {})": np.subtract, "({} * {})": np.multiply,
    "({} / {})": np.divide, "maximum({}, {})": np.maximum, "minimum({}, {})": np.minimum,
}


def expression(draw, kind, depth):
    """The text of an expression, and its value of N elements or one."""
    if depth == 0 or draw.random.random() < 0.1:
        choice = draw.one("list", "scalar", "iota", "fill")
        if choice == "list":
            values = [draw.number() for _ in range(N)]
            return f"({values}: {kind})", TYPES[kind](values)
        if choice == "iota":
            return f"cast(iota({N}), {kind})", TYPES[kind](np.arange(N))
        number = draw.number()
        if choice == "fill":
            return (f"fill(shape = [{N}], value = ({number}: {kind}))",
                    np.full(N, TYPES[kind](number)))
        return f"({number}: {kind})", TYPES[kind]([number])
    way = draw.random.random()
    if way < 0.15:  # through the other type
        other = "fp16" if kind == "fp32" else "fp32"
        text, value = expression(draw, other, depth - 1)
        return f"cast({text}, {kind})", value.astype(TYPES[kind])
    if way < 0.3:  # a choice, by a comparison
        (a, x), (b, y), (c, z) = (expression(draw, kind, depth - 1) for _ in range(3))
        return (f"where({a} < {b}, {c}, {a})",
                np.where(x < y, np.broadcast_arrays(z, x)[0], x))
    if way < 0.6:
        form = draw.one(*UNARY)
        text, value = expression(draw, kind, depth - 1)
        if value.size != N and ("axes" in form or "reshape" in form):
            form = "abs({})"
        return form.format(text), rounded(UNARY[form], kind, value)
    form = draw.one(*BINARY)
    (a, x), (b, y) = (expression(draw, kind, depth - 1) for _ in range(2))
    return form.format(a, b), rounded(BINARY[form], kind, x, y)


def number_expression(draw, depth):
    if depth == 0:
        number = draw.number()
        return str(number), number
    if draw.random.random() < 0.3:
        text, value = number_expression(draw, depth - 1)
        return draw.one((f"sqrt({text})", value**0.5), (f"exp({text})", float(np.exp(value))),
                        (f"abs(-{text})", value))
    (a, x), (b, y) = (number_expression(draw, depth - 1) for _ in range(2))
    return draw.one((f"({a} + {b})", x + y), (f"({a} * {b})", x * y),
                    (f"({a} / {b})", x / y), (f"max({a}, {b})", max(x, y)))


def usable(value):
    return np.isfinite(value).all() and np.abs(value).max() < 3e4


def program(draw):
    """The text of a program, and the values of its expressions."""
    texts, values = [], []
    while len(texts) < 4:
        kind = draw.one("fp16", "fp32", "fp32")
        text, value = expression(draw, kind, int(draw.random.integers(1, 5)))
        if usable(value):
            # A sum with zeros has all elements, and the same bits but for -0.
            texts.append(f"cast({text}, fp32) + ([0, 0, 0, 0]: fp32)")
            values.append(np.broadcast_to(value.astype(np.float32), N))
    config, number = number_expression(draw, 3)
    while not 1e-3 < number < 3e4:
        config, number = number_expression(draw, 3)
    texts.append("([number, {0}, number * 3, 1]: fp32)".format(config))
    values.append(np.float32([number, number, number * 3, 1]))
    count = len(texts)
    lines = [f"config {{ number = {config}; }}"]
    lines += [f"const c{i} = {text};" for i, text in enumerate(texts)]
    lines += [f"fn f{i}() {{ return {text}; }}" for i, text in enumerate(texts)]
    full = ", ".join([f"fp32[{N}]"] * count * 3)
    lines += [f"kernel k(x: fp32[{N}]) -> ({full}) {{",
              *(f"  const a{i} = {text};" for i, text in enumerate(texts)),
              "  return " + ", ".join(
                  [f"x + c{i}" for i in range(count)] + [f"x + a{i}" for i in range(count)]
                  + [f"x + ({text})" for text in texts]) + ";", "}"]
    # Layers pass their results in fp16.
    lines += [f"layer l(x: fp16[{N}]) -> ({', '.join([f'fp16[{N}]'] * count)}) {{",
              "  return " + ", ".join(f"x + cast(c{i} / {scale(value)!r}, fp16)"
                                      for i, value in enumerate(values)) + ";", "}"]
    metrics = [f"m{i}_{j}: fp32" for i in range(count * 4) for j in range(N)]
    lines += [f"model m(x: fp16[{N}], z: fp32[{N}]) -> (loss: fp32, {', '.join(metrics)}) {{",
              f"  weight w: fp16[{N}];",
              *(f"  const b{i} = {text};" for i, text in enumerate(texts)),
              *(f"  r{i} = z;" for i in range(count)), "  repeat i in 0..2 {",
              *(f"    r{i} = 0 * r{i} + exp(-abs({'b' if i % 2 else 'c'}{i}));"
                for i in range(count)), "  }",
              "  " + ", ".join(f"l{i}" for i in range(count)) + " = l(x);",
              "  return cast(mean(x * w), fp32), "
              + ", ".join(f"cast({name}{i}[{j}], fp32)" for name in ("c", "b", "r", "l")
                          for i in range(count) for j in range(N)) + ";", "}"]
    return "\n".join(lines) + "\n", values


def expected(values, place):
    """What the values become on their way out of a place."""
    if place == "repeat":
        return [rounded(np.exp, "fp32", -np.abs(value)) for value in values]
    if place == "layer":
        return [np.float16(value / np.float32(scale(value))) for value in values]
    return values


def scale(value):
    return float(2.0 ** np.ceil(np.log2(np.abs(value).max() + 1e-30)))


def run(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        return done.stderr or f"exit code {done.returncode}"
    return ""


def check(options, folder, seed):
    text, values = program(Draw(seed))
    (folder / "p.tdsl").write_text(text)
    np.save(folder / "x.npy", np.zeros(N, np.float16))
    np.save(folder / "z.npy", np.zeros(N, np.float32))
    for numerics in ("fp16", "fp32"):
        wrong = (run([options.anec, "p.tdsl", "--kernel=k", "-o", "k.mil"], folder)
                 or run([options.ane_run, "k.mil", "--input=x=z.npy", f"--numerics={numerics}",
                         "--output-dir=k"], folder)
                 or run([options.anec, "p.tdsl", "--init=1", "--forward-only", "-o", "m.anepkg"],
                        folder)
                 or run([options.ane_run, "m.anepkg", "--input=x=x.npy", "--input=z=z.npy",
                         f"--numerics={numerics}", "--output-dir=m"], folder))
        if wrong:
            return wrong + text
        kernel = [np.load(folder / "k" / ("output.npy" if i == 0 else f"output_{i}.npy"))
                  for i in range(3 * len(values))]
        for i, value in enumerate(values):
            for way, place in enumerate(("file", "kernel const", "kernel")):
                got = kernel[way * len(values) + i].reshape(-1)
                if not np.array_equal(got, value):
                    return f"{numerics}: c{i} of the {place} is {got}, not {value}"
        for way, place in enumerate(("file in a model", "model", "repeat", "layer")):
            for i, value in enumerate(expected(values, place)):
                got = np.array([np.load(folder / "m" / f"m{way * len(values) + i}_{j}.npy")
                                for j in range(N)]).reshape(-1)
                if not np.array_equal(got, value.astype(np.float32)):
                    return f"{numerics}: c{i} of the {place} is {got}, not {value}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for seed in range(options.seed, options.seed + options.programs):
        if wrong := check(options, options.folder, seed):
            failed += 1
            print(f"seed {seed}: {wrong}")
    print(f"{options.programs} programs, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
