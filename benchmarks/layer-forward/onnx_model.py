"""The layer as an ONNX graph of primitive operators, weights as initializers."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import layer
from layer import DIM, EPSILON, HEADS, HEAD_DIM, SEQ


class Graph:
    def __init__(self):
        self.nodes, self.initializers, self.count = [], [], 0

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(
            numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def scalar(self, value):
        return self.constant(np.float32(value))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"t{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(
            helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names


def rms_norm(g, x, gain):
    mean = g.op("ReduceMean", g.op("Mul", x, x), axes=[-1], keepdims=1)
    root = g.op("Sqrt", g.op("Add", mean, g.scalar(EPSILON)))
    return g.op("Mul", g.op("Div", x, root), g.constant(gain))


def linear(g, x, matrix):
    return g.op("MatMul", x, g.constant(matrix.T))


def build(w):
    g = Graph()
    cosine, sine = (g.constant(a.astype(np.float32)[None, None])
                    for a in layer.angles())
    mask = g.constant(np.triu(np.full((SEQ, SEQ), -3e4, np.float32), 1))
    per_head = g.constant(np.array([1, SEQ, HEADS, HEAD_DIM]))
    together = g.constant(np.array([1, SEQ, DIM]))
    halves = g.constant(np.array([HEAD_DIM // 2] * 2))

    def heads(x):
        return g.op("Transpose", g.op("Reshape", x, per_head),
                    perm=[0, 2, 1, 3])

    def turned(x):
        a, b = g.op("Split", x, halves, outputs=2, axis=-1)
        first = g.op("Sub", g.op("Mul", a, cosine), g.op("Mul", b, sine))
        second = g.op("Add", g.op("Mul", b, cosine), g.op("Mul", a, sine))
        return g.op("Concat", first, second, axis=-1)

    x = "x"
    h = rms_norm(g, x, w["attention.norm"])
    q = turned(heads(linear(g, h, layer.halves_first(w["attention.wq"]))))
    k = turned(heads(linear(g, h, layer.halves_first(w["attention.wk"]))))
    v = heads(linear(g, h, w["attention.wv"]))
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Mul", scores, g.scalar(1 / np.sqrt(HEAD_DIM)))
    probabilities = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
    mixed = g.op("Transpose", g.op("MatMul", probabilities, v),
                 perm=[0, 2, 1, 3])
    x = g.op("Add", x, linear(g, g.op("Reshape", mixed, together),
                              w["attention.wo"]))
    h = rms_norm(g, x, w["feed_forward.norm"])
    gate = linear(g, h, w["feed_forward.w1"])
    up = linear(g, h, w["feed_forward.w3"])
    silu = g.op("Mul", gate, g.op("Sigmoid", gate))
    x = g.op("Add", x, linear(g, g.op("Mul", silu, up),
                              w["feed_forward.w2"]))
    g.nodes.append(helper.make_node("Identity", [x], ["y"]))
    return g


def write(path, w):
    g = build(w)
    shape = [1, SEQ, DIM]
    graph = helper.make_graph(
        g.nodes, "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        g.initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)
