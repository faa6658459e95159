#!/usr/bin/env python3
"""random_half.py WORK [--seed=N] [--models=N] [--seconds=S]

Draws programs in fp32 with constants that are far from 1 (variances, epsilons, divisors,
factors, masks), narrows them, and compares the results with those of the program, and
with those of a plain program in fp16, in which every constant is rounded, limited to
fp16's largest number, and kept off 0. Fails where the narrowed program is more than 1.5
times as wrong as the plain one, or not finite where the program is."""
import argparse
import pathlib
import subprocess
import sys
import time

import numpy

WORSE = 1.5
# Each op of a program rounds by up to 2^-11 of its largest element: what differs between
# two ways to round less than this says nothing.
FLOOR = 2.0 ** -7
DRAWS = 3
CHANNELS, WIDTH = 6, 8
SHAPE = (1, CHANNELS, 1, WIDTH)


class Program:
    """Statements of the IR, for fp32 and for plain fp16."""

    def __init__(self, random):
        self.random, self.lines, self.plain, self.count = random, [], [], 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def add(self, text):
        self.lines.append(text)
        self.plain.append(text.replace("fp32", "fp16"))

    def op(self, text, shape=SHAPE):
        name = self.name()
        self.add(f"  {name} = {text} : fp32{list(shape)}")
        return name

    def const(self, values):
        values = numpy.asarray(values, "float32")
        name = self.name()
        kind = str(list(values.shape)) if values.shape else ""
        text = "  {} = const() {{val = {}({})}} : {}"
        self.lines.append(text.format(name, f"fp32{kind}", spell(values), f"fp32{kind}"))
        with numpy.errstate(over="ignore"):
            half = values.astype("float16").astype("float64")
        small = (half == 0) & (values != 0)
        half[small] = numpy.sign(values[small]) * 2.0 ** -24
        half = numpy.clip(half, -65504, 65504)
        self.plain.append(text.format(name, f"fp16{kind}", spell(half), f"fp16{kind}"))
        return name

    def magnitude(self, low, high, size=None):
        signs = self.random.choice([-1, 1], size)
        return signs * 10.0 ** self.random.uniform(low, high, size)


def spell(values):
    return ", ".join(repr(float(value)) for value in numpy.asarray(values).ravel())


def epsilon_text(program, epsilon):
    """A parameter has another number in the plain program."""
    half = max(float(numpy.float16(min(epsilon, 65504))), 2.0 ** -24)
    return f"fp32({epsilon!r})", f"fp16({half!r})"


def with_epsilon(program, text, epsilon, shape=SHAPE):
    name = program.name()
    wide, half = epsilon_text(program, epsilon)
    line = f"  {name} = {text} : fp32{list(shape)}"
    program.lines.append(line.replace("EPS", wide))
    program.plain.append(line.replace("EPS", half).replace("fp32", "fp16"))
    return name


def batch_norm(program, x):
    scale = program.random.uniform(-12, 9)
    variance = numpy.abs(program.magnitude(scale - 1, scale + 1, CHANNELS))
    deviation = 10.0 ** (scale / 2)
    # What comes in has that deviation.
    x = program.op(f"mul({x}, {program.const(deviation)})")
    mean = program.const(deviation * program.random.standard_normal(CHANNELS))
    gamma = program.const(program.random.uniform(0.2, 2, CHANNELS))
    beta = program.const(program.random.standard_normal(CHANNELS))
    epsilon = 10.0 ** (scale - program.random.uniform(1, 4))
    return with_epsilon(
        program, f"batch_norm({x}, {mean}, {program.const(variance)}, {gamma}, {beta}) "
        "{epsilon = EPS}", epsilon)


def conv(program, x):
    weight = program.random.standard_normal((CHANNELS, CHANNELS, 1, 1)) / CHANNELS ** 0.5
    scale = 10.0 ** program.random.uniform(-8, 5)
    y = program.op(f"conv({x}, {program.const(weight * scale)})")
    factor = numpy.full((CHANNELS, 1, 1), 1 / scale)
    return program.op(f"mul({y}, {program.const(factor)})")


def scales(program, x):
    factor = program.magnitude(-9, 9)
    y = program.op(f"mul({x}, {program.const(factor)})")
    if program.random.random() < 0.5:
        y = program.op(f"{program.random.choice(['relu', 'abs'])}({y})")
    if program.random.random() < 0.5:
        return program.op(f"real_div({y}, {program.const(factor)})")
    return program.op(f"mul({y}, {program.const(1 / factor)})")


def norm(program, x):
    epsilon = 10.0 ** program.random.uniform(-12, -4)
    return with_epsilon(program, f"layer_norm({x}) {{axes = [3], epsilon = EPS}}", epsilon)


def norm_of_steps(program, x):
    shape = SHAPE[:3] + (1,)
    square = program.op(f"mul({x}, {x})")
    if program.random.random() < 0.5:
        mean = program.op(f"reduce_mean({square}) {{axes = [3], keep_dims = true}}", shape)
    else:
        total = program.op(f"reduce_sum({square}) {{axes = [3], keep_dims = true}}", shape)
        mean = program.op(f"mul({total}, {program.const(1 / WIDTH)})", shape)
    shifted = program.op(f"add({mean}, {program.const(10.0 ** program.random.uniform(-12, -4))})",
                         shape)
    root = program.op(f"sqrt({shifted})", shape)
    y = program.op(f"real_div({x}, {root})")
    if program.random.random() < 0.5:
        y = program.op(f"mul({y}, {program.const(program.random.uniform(0.2, 2, WIDTH))})")
    return y


def large_norm(program, x):
    return norm_of_steps(program, program.op(f"mul({x}, {program.const(1e3)})"))


def product(program, x):
    rows = (1, CHANNELS, WIDTH)
    y = program.op(f"reshape({x}) {{shape = {list(rows)}}}", rows)
    weight = program.random.standard_normal((WIDTH, WIDTH)) / WIDTH ** 0.5
    y = program.op(f"matmul({y}, {program.const(weight)})", rows)
    bias = program.const(program.magnitude(-2, 1, WIDTH))
    y = program.op(f"add({y}, {bias})", rows)
    return program.op(f"reshape({y}) {{shape = {list(SHAPE)}}}")


def affine(program, x):
    """A product and a sum, by channel, as behind a group norm."""
    scale = program.random.uniform(-9, 6)
    y = program.op(f"mul({x}, {program.const(program.magnitude(scale, scale + 1, (CHANNELS, 1, 1)))})")
    y = program.op(f"add({y}, {program.const(program.magnitude(scale - 2, scale + 1, (CHANNELS, 1, 1)))})")
    return program.op(f"mul({y}, {program.const(10.0 ** -scale)})")


def dense(program, x):
    """A product with rows of a length, of values that are not negative."""
    count = CHANNELS * WIDTH
    y = program.op(f"relu({x})")
    y = program.op(f"reshape({y}) {{shape = [1, {count}]}}", (1, count))
    weight = program.random.standard_normal((count, count)) / count ** 0.5
    if program.random.random() < 0.5:
        y = program.op(f"linear({y}, {program.const(weight)})", (1, count))
    else:
        y = program.op(f"matmul({y}, {program.const(weight)})", (1, count))
    return program.op(f"reshape({y}) {{shape = {list(SHAPE)}}}")


def sampled(program, x):
    """`x`, moved by less than half a pixel beside many."""
    points = (1, 1, WIDTH, 2)
    y = program.op(f"slice_by_size({x}) {{begin = [0, 0, 0, 0], size = [1, 2, 1, {WIDTH}]}}",
                   (1, 2, 1, WIDTH))
    y = program.op(f"transpose({y}) {{perm = [0, 2, 3, 1]}}", points)
    y = program.op(f"sigmoid({y})", points)
    far = 2.0 ** program.random.uniform(5, 12)
    y = program.op(f"add({y}, {program.const(far)})", points)
    y = program.op(f"maximum({y}, {program.const(0.0)})", points)  # No sum is one op less.
    y = program.op(f"sub({y}, {program.const(far)})", points)
    return program.op(
        f"resample({x}, {y}) {{sampling_mode = \"bilinear\", padding_mode = \"border\", "
        "padding_value = 0, coordinates_mode = \"unnormalized\", align_corners = true}")


def masked(program, x):
    number = -(10.0 ** program.random.uniform(3.5, 38))
    mask = program.random.choice([0, number], WIDTH)
    mask[program.random.integers(WIDTH)] = 0
    y = program.op(f"add({x}, {program.const(mask)})")
    if program.random.random() < 0.3:
        y = program.op(f"add({y}, {program.const(numpy.roll(mask, 1) * 0 + mask)})")
    y = program.op(f"softmax({y}) {{axis = 3}}")
    return program.op(f"mul({y}, {program.const(4.0)})")


def limited(program, x):
    y = program.op(f"maximum({x}, {program.const(-(10.0 ** program.random.uniform(0, 38)))})")
    return program.op(f"minimum({y}, {program.const(10.0 ** program.random.uniform(0, 38))})")


def magnitude(program, x):
    y = program.op(f"mul({x}, {x})")
    z = program.op(f"add({y}, {y})")
    return program.op(f"sqrt({z})")


def activation(program, x):
    return program.op(f"{program.random.choice(['relu', 'sigmoid', 'tanh', 'silu'])}({x})")


def shift(program, x):
    return program.op(f"add({x}, {program.const(program.magnitude(-9, 1, (CHANNELS, 1, 1)))})")


PARTS = (batch_norm, conv, scales, norm, norm_of_steps, masked, limited, magnitude,
         activation, shift, large_norm, product, sampled, affine, dense)


def write(program, result, path, lines, dtype):
    shape = list(SHAPE)
    path.write_text("\n".join(
        [f"kernel @main(%x: {dtype}{shape}) -> (%y: {dtype}{shape}) {{"] + lines
        + [f"  %y = identity({result}) : {dtype}{shape}", "  return %y", "}", ""]))


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}\n{done.stderr}")


def outputs(work, program, inputs, numerics):
    results = []
    for index in range(len(inputs)):
        run("ane-run", program, "--input", f"x={work / f'x{index}.npy'}", "--output-dir",
            work / "out", f"--numerics={numerics}")
        results.append(numpy.load(work / "out" / "y.npy").astype("float64").ravel())
    return numpy.array(results)


def norm_of_error(got, right):
    if not numpy.isfinite(got).all():
        return float("inf")
    return float(numpy.linalg.norm(got - right) / max(numpy.linalg.norm(right), 1e-30))


def check(seed, work):
    """None, or what is wrong with the program of a seed."""
    random = numpy.random.default_rng(seed)
    program, value = Program(random), "%x"
    for part in random.choice(len(PARTS), random.integers(1, 5)):
        value = PARTS[part](program, value)
    inputs = [random.standard_normal(SHAPE).astype("float16").astype("float32")
              for _ in range(DRAWS)]
    for index, array in enumerate(inputs):
        numpy.save(work / f"x{index}.npy", array)
    write(program, value, work / "source.ir", program.lines, "fp32")
    write(program, value, work / "plain.ir", program.plain, "fp16")
    run("anec", work / "source.ir", "--passes=dce", "-o", work / "source.mil")
    run("anec", work / "source.ir", "--passes=narrow,cse,dce", "-o", work / "narrow.mil")
    right = outputs(work, work / "source.mil", inputs, "fp32")
    if not numpy.isfinite(right).all() or not 1e-4 < numpy.abs(right).max() < 6e4:
        return None  # fp16 has no such results.
    narrow = norm_of_error(outputs(work, work / "narrow.mil", inputs, "fp16"), right)
    if narrow <= FLOOR:
        return None
    run("anec", work / "plain.ir", "--passes=dce", "-o", work / "plain.mil")
    plain = norm_of_error(outputs(work, work / "plain.mil", inputs, "fp16"), right)
    if narrow <= WORSE * plain and narrow != float("inf"):
        return None
    return f"off by {narrow:.3g}, plain fp16 by {plain:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", type=int, default=10 ** 9)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    end, bad, done = time.monotonic() + args.seconds, 0, 0
    for seed in range(args.seed, args.seed + args.models):
        if time.monotonic() > end:
            break
        done += 1
        try:
            found = check(seed, args.work)
        except RuntimeError as error:
            found = str(error)
        if found:
            bad += 1
            print(f"seed {seed}: {found}", flush=True)
    print(f"{done} programs, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
