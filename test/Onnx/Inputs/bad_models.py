#!/usr/bin/env python3
"""Writes models with one mistake each, and one without, to a folder.
usage: bad_models.py FOLDER"""
import os
import pathlib
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import onnx_messages
from onnx_writer import Graph


def graph(*dims):
    """A graph with the input `x`."""
    made = Graph()
    made.input("x", numpy.float32, dims or (2, 3))
    return made


def finish(made, value):
    made.nodes[-1]["output"] = ["y"]
    made.output("y", numpy.float32)
    return made


def relu(*dims):
    made = graph(*dims)
    return finish(made, made.op("Relu", "x"))


def changed(made, opset=13, **fields):
    """The bytes of the model with other fields."""
    message = {"ir_version": 8, "graph": made.message(),
               "opset_import": [{"domain": "", "version": opset}]}
    message.update(fields)
    return onnx_messages.write("Model", {name: value for name, value
                                         in message.items()
                                         if value is not None})


def with_tensor(**fields):
    """A model that adds a tensor with other fields."""
    made = graph()
    made.op("Add", "x", "w")
    finish(made, None)
    tensor = {"name": "w", "dims": [3], "data_type": 1,
              "raw_data": bytes(12)}
    tensor.update(fields)
    made.initializers.append({name: value for name, value in tensor.items()
                              if value is not None})
    return changed(made)


def external(location, **entries):
    return with_tensor(raw_data=None, data_location=1, external_data=[
        {"key": "location", "value": location},
        *({"key": key, "value": value} for key, value in entries.items())])


def recursive():
    """A function that calls itself."""
    made = graph()
    made.op("Again", "x", domain="own")
    finish(made, None)
    call = {"op_type": "Again", "domain": "own", "input": ["a"],
            "output": ["b"]}
    return changed(made, functions=[
        {"name": "Again", "domain": "own", "input": ["a"], "output": ["b"],
         "node": [call], "opset_import": [{"domain": "own", "version": 1}]}],
        opset_import=[{"domain": "", "version": 13},
                      {"domain": "own", "version": 1}])


def models():
    yield "good", changed(relu())
    yield "cut", changed(relu())[:-9]
    yield "text", b"no model at all, but a text"
    yield "empty", b""
    yield "no-graph", changed(relu(), graph=None)
    yield "no-opset", changed(relu(), opset_import=[])
    yield "new-opset", changed(relu(), opset=99)
    sparse = relu().message()
    sparse["sparse_initializer"] = [{}]
    yield "sparse", changed(relu(), graph=sparse)
    yield "strings", with_tensor(data_type=8)
    yield "negative", with_tensor(dims=[-3])
    yield "huge", with_tensor(dims=[1 << 40, 1 << 40])
    yield "short", with_tensor(dims=[4])
    yield "escape", external("../weights.bin")
    yield "absolute", external("/etc/hostname")
    yield "link", external("link.bin")
    yield "missing", external("missing.bin")
    yield "far", external("weights.bin", offset="8")
    yield "overflow", external("weights.bin", offset=str(2**64 - 4))
    yield "beside", external("weights.bin", offset="4", length="12")
    yield "int64", with_tensor(
        data_type=7, raw_data=numpy.array([1, 2, 1 << 40]).tobytes())
    kind = relu()
    kind.inputs[0]["type"] = {"sequence": b""}
    yield "sequence", changed(kind)
    yield "symbolic", changed(relu("batch", 3))
    rank = relu()
    del rank.inputs[0]["type"]["tensor"]["shape"]
    yield "no-shape", changed(rank)
    made = graph()
    made.op("Relu", "nothing", name="first")
    yield "no-value", changed(finish(made, None))
    made = graph()
    made.op("Relu", "t1")
    made.op("Relu", "t0")
    yield "cycle", changed(finish(made, None))
    twice = relu()
    twice.nodes.append(dict(twice.nodes[0], name="second"))
    yield "twice", changed(twice)
    none = relu()
    none.outputs = []
    yield "no-outputs", changed(none)
    made = graph()
    made.op("RandomNormalLike", "x", name="noise")
    yield "unsupported", changed(finish(made, None))
    for name, op, domain in (
            ("unknown", "Frobnicate", "com.example"), ("unknown-own", "Frobnicate", ""),
            ("unknown-micro", "Frobnicate", "com.microsoft"),
            ("refused-micro", "BeamSearch", "com.microsoft"),
            ("refused-layout", "Conv", "com.microsoft.nchwc"),
            ("refused-tree", "TreeEnsembleRegressor", "ai.onnx.ml"),
            ("refused-training", "Adam", "ai.onnx.preview.training"),
            ("simplified", "SimplifiedLayerNormalization", "")):
        made = graph()
        made.op(op, "x", domain=domain, name="it")
        yield name, changed(finish(made, None))
    made = graph()
    made.op("Gelu", "x", domain="com.microsoft", name="it", approximate="tanh")
    yield "attribute-micro", changed(finish(made, None))
    made = graph()
    made.op("Transpose", "x", perm=[0, 0], name="turn")
    yield "node", changed(finish(made, None))
    made = graph()
    made.op("Reshape", "x", made.op("Cast", "x", to=7), name="shape")
    yield "constant", changed(finish(made, None))
    made = graph()
    made.input("shape", numpy.int64, [2])
    made.op("Reshape", "x", "shape")
    yield "bound", changed(finish(made, None))
    made = graph()
    ones = made.op("ConstantOfShape", numpy.array([1 << 21]),
                   value=numpy.array([1]))
    made.op("Reshape", "x", made.op("Slice", ones, numpy.array([0]),
                                    numpy.array([2])), name="large")
    yield "large", changed(finish(made, None))
    made = graph()
    made.op("Concat", "x", "x", axis=5, name="join")
    yield "axis", changed(finish(made, None))
    made = graph(2, 3)
    made.op("MatMul", "x", "x", name="product")
    yield "product", changed(finish(made, None))
    yield "recursive", recursive()
    yield from attributes()


def node(name, op, opset, *more, **given):
    """A model of one node with `more` inputs."""
    made = graph(1, 1, 4, 4)
    made.op(op, "x", *more, name="it", **given)
    return name, changed(finish(made, None), opset=opset)


def attributes():
    """Models with attributes that the operator does not have, or not so."""
    weight = numpy.ones([1, 1, 3, 3], numpy.float32)
    yield node("attribute", "Conv", 13, weight, padding_mode="reflect")
    yield node("attribute-of-later", "MaxPool", 9, kernel_shape=[2, 2], ceil_mode=1)
    yield node("attribute-type", "Softmax", 13, axis=1.0)
    yield node("attribute-unread", "LayerNormalization", 17, weight[0, 0, 0, :1], stash_type=11)
    yield node("attribute-default", "LayerNormalization", 17,
               numpy.ones([4], numpy.float32), stash_type=1)
    yield node("attribute-choice", "Pad", 13, numpy.zeros([8], numpy.int64), mode="wrap")
    yield node("inputs", "Relu", 13, "x")
    yield node("kernel", "Conv", 13, weight, kernel_shape=[2, 2])
    yield node("between", "MaxPool", 13, kernel_shape=[1, 1], strides=[4, 4],
               auto_pad="SAME_UPPER")
    yield node("old", "Concat", 1, axis=1)
    yield node("new", "Mish", 13)
    made = graph()
    made.op("Relu", "x", name="it")
    made.op("Elu", "t0", name="again", alpha=1.0)
    made.nodes[-1]["attribute"] *= 2
    yield "attribute-twice", changed(finish(made, None))


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    for name, model in models():
        (folder / f"{name}.onnx").write_bytes(model)
    weights = numpy.array([0, 1, 2, 3], numpy.float32).tobytes()
    (folder / "weights.bin").write_bytes(weights)
    inner = folder / "inner"
    inner.mkdir()
    (inner / "weights.bin").write_bytes(weights)
    for name, location in (("outside", "../weights.bin"),
                           ("around", "../inner/weights.bin")):
        (inner / f"{name}.onnx").write_bytes(external(location, length="12"))
    (folder / "below.onnx").write_bytes(external("inner/weights.bin", length="12"))
    os.symlink("weights.bin", folder / "link.bin")
    numpy.save(folder / "x.npy", numpy.arange(6, dtype=numpy.float32)
               .reshape(2, 3) - 2)
    numpy.save(folder / "shape.npy", numpy.array([3, 2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
