"""ONNX models of reshapes, transposes, lookups and masks, as exporters write them:
values of more than five axes, negative indices, bools, scalars."""
import random

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


class Graph:
    """A model that is built node by node; values know their shapes."""

    def __init__(self):
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.count = 0

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def input(self, name, shape, kind=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, array, stem="c"):
        name = self.name(stem)
        self.constants.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def node(self, kind, *operands, results=1, **attributes):
        names = [self.name("v") for _ in range(results)]
        self.nodes.append(helper.make_node(kind, list(operands), names, **attributes))
        return names[0] if results == 1 else names

    def reshape(self, value, shape):
        return self.node("Reshape", value, self.constant(numpy.array(shape, numpy.int64)))

    def model(self, value, shape, kind=FLOAT):
        result = self.node("Identity", value)
        self.outputs.append(helper.make_tensor_value_info(result, kind, shape))
        graph = helper.make_graph(self.nodes, "g", self.inputs, self.outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                 ir_version=8)


def pixel_shuffle():
    g = Graph()
    x = g.reshape(g.input("x", [1, 8, 4, 6]), [1, 2, 2, 2, 4, 6])
    return g.model(g.reshape(g.node("Transpose", x, perm=[0, 1, 4, 2, 5, 3]), [1, 2, 8, 12]),
                   [1, 2, 8, 12])


def windows():
    """Shifted windows with a mask by window."""
    g = Graph()
    x = g.reshape(g.input("x", [1, 8, 8, 12]), [1, 2, 4, 2, 4, 12])
    x = g.reshape(g.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5]), [4, 16, 2, 6])
    q = g.node("Transpose", x, perm=[0, 2, 1, 3])
    k = g.node("Transpose", x, perm=[0, 2, 3, 1])
    scores = g.reshape(g.node("MatMul", q, k), [1, 4, 2, 16, 16])
    mask = numpy.where(numpy.arange(256).reshape(1, 1, 1, 16, 16) % 3 == 0, -100, 0)
    mask = numpy.repeat(mask, 4, 1).astype(numpy.float32)
    scores = g.reshape(g.node("Add", scores, g.constant(mask)), [4, 2, 16, 16])
    y = g.node("MatMul", g.node("Softmax", scores, axis=-1), q)
    y = g.reshape(g.node("Transpose", y, perm=[0, 2, 1, 3]), [1, 2, 2, 4, 4, 12])
    y = g.node("Transpose", y, perm=[0, 1, 3, 2, 4, 5])
    return g.model(g.reshape(y, [1, 8, 8, 12]), [1, 8, 8, 12])


def gather_negative():
    g = Graph()
    x, i = g.input("x", [5, 4]), g.input("i", [3], INT)
    return g.model(g.node("Gather", x, i, axis=0), [3, 4])


def gather_negative_constant():
    g = Graph()
    w = g.constant(numpy.arange(12, dtype=numpy.float32).reshape(3, 4), "w")
    x = g.node("Add", g.input("x", [3, 4]), w)
    return g.model(g.node("Gather", x, g.constant(numpy.array([-1, 0, -4])), axis=1), [3, 3])


def bool_gather():
    g = Graph()
    x, m = g.input("x", [2, 6]), g.input("m", [2, 6], INT)
    mask = g.node("Cast", m, to=BOOL)
    mask = g.node("Gather", mask, g.constant(numpy.array([0, 2, 4, 5])), axis=1)
    part = g.node("Gather", x, g.constant(numpy.array([0, 2, 4, 5])), axis=1)
    zero = g.constant(numpy.float32(0))
    return g.model(g.node("Where", mask, part, zero), [2, 4])


def mask_of_scalars():
    """A causal mask from positions, as exporters of language models write it."""
    g = Graph()
    x, n = g.input("x", [1, 2, 6, 6]), g.input("n", [1, 6], INT)
    rows = g.constant(numpy.arange(6).reshape(1, 1, 6, 1))
    columns = g.reshape(n, [1, 1, 1, 6])
    mask = g.node("GreaterOrEqual", rows, columns)
    low = g.constant(numpy.float32(-1e4))
    scores = g.node("Where", mask, g.constant(numpy.float32(0)), low)
    return g.model(g.node("Softmax", g.node("Add", x, scores), axis=-1), [1, 2, 6, 6])


def scalar_input():
    g = Graph()
    x, s = g.input("x", [3, 4]), g.input("s", [])
    return g.model(g.node("Mul", x, g.node("Exp", s)), [3, 4])


def pad_reflect_last():
    g = Graph()
    pads = g.constant(numpy.array([0, 0, 0, 2, 0, 0, 1, 3]))
    return g.model(g.node("Pad", g.input("x", [1, 2, 6, 8]), pads, mode="reflect"),
                   [1, 2, 7, 13])


def summed_biases():
    """What is added to products for each channel: before, after, subtracted, a scalar."""
    g = Graph()
    random = numpy.random.default_rng(1)

    def draw(*shape, stem="c"):
        return g.constant(random.standard_normal(shape).astype(numpy.float32), stem)

    x = g.node("Add", g.node("Conv", g.input("x", [1, 3, 9, 9]), draw(8, 3, 3, 3, stem="w")),
               draw(1, 8, 1, 1))
    x = g.node("Conv", g.node("Relu", x), draw(8, 1, 3, 3, stem="w"), group=8)
    x = g.node("Relu", g.node("Add", draw(8, 1, 1), x))
    x = g.node("Sub", g.node("ConvTranspose", x, draw(8, 4, 2, 2, stem="w"), strides=[2, 2]),
               draw(4, 1, 1))
    x = g.node("Add", g.node("Conv", g.node("Tanh", x), draw(6, 4, 1, 1, stem="w")),
               g.constant(numpy.float32(0.75)))
    x = g.reshape(g.node("Tanh", x), [1, 6, 100])
    x = g.node("Add", draw(1, 1, 7), g.node("MatMul", x, draw(100, 7, stem="w")))
    x = g.reshape(g.node("Relu", x), [6, 7])
    x = g.node("Gemm", x, draw(5, 7, stem="w"), draw(5), transB=1)
    return g.model(g.node("Sub", g.node("MatMul", x, draw(5, 4, stem="w")), draw(4)), [6, 4])


CASES = {one.__name__: one for one in (
    pixel_shuffle, windows, gather_negative, gather_negative_constant, bool_gather,
    mask_of_scalars, scalar_input, pad_reflect_last, summed_biases)}


# Random models.

def split(rng, count):
    """`count` as factors."""
    factors = []
    while count > 1:
        factor = next(p for p in (2, 3, 5, 7, count) if count % p == 0)
        factors.append(factor)
        count //= factor
    rng.shuffle(factors)
    while len(factors) > 7 or (len(factors) > 2 and rng.random() < 0.2):
        factors[:2] = [factors[0] * factors[1]]
    for _ in range(rng.randint(0, 2)):
        if len(factors) < 8:
            factors.insert(rng.randint(0, len(factors)), 1)
    return factors


class RandomGraph:
    def __init__(self, seed):
        self.rng, self.g = random.Random(seed), Graph()
        self.shape = [self.rng.choice((4, 6, 8)), self.rng.choice((4, 6, 9)),
                      self.rng.choice((4, 8, 10))]
        self.value = self.g.input("x", self.shape)

    def size(self):
        return int(numpy.prod(self.shape))

    def reshape(self):
        self.shape = split(self.rng, self.size()) or [1]
        self.value = self.g.reshape(self.value, self.shape)

    def transpose(self):
        perm = list(range(len(self.shape)))
        self.rng.shuffle(perm)
        self.value = self.g.node("Transpose", self.value, perm=perm)
        self.shape = [self.shape[axis] for axis in perm]

    def axis(self):
        return self.rng.randrange(len(self.shape))

    def gather(self):
        axis = self.axis()
        extent = self.shape[axis]
        indices = numpy.array([self.rng.randrange(-extent, extent) for _ in range(extent)])
        if self.rng.random() < 0.5 or extent < 2:  # Inputs are 0 and 1.
            indices = self.g.constant(indices)
        else:
            name = self.g.name("i")
            self.g.input(name, [extent], INT)
            indices = name
        self.value = self.g.node("Gather", self.value, indices, axis=axis)

    def select(self):
        zero = self.g.constant(numpy.float32(0))
        if self.rng.random() < 0.5:
            shape = [extent if self.rng.random() < 0.5 else 1 for extent in self.shape]
            table = numpy.arange(int(numpy.prod(shape))).reshape(shape) % 3 - 1.0
            zero = self.g.constant(table.astype(numpy.float32))
        mask = self.g.node("Greater", self.value, zero)
        if self.rng.random() < 0.5 and len(self.shape) < 6:
            indices = numpy.array([-1] + [0] * (self.shape[-1] - 1))
            mask = self.g.node("Gather", mask, self.g.constant(indices),
                               axis=len(self.shape) - 1)
        ones = self.g.node("Where", mask, self.g.constant(numpy.float32(1)),
                           self.g.constant(numpy.float32(-0.5)))
        self.value = self.g.node("Mul", self.value, ones)

    def broadcast(self):
        shape = [extent if self.rng.random() < 0.5 else 1 for extent in self.shape]
        w = numpy.linspace(-1, 1, int(numpy.prod(shape))).reshape(shape).astype(numpy.float32)
        self.value = self.g.node("Add", self.value, self.g.constant(w))

    def reduce(self):
        axis = self.axis()
        mean = self.g.node("ReduceMean", self.value, axes=[axis], keepdims=1)
        self.value = self.g.node("Sub", self.value, mean)

    def softmax(self):
        self.value = self.g.node("Softmax", self.value, axis=self.axis())

    def slice(self):
        axis = self.axis()
        if self.shape[axis] < 2:
            return
        low = self.rng.randrange(self.shape[axis] - 1)
        lists = [numpy.array([n]) for n in (low, self.shape[axis], axis)]
        cut = self.g.node("Slice", self.value, *map(self.g.constant, lists))
        lists = [numpy.array([n]) for n in (0, low, axis)]
        rest = self.g.node("Slice", self.value, *map(self.g.constant, lists)) if low else None
        self.value = self.g.node("Concat", cut, *([rest] if rest else []), axis=axis)

    def build(self):
        steps = [self.reshape, self.reshape, self.reshape, self.transpose, self.transpose,
                 self.transpose, self.gather, self.select, self.broadcast, self.reduce,
                 self.softmax, self.slice]
        for _ in range(self.rng.randint(4, 12)):
            self.rng.choice(steps)()
        shape = [self.size() // self.shape[-1], self.shape[-1]]
        return self.g.model(self.g.reshape(self.value, shape), shape)


def random_model(seed):
    return RandomGraph(seed).build()
