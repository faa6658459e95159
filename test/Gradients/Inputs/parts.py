"""The parts of models, written down with numpy for complex numbers, and what the
models have in common."""
import pathlib
import sys

import numpy


# Channels are the last axis but one.

def rmsnorm(x, gamma, eps):
    square = (x * x).mean(axis=-2, keepdims=True)
    return x / numpy.sqrt(square + eps) * gamma[:, None]


def layer_norm(x, gamma, beta, eps):
    centred = x - x.mean(axis=-2, keepdims=True)
    variance = (centred * centred).mean(axis=-2, keepdims=True)
    return centred / numpy.sqrt(variance + eps) * gamma[:, None] + beta[:, None]


def unit(x, eps):
    return x / numpy.sqrt((x * x).sum(axis=0) + eps)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def silu(x):
    return x * sigmoid(x)


def softplus(x):
    return numpy.log(1 + numpy.exp(x))


# Of Abramowitz and Stegun 7.1.6: erf(x) = 2 / sqrt(pi) * exp(-x^2) *
# sum of 2^n x^(2n+1) / (2n+1)!!, which converges everywhere and takes complex
# numbers.
def erf(x):
    term, total = x, x
    for n in range(1, 50):
        term = term * 2 * x * x / (2 * n + 1)
        total = total + term
    return 2 / numpy.sqrt(numpy.pi) * numpy.exp(-x * x) * total


def gelu(x):
    return x / 2 * (1 + erf(x / numpy.sqrt(2)))


def gelu_tanh(x):
    return x / 2 * (1 + numpy.tanh(
        numpy.sqrt(2 / numpy.pi) * (x + 0.044715 * x ** 3)))


def relu(x):
    return numpy.where(x.real > 0, x, 0)


def softmax(x):
    e = numpy.exp(x - x.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Constants:
    """Whether a program's tables are fp16, as those of packages are, whatever the rest is
    computed in. Single numbers are exact in fp32."""
    rounded = False
    inexact = False  # whether rounding changes one


def table(x):
    """A table that is part of a program."""
    half = numpy.asarray(x).astype(numpy.float16).astype(float)
    Constants.inexact |= bool((half != x).any())
    return half if Constants.rounded else x


def single(x):
    """A number next to a tensor of fp32."""
    return numpy.asarray(x).astype(numpy.float32).astype(float)


def mean(x, axes):
    count = numpy.prod([x.shape[axis] for axis in axes], dtype=float)
    return x.sum(axis=axes) / count


def rope(x, theta=10000.0, halves=False):
    """Of one head [width, positions]: pairs (2i, 2i + 1) turn, or pairs
    (i, i + width / 2)."""
    width, positions = x.shape
    angle = numpy.outer(theta ** (-numpy.arange(0, width, 2) / width),
                        numpy.arange(positions))
    out = numpy.empty_like(x)
    cos, sin = table(numpy.cos(angle)), table(numpy.sin(angle))
    half = width // 2
    one, other = ((slice(0, half), slice(half, width)) if halves else
                  (slice(0, width, 2), slice(1, width, 2)))
    out[one] = x[one] * cos - x[other] * sin
    out[other] = x[one] * sin + x[other] * cos
    return out


def attend(q, k, v, causal=False):
    """Of [heads, width, positions]."""
    scores = q.swapaxes(1, 2) @ k / numpy.sqrt(q.shape[1])
    if causal:
        scores = numpy.where(numpy.tril(numpy.ones(scores.shape[1:])), scores,
                             -numpy.inf)
    return v @ softmax(scores).swapaxes(1, 2)


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
        scores = mine.T @ its / numpy.sqrt(width)
        out.append(value @ softmax(scores + mask).T)
    return numpy.concatenate(out)


def cross_entropy(logits, targets):
    top = logits.real.max(axis=0)
    logs = top + numpy.log(numpy.exp(logits - top).sum(axis=0))
    return (logs - logits[targets, numpy.arange(len(targets))]).mean()


def conv(x, weight, bias=None, stride=1, before=0, after=0):
    """Of [images, channels, rows, columns], with zeros around them."""
    rows, columns = weight.shape[2:]
    padded = numpy.pad(x, [(0, 0), (0, 0), (before, after), (before, after)])
    windows = numpy.lib.stride_tricks.sliding_window_view(
        padded, (rows, columns), axis=(2, 3))[:, :, ::stride, ::stride]
    y = numpy.tensordot(windows, weight, axes=([1, 4, 5], [1, 2, 3]))
    y = y.transpose(0, 3, 1, 2)
    return y if bias is None else y + bias[:, None, None]


def conv_same(x, weight, bias=None):
    """With an odd kernel."""
    return conv(x, weight, bias, 1, weight.shape[2] // 2, weight.shape[2] // 2)


def instance_norm(x, gamma, beta, eps, axes=(2, 3)):
    centred = x - x.mean(axis=axes, keepdims=True)
    variance = (centred * centred).mean(axis=axes, keepdims=True)
    return (centred / numpy.sqrt(variance + eps) * gamma[:, None, None]
            + beta[:, None, None])


def blocks(x):
    """The 2 x 2 elements of each block, along a last axis."""
    n, c, rows, columns = x.shape
    x = x.reshape(n, c, rows // 2, 2, columns // 2, 2)
    return x.transpose(0, 1, 2, 4, 3, 5).reshape(n, c, rows // 2, columns // 2, 4)


def max_pool(x):
    x = blocks(x)
    best = x.real.argmax(axis=-1)[..., None]
    return numpy.take_along_axis(x, best, axis=-1)[..., 0]


def avg_pool(x):
    return blocks(x).mean(axis=-1)


def mean_square(x, y):
    return ((x - y) ** 2).mean()


class Model:
    """A program, its parameters by name, its arguments, and its loss."""
    HALF = 2e-2  # how far gradients may be off when every op rounds to fp16
    SEED = 7

    def __init__(self, examples, variant, config):
        self.examples, self.variant = pathlib.Path(examples), variant
        self.config = {**self.CONFIG, **config}
        for name, value in self.config.items():
            setattr(self, name, value)
        self.random = numpy.random.default_rng(self.SEED)
        self.parameters, self.arguments = {}, {}

    @staticmethod
    def is_frozen(name):
        return False

    def weight(self, name, *shape):
        scale = 1 / numpy.sqrt(shape[1:] and numpy.prod(shape[1:]) or 100)
        centre = 1 if "gamma" in name or "norm" in name else 0
        array = centre + scale * self.random.standard_normal(shape)
        self.parameters[name] = self.rounded(array)

    @staticmethod
    def rounded(array):
        return array.astype(numpy.float16).astype(float)

    def layer(self, name, count=None, **shapes):
        """Weights of a layer, or of each of its instances."""
        for i in range(count) if count else [None]:
            for weight, shape in shapes.items():
                self.weight(f"{name}.{weight}" + ("" if i is None else f".{i}"),
                            *shape)

    @staticmethod
    def weights(p, name, instance=None):
        """Those of a layer, by their names in it."""
        words = {n: n.split(".") for n in p}
        return {words[n][1]: array for n, array in p.items()
                if words[n][0] == name and (instance is None
                                            or words[n][2] == str(instance))}

    def data(self, name, *shape):
        array = self.random.standard_normal(shape)
        self.arguments[name] = self.rounded(array)

    def indices(self, name, count, *shape):
        self.arguments[name] = self.random.integers(0, count, shape)

    def tokens(self):
        self.indices("tokens", self.vocab, self.seq)
        self.indices("targets", self.vocab, self.seq)

    def images(self, *shape):
        self.data("images", *shape)
        self.indices("labels", self.classes, self.batch)

    def source(self):
        text = (self.examples / self.FILE).read_text()
        for old, new in self.edits():
            if old not in text:
                sys.exit(f"{self.FILE} has no {old!r}")
            text = text.replace(old, new)
        return text

    def edits(self):
        return []


