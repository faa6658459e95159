#!/usr/bin/env python3
"""random_layouts.py WORK [--seed=N] [--programs=N] [--seconds=S]

Draws programs of values of ranks 1 to 4 that ask for different layouts (products of
weights, products of activations, norms, reductions, slices, heads of attention, ops that
keep their shapes), compiles them, and compares what they compute with numpy."""
import argparse
import pathlib
import subprocess
import sys
import time

import numpy

TOLERANCE = 2e-4
EXTENTS = (1, 2, 3, 4, 6)
MOST_ELEMENTS = 4000


class Program:
    def __init__(self, random):
        self.random, self.lines, self.values, self.inputs = random, [], [], {}
        self.count = 0

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def pick(self, *ranks):
        """A value of one of the ranks; nothing without one. Later ones more often."""
        fitting = [value for value in self.values if not ranks or value[1].ndim in ranks]
        if not fitting:
            return None
        place = int(len(fitting) * self.random.random() ** 0.6)
        return fitting[min(place, len(fitting) - 1)]

    def extents(self, rank):
        return [int(extent) for extent in self.random.choice(EXTENTS, rank)]

    def add(self, text, array):
        name = self.name()
        array = numpy.asarray(array, "float64")
        self.lines.append(f"  {name} = {text} : fp32{list(array.shape) or ''}")
        self.values.append((name, array))
        return name, array

    def const(self, shape):
        array = self.random.uniform(-1, 1, shape).astype("float32")
        numbers = ", ".join(repr(float(number)) for number in array.ravel())
        kind = f"fp32{list(shape)}"
        name = self.name()
        self.lines.append(f"  {name} = const() {{val = {kind}({numbers})}} : {kind}")
        return name, array.astype("float64")

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        array = self.random.uniform(-1, 1, shape).astype("float32")
        self.inputs[name] = array
        self.values.append((f"%{name}", array.astype("float64")))


def unary(program):
    name, x = program.pick()
    which = program.random.choice(["relu", "tanh", "abs", "square"])
    compute = {"relu": lambda v: numpy.maximum(v, 0), "tanh": numpy.tanh, "abs": abs,
               "square": lambda v: v * v}[which]
    program.add(f"{which}({name})", compute(x))


def binary(program):
    name, x = program.pick()
    partners = []
    for other in program.values:
        try:
            numpy.broadcast_shapes(x.shape, other[1].shape)
            partners.append(other)
        except ValueError:
            pass
    if program.random.random() < 0.3:
        rank = int(program.random.integers(1, x.ndim + 1))
        shape = [extent if program.random.random() < 0.6 else 1
                 for extent in x.shape[x.ndim - rank:]]
        other, y = program.const(shape)
    else:
        other, y = partners[int(program.random.integers(len(partners)))]
    if numpy.prod(numpy.broadcast_shapes(x.shape, y.shape)) > MOST_ELEMENTS:
        return
    if program.random.random() < 0.5:
        (name, x), (other, y) = (other, y), (name, x)
    which = program.random.choice(["add", "sub", "mul", "maximum"])
    compute = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply,
               "maximum": numpy.maximum}[which]
    program.add(f"{which}({name}, {other})", compute(x, y))


def product(program):
    """Of two activations."""
    name, x = program.pick(2, 3, 4)
    other, y = program.pick(1, 2, 3, 4) if program.random.random() < 0.7 else (name, x)
    for flip_x in program.random.permutation([False, True]):
        for flip_y in program.random.permutation([False, True]):
            left = numpy.swapaxes(x, -1, -2) if flip_x else x
            right = numpy.swapaxes(y, -1, -2) if flip_y and y.ndim > 1 else y
            inner = right.shape[-2] if right.ndim > 1 else right.shape[0]
            if (name == other and flip_x == flip_y) or left.shape[-1] != inner:
                continue
            try:
                result = left @ right
            except ValueError:
                continue
            if y.ndim == 1 and flip_y or result.size > MOST_ELEMENTS:
                continue
            flags = (f"transpose_x = {str(bool(flip_x)).lower()}, "
                     f"transpose_y = {str(bool(flip_y)).lower()}")
            program.add(f"matmul({name}, {other}) {{{flags}}}", result)
            return


def weighted(program):
    """Of a weight with a sequence or a batch of them, which becomes a convolution."""
    name, x = program.pick(2, 3)
    outputs = int(program.random.choice(EXTENTS))
    weight, w = program.const([outputs, x.shape[-2]])
    program.add(f"matmul({weight}, {name})", w @ x)


def transpose(program):
    name, x = program.pick(2, 3, 4)
    perm = [int(axis) for axis in program.random.permutation(x.ndim)]
    program.add(f"transpose({name}) {{perm = {perm}}}", x.transpose(perm))


def reshape(program):
    """Merges adjacent axes, splits one, or adds one."""
    name, x = program.pick()
    shape = list(x.shape)
    which = program.random.integers(3)
    if which == 0 and len(shape) > 1:
        at = int(program.random.integers(len(shape) - 1))
        shape[at:at + 2] = [shape[at] * shape[at + 1]]
    elif which == 1 and len(shape) < 4:
        at = int(program.random.integers(len(shape)))
        divisors = [d for d in range(1, shape[at] + 1) if shape[at] % d == 0]
        inner = int(program.random.choice(divisors))
        shape[at:at + 1] = [shape[at] // inner, inner]
    elif len(shape) < 4:
        shape.insert(int(program.random.integers(len(shape) + 1)), 1)
    program.add(f"reshape({name}) {{shape = {shape}}}", x.reshape(shape))


def reduction(program):
    name, x = program.pick(2, 3, 4)
    count = int(program.random.integers(1, x.ndim))
    axes = sorted(int(axis) for axis in program.random.choice(x.ndim, count, replace=False))
    keep = bool(program.random.integers(2))
    which = program.random.choice(["reduce_mean", "reduce_max"])
    compute = numpy.mean if which == "reduce_mean" else numpy.max
    program.add(f"{which}({name}) {{axes = {axes}, keep_dims = {str(keep).lower()}}}",
                compute(x, axis=tuple(axes), keepdims=keep))


def softmax(program):
    name, x = program.pick(1, 2, 3, 4)
    axis = int(program.random.integers(x.ndim))
    powers = numpy.exp(x - x.max(axis, keepdims=True))
    program.add(f"softmax({name}) {{axis = {axis}}}", powers / powers.sum(axis, keepdims=True))


def norm(program):
    name, x = program.pick(2, 3, 4)
    axis = int(program.random.integers(x.ndim))
    operands, gamma, beta = name, 1, 0
    if program.random.random() < 0.5:
        (g, gamma), (b, beta) = program.const([x.shape[axis]]), program.const([x.shape[axis]])
        operands = f"{name}, {g}, {b}"
        along = [1] * x.ndim
        along[axis] = -1
        gamma, beta = gamma.reshape(along), beta.reshape(along)
    centred = x - x.mean(axis, keepdims=True)
    unit = centred / numpy.sqrt((centred ** 2).mean(axis, keepdims=True) + 0.5)
    program.add(f"layer_norm({operands}) {{axes = [{axis}], epsilon = fp32(0.5)}}",
                unit * gamma + beta)


def piece(program):
    name, x = program.pick()
    begin = [int(program.random.integers(extent)) for extent in x.shape]
    size = [int(program.random.integers(1, extent - first + 1))
            for first, extent in zip(begin, x.shape)]
    place = tuple(slice(first, first + extent) for first, extent in zip(begin, size))
    program.add(f"slice_by_size({name}) {{begin = {begin}, size = {size}}}", x[place])


def joined(program):
    name, x = program.pick()
    axis = int(program.random.integers(x.ndim))
    other, y = program.random.choice(numpy.array(
        [pair for pair in program.values if pair[1].ndim == x.ndim and all(
            a == b for at, (a, b) in enumerate(zip(pair[1].shape, x.shape)) if at != axis)],
        dtype=object))
    if x.size + y.size <= MOST_ELEMENTS:
        program.add(f"concat({name}, {other}) {{axis = {axis}}}",
                    numpy.concatenate([x, y], axis))


def kept(program):
    """An op that keeps its shapes: a running sum."""
    name, x = program.pick(1, 2, 3)
    axis = int(program.random.integers(x.ndim))
    program.add(f"cumsum({name}) {{axis = {axis}}}", x.cumsum(axis))


def linear(program):
    """Of sequences with channels last, as PyTorch and ONNX have them."""
    name, x = program.pick(3) or (None, None)
    if name is None:
        return
    outputs = int(program.random.choice(EXTENTS))
    if program.random.random() < 0.3:
        weight, w = program.const([x.shape[-1], outputs])
        program.add(f"matmul({name}, {weight})", x @ w)
        return
    (weight, w), (bias, b) = program.const([outputs, x.shape[-1]]), program.const([outputs])
    program.add(f"linear({name}, {weight}, {bias})", x @ w.T + b)


def attention(program):
    """Heads of a sequence, a product of them, and the sequence that they join to."""
    name, x = program.pick(3) or (None, None)
    if name is None:
        return
    batch, positions, channels = x.shape
    heads = int(program.random.choice([h for h in (1, 2, 3) if channels % h == 0]))
    cut = [batch, positions, heads, channels // heads]
    heads_of = []
    for _ in range(2):
        part, y = program.add(f"reshape({name}) {{shape = {cut}}}", x.reshape(cut))
        perm = [0, 2, 1, 3] if program.random.random() < 0.7 else [0, 2, 3, 1]
        heads_of.append(program.add(f"transpose({part}) {{perm = {perm}}}",
                                    y.transpose(perm)))
        if program.random.random() < 0.5:
            linear(program)
            candidates = [pair for pair in program.values[-1:] if pair[1].shape == x.shape]
            name, x = candidates[0] if candidates else (name, x)
    (q, a), (k, b) = heads_of
    if a.shape[-1] != b.shape[-2]:
        perm = [0, 1, 3, 2]
        k, b = program.add(f"transpose({k}) {{perm = {perm}}}", b.transpose(perm))
    if a.shape[-1] == b.shape[-2]:
        q, a = program.add(f"matmul({q}, {k})", a @ b)
    perm = [0, 2, 1, 3]
    joined, c = program.add(f"transpose({q}) {{perm = {perm}}}", a.transpose(perm))
    shape = [c.shape[0], c.shape[1], c.shape[2] * c.shape[3]]
    program.add(f"reshape({joined}) {{shape = {shape}}}", c.reshape(shape))


def projections(program):
    """Of several parts computed together, and cut apart after they are heads."""
    name, x = program.pick(3) or (None, None)
    if name is None or x.shape[-1] % 2:
        return
    batch, positions, channels = x.shape
    heads = 2 if channels % 4 == 0 else 1
    cut = [batch, positions, 2, heads, channels // 2 // heads]
    parts, y = program.add(f"reshape({name}) {{shape = {cut}}}", x.reshape(cut))
    turned, y = program.add(f"transpose({parts}) {{perm = [2, 0, 3, 1, 4]}}",
                            y.transpose(2, 0, 3, 1, 4))
    del program.values[-2:]  # of rank 5
    for part in range(2):
        shape = list(y.shape[1:])
        begin, end = [part, 0, 0, 0, 0], [part + 1, *shape]
        piece, _ = program.add(f"slice_by_index({turned}) {{begin = {begin}, end = {end}}}",
                               y[part:part + 1])
        program.values.pop()
        program.add(f"reshape({piece}) {{shape = {shape}}}", y[part])


def convolution(program):
    name, x = program.pick(4) or (None, None)
    if name is None:
        return
    weight, w = program.const([int(program.random.choice(EXTENTS)), x.shape[1], 1, 1])
    program.add(f"conv({name}, {weight})", numpy.einsum("oi,nihw->nohw", w[:, :, 0, 0], x))


OPS = (unary, unary, binary, binary, binary, product, weighted, weighted, transpose,
       reshape, reshape, reduction, softmax, norm, piece, joined, kept, convolution,
       linear, linear, attention, projections)
# As programs of .tdsl are compiled, and as imported ones are for a target.
PIPELINES = ([], ["--passes=channels-first,dce"])


def draw(random):
    program = Program(random)
    for _ in range(int(random.integers(1, 4))):
        program.input(program.extents(int(random.integers(2, 4))))
    for _ in range(int(random.integers(4, 25))):
        before = len(program.lines), len(program.values)
        random.choice(OPS)(program)
        # Numbers that grow say little about the last bits of the others.
        if len(program.values) > before[1] and abs(program.values[-1][1]).max() > 50:
            del program.lines[before[0]:], program.values[before[1]:]
    count = min(len(program.values), int(random.integers(1, 4)))
    results = program.values[-count:]
    results = [result for result in results if result[0][1:] not in program.inputs]
    if not results:
        results = [program.add(f"tanh({program.values[0][0]})",
                               numpy.tanh(program.values[0][1]))]
    spelled = ", ".join(f"%{name}: fp32{list(array.shape)}"
                        for name, array in program.inputs.items())
    returned = ", ".join(f"%y{index}: fp32{list(array.shape) or ''}"
                         for index, (_, array) in enumerate(results))
    names = ", ".join(name for name, _ in results)
    body = "\n".join(program.lines)
    return (f"kernel @main({spelled}) -> ({returned}) {{\n{body}\n  return {names}\n}}\n",
            program.inputs, [array for _, array in results])


def run(*arguments):
    return subprocess.run([str(argument) for argument in arguments], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def check(work, text, inputs, expected, flags):
    """What is wrong with the program compiled with these flags; nothing if all is
    well."""
    source, made = work / "program.ir", work / "program.mil"
    source.write_text(text)
    done = run("anec", source, *flags, "-o", made)
    if done.returncode:
        return done.stdout
    flags = []
    for name, array in inputs.items():
        numpy.save(work / f"{name}.npy", array)
        flags += ["--input", f"{name}={work / name}.npy"]
    done = run("ane-run", made, *flags, "--numerics=fp32", "--threads=1", "--output-dir",
               work / "out")
    if done.returncode:
        return done.stdout
    for index, array in enumerate(expected):
        found = numpy.load(work / "out" / f"y{index}.npy").astype("float64")
        if found.size != array.size:
            return f"y{index} has {found.size} elements instead of {array.size}"
        error = numpy.max(numpy.abs(found.ravel() - array.ravel()), initial=0)
        if not error <= TOLERANCE * max(1, numpy.max(numpy.abs(array), initial=0)):
            return f"y{index} differs by {error:.2e}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    start, count, problems = time.monotonic(), 0, 0
    while (time.monotonic() - start < options.seconds if options.seconds
           else count < options.programs):
        seed = options.seed + count
        text, inputs, expected = draw(numpy.random.default_rng(seed))
        count += 1
        for flags in PIPELINES:
            problem = check(options.work, text, inputs, expected, flags)
            if problem:
                problems += 1
                (options.work / f"failed-{seed}.ir").write_text(text)
                print(f"seed {seed} {flags}: {problem}")
    print(f"{count} programs, {problems} problems")
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
