"""Writes ONNX models without the package onnx: the few messages and fields that
a graph of nodes with constants needs."""

import struct

import numpy as np

ELEMENTS = {"float32": 1, "int32": 6, "int64": 7, "bool": 9}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def blob(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def real(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def tensor(name, array):
    return (b"".join(number(1, extent) for extent in array.shape) +
            number(2, ELEMENTS[array.dtype.name]) + blob(8, name) +
            blob(9, np.ascontiguousarray(array).tobytes()))


def attribute(name, value):
    """An AttributeProto: a number, a text, or a list of integers or floats."""
    head = blob(1, name)
    if isinstance(value, float):
        return head + real(2, value) + number(20, 1)
    if isinstance(value, int):
        return head + number(3, value) + number(20, 2)
    if isinstance(value, str):
        return head + blob(4, value) + number(20, 3)
    if all(isinstance(element, int) for element in value):
        return head + b"".join(number(8, v) for v in value) + number(20, 7)
    return head + b"".join(real(7, v) for v in value) + number(20, 6)


def value_info(name, element, shape):
    dims = b"".join(blob(1, number(1, extent)) for extent in shape)
    return blob(1, name) + blob(
        2, blob(1, number(1, ELEMENTS[element]) + blob(2, dims)))


class Graph:
    """Nodes in the order they run. Operands of a node are names of values, or
    arrays, which become constants; `None` is an operand that is left out."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def operand(self, value):
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        name = f"constant{len(self.constants)}"
        self.constants.append(tensor(name, np.asarray(value)))
        return name

    def node(self, kind, operands, results, attributes):
        self.nodes.append(
            b"".join(blob(1, self.operand(each)) for each in operands) +
            b"".join(blob(2, name) for name in results) + blob(4, kind) +
            b"".join(blob(5, attribute(*each))
                     for each in attributes.items()))

    def model(self, inputs, outputs, opset=20):
        """The bytes of a model; ports are {name: (element type, shape)}."""
        graph = (b"".join(blob(1, node) for node in self.nodes) +
                 blob(2, "op") + b"".join(blob(5, c) for c in self.constants) +
                 b"".join(blob(11, value_info(name, *port))
                          for name, port in inputs.items()) +
                 b"".join(blob(12, value_info(name, *port))
                          for name, port in outputs.items()))
        return number(1, 9) + blob(7, graph) + blob(8, number(2, opset))
