#!/usr/bin/env python3
"""Compares the gradients that `differentiate` gives whole models with those of
an independent implementation: the same models written down here with numpy,
differentiated by complex steps, f'(x) = Im f(x + ih) / h, which has no rounding
error to speak of and shares no rule with anec.

usage: models.py MODEL VARIANT EXAMPLES WORK_FOLDER [NAME=VALUE...]

VARIANT is words joined by +: `tied`, `untied`, `norope`, ... as the model takes.
"""
import itertools
import pathlib
import shutil
import subprocess
import sys

import numpy

# Relative, norm of the difference over norm, for each parameter.
DOUBLE = 1e-6  # all in double precision; constants of the rules are fp32
SINGLE = 1e-4  # the package on the CPU, in fp32
HALF = 2e-2    # every op rounds to fp16, with a scaled loss
LOSS_SCALE = 256.0


# The models' parts, for complex numbers.

def rmsnorm(x, gamma, eps):
    return x / numpy.sqrt((x * x).mean(axis=0) + eps) * gamma[:, None]


def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(axis=0)
    deviation = numpy.sqrt((centred * centred).mean(axis=0) + eps)
    return centred / deviation * gamma[:, None] + beta[:, None]


def silu(x):
    return x / (1 + numpy.exp(-x))


def gelu_tanh(x):
    return x / 2 * (1 + numpy.tanh(
        numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x ** 3)))


def relu(x):
    return numpy.where(x.real > 0, x, 0)


def softmax(x):
    e = numpy.exp(x - x.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def constant(x):
    """A table or factor that is part of a program; main() rounds it where the
    program that is compared does."""
    return x


def mean(x, axes):
    count = numpy.prod([x.shape[axis] for axis in axes], dtype=float)
    return x.sum(axis=axes) * constant(1 / count)


def rope(x):
    """Of one head [width, positions]: pairs (2i, 2i + 1) turn."""
    width, positions = x.shape
    angle = numpy.outer(10000.0 ** (-numpy.arange(0, width, 2) / width),
                        numpy.arange(positions))
    out = numpy.empty_like(x)
    cos, sin = constant(numpy.cos(angle)), constant(numpy.sin(angle))
    out[0::2] = x[0::2] * cos - x[1::2] * sin
    out[1::2] = x[0::2] * sin + x[1::2] * cos
    return out


def attention(q, k, v, heads, kv_heads, turn):
    """Query head h reads key head h // (heads / kv_heads)."""
    width, seq = q.shape[0] // heads, q.shape[1]
    mask = numpy.where(numpy.tril(numpy.ones((seq, seq))), 0, -numpy.inf)
    out = []
    for h in range(heads):
        shared = h // (heads // kv_heads)
        mine = turn(q[h * width:(h + 1) * width])
        its = turn(k[shared * width:(shared + 1) * width])
        value = v[shared * width:(shared + 1) * width]
        scores = mine.T @ its * constant(1 / numpy.sqrt(width))
        out.append(value @ softmax(scores + mask).T)
    return numpy.concatenate(out)


def cross_entropy(logits, targets):
    top = logits.real.max(axis=0)
    logs = top + numpy.log(numpy.exp(logits - top).sum(axis=0))
    return (logs - logits[targets, numpy.arange(len(targets))]).mean()


class Model:
    """A program, its parameters by name, its arguments, and its loss."""

    def __init__(self, examples, variant, config):
        self.examples, self.variant = pathlib.Path(examples), variant
        self.config = {**self.CONFIG, **config}
        for name, value in self.config.items():
            setattr(self, name, value)
        self.random = numpy.random.default_rng(7)
        self.parameters, self.arguments = {}, {}

    def weight(self, name, *shape):
        scale = 1 / numpy.sqrt(shape[1:] and numpy.prod(shape[1:]) or 100)
        centre = 1 if "gamma" in name or "norm" in name else 0
        array = centre + scale * self.random.standard_normal(shape)
        self.parameters[name] = array.astype(numpy.float16).astype(float)

    def tokens(self):
        for name in ("tokens", "targets"):
            self.arguments[name] = self.random.integers(0, self.vocab, self.seq)

    def images(self, *shape):
        images = self.random.standard_normal(shape)
        self.arguments["images"] = images.astype(numpy.float16).astype(float)
        self.arguments["labels"] = self.random.integers(0, self.classes,
                                                        self.batch)

    def source(self):
        text = (self.examples / self.FILE).read_text()
        for old, new in self.edits():
            if old not in text:
                sys.exit(f"{self.FILE} has no {old!r}")
            text = text.replace(old, new)
        return text

    def edits(self):
        return []


class Llama(Model):
    FILE = "llama.tdsl"
    NAME = "llama"
    CONFIG = dict(layers=2, dim=16, hidden=12, heads=4, kv_heads=4, seq=5,
                  vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tokens()
        width = self.dim // self.heads
        for i in range(self.layers):
            self.weight(f"attention.norm.{i}", self.dim)
            self.weight(f"attention.wq.{i}", self.heads * width, self.dim)
            self.weight(f"attention.wk.{i}", self.kv_heads * width, self.dim)
            self.weight(f"attention.wv.{i}", self.kv_heads * width, self.dim)
            self.weight(f"attention.wo.{i}", self.dim, self.heads * width)
            self.weight(f"feed_forward.norm.{i}", self.dim)
            self.weight(f"feed_forward.w1.{i}", self.hidden, self.dim)
            self.weight(f"feed_forward.w3.{i}", self.hidden, self.dim)
            self.weight(f"feed_forward.w2.{i}", self.dim, self.hidden)
        self.weight("llama.embedding", self.vocab, self.dim)
        self.weight("llama.norm", self.dim)
        if "untied" in self.variant:
            self.weight("llama.classifier", self.vocab, self.dim)

    def edits(self):
        if "untied" in self.variant:
            yield "weight embedding:", "weight embedding, classifier:"
            yield "logits = embedding @", "logits = classifier @"
        if "norope" in self.variant:
            yield "rope(", "("

    def loss(self, p):
        turn = (lambda x: x) if "norope" in self.variant else rope
        x = p["llama.embedding"][self.arguments["tokens"]].T
        for i in range(self.layers):
            a = {n: p[f"attention.{n}.{i}"] for n in
                 ("norm", "wq", "wk", "wv", "wo")}
            f = {n: p[f"feed_forward.{n}.{i}"] for n in
                 ("norm", "w1", "w2", "w3")}
            h = rmsnorm(x, a["norm"], 1e-5)
            x = x + a["wo"] @ attention(a["wq"] @ h, a["wk"] @ h, a["wv"] @ h,
                                        self.heads, self.kv_heads, turn)
            h = rmsnorm(x, f["norm"], 1e-5)
            x = x + f["w2"] @ (silu(f["w1"] @ h) * (f["w3"] @ h))
        name = "classifier" if "untied" in self.variant else "embedding"
        logits = p[f"llama.{name}"] @ rmsnorm(x, p["llama.norm"], 1e-5)
        return cross_entropy(logits, self.arguments["targets"])


class GPT2(Model):
    FILE = "gpt2.tdsl"
    NAME = "gpt2"
    CONFIG = dict(layers=2, dim=16, hidden=20, heads=4, seq=5, vocab=11)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.tokens()
        dim, hidden = self.dim, self.hidden
        for i in range(self.layers):
            for name in ("gamma1", "gamma2"):
                self.weight(f"block.{name}.{i}", dim)
            for name in ("beta1", "beta2"):
                self.weight(f"block.{name}.{i}", dim)
            for name in ("wq", "wk", "wv", "wo"):
                self.weight(f"block.{name}.{i}", dim, dim)
            for name in ("bq", "bk", "bv", "bo", "b2"):
                self.weight(f"block.{name}.{i}", dim, 1)
            self.weight(f"block.w1.{i}", hidden, dim)
            self.weight(f"block.b1.{i}", hidden, 1)
            self.weight(f"block.w2.{i}", dim, hidden)
        self.weight("gpt2.embedding", self.vocab, dim)
        self.weight("gpt2.positions", dim, self.seq)
        self.weight("gpt2.gamma", dim)
        self.weight("gpt2.beta", dim)

    def loss(self, p):
        x = p["gpt2.embedding"][self.arguments["tokens"]].T + p["gpt2.positions"]
        for i in range(self.layers):
            w = {n.split(".")[1]: a for n, a in p.items()
                 if n.startswith("block.") and n.endswith(f".{i}")}
            h = layer_norm(x, w["gamma1"], w["beta1"], 1e-5)
            a = attention(w["wq"] @ h + w["bq"], w["wk"] @ h + w["bk"],
                          w["wv"] @ h + w["bv"], self.heads, self.heads,
                          lambda head: head)
            x = x + w["wo"] @ a + w["bo"]
            h = layer_norm(x, w["gamma2"], w["beta2"], 1e-5)
            x = x + w["w2"] @ gelu_tanh(w["w1"] @ h + w["b1"]) + w["b2"]
        h = layer_norm(x, p["gpt2.gamma"], p["gpt2.beta"], 1e-5)
        return cross_entropy(p["gpt2.embedding"] @ h, self.arguments["targets"])


class Digits(Model):
    FILE = "digits.tdsl"
    NAME = "digits"
    CONFIG = dict(pixels=12, hidden=9, classes=4, batch=6)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        sizes = [self.pixels, self.hidden, self.hidden, self.classes]
        for i in (1, 2, 3):
            self.weight(f"perceptron.w{i}", sizes[i], sizes[i - 1])
            self.weight(f"perceptron.b{i}", sizes[i], 1)
        self.images(self.pixels, self.batch)

    def loss(self, p):
        w = {n.split(".")[1]: a for n, a in p.items()}
        h = relu(w["w1"] @ self.arguments["images"] + w["b1"])
        h = numpy.tanh(w["w2"] @ h + w["b2"])
        return cross_entropy(w["w3"] @ h + w["b3"], self.arguments["labels"])


def conv_same(x, weight, bias):
    """Of [images, channels, rows, columns], with odd kernels."""
    rows, columns = weight.shape[2:]
    padded = numpy.pad(x, [(0, 0), (0, 0), (rows // 2,) * 2, (columns // 2,) * 2])
    windows = numpy.lib.stride_tricks.sliding_window_view(
        padded, (rows, columns), axis=(2, 3))
    return (numpy.einsum("ncyxij,ocij->noyx", windows, weight)
            + bias[:, None, None])


def blocks(x):
    """The 2 x 2 elements of each block, along a last axis."""
    n, c, rows, columns = x.shape
    x = x.reshape(n, c, rows // 2, 2, columns // 2, 2)
    return x.transpose(0, 1, 2, 4, 3, 5).reshape(n, c, rows // 2, columns // 2, 4)


class ConvNet(Model):
    FILE = "convnet.tdsl"
    NAME = "convnet"
    CONFIG = dict(batch=2, size=8, channels=2, classes=3)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        c = self.channels
        self.weight("features.w1", c, 1, 5, 5)
        self.weight("features.w2", 2 * c, c, 3, 3)
        self.weight("features.w3", 2 * c, 2 * c, 3, 3)
        self.weight("features.b1", c)
        self.weight("features.b2", 2 * c)
        self.weight("features.b3", 2 * c)
        self.weight("classifier.w", self.classes, 2 * c)
        self.weight("classifier.b", self.classes, 1)
        self.images(self.batch, 1, self.size, self.size)

    def loss(self, p):
        w = {n.split(".")[1]: a for n, a in p.items()}
        h = relu(conv_same(self.arguments["images"], w["w1"], w["b1"]))
        h = blocks(h)
        best = h.real.argmax(axis=-1)[..., None]
        h = numpy.take_along_axis(h, best, axis=-1)[..., 0]
        h = relu(conv_same(h, w["w2"], w["b2"]))
        h = blocks(h + conv_same(h, w["w3"], w["b3"])).mean(axis=-1)
        logits = w["w"] @ mean(h, (2, 3)).T + w["b"]
        return cross_entropy(logits, self.arguments["labels"])


MODELS = {"llama": Llama, "gpt2": GPT2, "digits": Digits, "convnet": ConvNet}


def gradients(model):
    """By a complex step for each element of each parameter."""
    step = 1e-30
    p = {n: a.astype(complex) for n, a in model.parameters.items()}
    result = {}
    for name, array in p.items():
        gradient = numpy.zeros(array.shape)
        for index in itertools.product(*map(range, array.shape)):
            array[index] += 1j * step
            gradient[index] = model.loss(p).imag / step
            array[index] -= 1j * step
        result[name] = gradient
    return result


def run(model, program, folder, scale, *flags):
    shutil.rmtree(folder, ignore_errors=True)
    arrays = folder / "arrays"
    arrays.mkdir(parents=True, exist_ok=True)
    for name, array in model.parameters.items():
        numpy.save(arrays / f"{name}.npy", array)
    for name, array in model.arguments.items():
        dtype = numpy.int32 if array.dtype.kind == "i" else numpy.float32
        numpy.save(arrays / f"{name}.npy", array.astype(dtype))
    numpy.save(arrays / "loss_scale.npy", numpy.float32(scale))
    output = folder / "output"
    subprocess.run(["run-host", program, model.NAME + ".train", arrays, output,
                    *flags,
                    *(f"{n}={v}" for n, v in model.config.items())], check=True)
    read = {p.name.removesuffix(".npy"): numpy.load(p)
            for p in output.glob("*.npy")}
    return read.pop("output"), {n: g / scale for n, g in read.items()}


def run_package(model, program, folder, scale, numerics):
    """The same by the package of the program, on the CPU backend."""
    def stored(name):  # layer.weight.3 is layer.3.weight in files
        *path, last = name.split(".")
        return ".".join([*path[:-1], last, path[-1]]) if last.isdigit() else name

    weights = folder / "weights"
    shutil.rmtree(weights, ignore_errors=True)
    weights.mkdir(parents=True)
    for name, array in model.parameters.items():
        numpy.save(weights / f"{stored(name)}.npy", array.astype(numpy.float16))
    package, output = folder / "model.anepkg", folder / numerics
    defines = [f"--define={n}={v}" for n, v in model.config.items()]
    subprocess.run(["anec", program, *defines, f"--weights={weights}", "-o",
                    package], check=True)
    arguments = {**model.arguments, "loss_scale": numpy.float32(scale)}
    inputs = []
    for name, array in arguments.items():
        dtype = numpy.int32 if array.dtype.kind == "i" else (
            numpy.float32 if name == "loss_scale" else numpy.float16)
        numpy.save(folder / f"{name}.npy", array.astype(dtype))
        inputs.append(f"--input={name}={folder / name}.npy")
    subprocess.run(["ane-run", package, f"--numerics={numerics}", *inputs,
                    f"--output-dir={output}", f"--gradients={output / 'gradients'}"],
                   check=True, capture_output=True)
    gradients = {name: numpy.load(output / "gradients" / f"{stored(name)}.npy")
                 for name in model.parameters}
    return numpy.load(output / "output.npy"), {n: g / scale
                                               for n, g in gradients.items()}


def compare(what, loss, result, model, wanted, tolerance):
    expected = model.loss({n: a.astype(complex)
                           for n, a in model.parameters.items()}).real
    bad = abs(loss - expected) > tolerance * abs(expected)
    if bad:
        print(f"{what}: the loss is {loss}, not {expected}")
    if sorted(result) != sorted(wanted):
        sys.exit(f"{what}: gradients of {sorted(result)}, not of "
                 f"{sorted(wanted)}")
    worst = 0
    norms = {n: numpy.linalg.norm(g) for n, g in wanted.items()}
    largest = max(norms.values())
    for name, gradient in wanted.items():
        # Some are zero but for rounding: a bias of keys moves no softmax.
        vanishes = norms[name] < 1e-12 * largest
        error = (numpy.linalg.norm(result[name] - gradient)
                 / (largest if vanishes else norms[name]))
        worst = max(worst, error)
        if not error <= tolerance:
            print(f"{what}: the gradient of {name} is off by {error:.2e}")
            bad = True
    print(f"{what}: {len(wanted)} gradients, off by at most {worst:.1e}")
    return not bad


def main(name, variant, examples, work, *settings):
    config = {n: int(v) for n, v in (s.split("=") for s in settings)}
    model = MODELS[name](examples, variant.split("+"), config)
    wanted = gradients(model)
    folder = pathlib.Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    halves, singles = folder / "halves.tdsl", folder / "singles.tdsl"
    halves.write_text(model.source())
    singles.write_text(model.source().replace("fp16", "fp32"))
    ok = compare("double", *run(model, singles, folder / "double", 1), model,
                 wanted, DOUBLE)
    ok &= compare("fp16", *run(model, halves, folder / "half", LOSS_SCALE,
                               "--round"), model, wanted, HALF)
    # The package's tables and factors are fp16 whatever it is computed in.
    global constant
    constant = lambda x: x.astype(numpy.float16).astype(float)
    wanted = gradients(model)
    for numerics, tolerance in (("fp32", SINGLE), ("fp16", HALF)):
        ok &= compare(f"package in {numerics}",
                      *run_package(model, halves, folder / "package",
                                   LOSS_SCALE, numerics),
                      model, wanted, tolerance)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
