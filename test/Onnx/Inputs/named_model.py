#!/usr/bin/env python3
"""Writes models whose inputs and outputs have names that MIL does not have."""
import pathlib

import numpy
from onnx_writer import Graph


def write(name, inputs):
    graph = Graph()
    values = [graph.input(one, numpy.float32, [2]) for one in inputs]
    total = values[0]
    for value in values[1:]:
        total = graph.op("Add", total, value)
    result = graph.op("Relu", total, outputs=["out:0"])
    graph.output(result, numpy.float32, [2])
    pathlib.Path(name).write_bytes(graph.model())


write("named.onnx", ["input.1"])
write("alike.onnx", ["a.0", "a:0", "b"])
# A terminal obeys the first, and a CI service what is on a line of its own.
write("control.onnx", ["\x1b[2Jx\n::error::y"])
numpy.save("x.npy", numpy.array([-1, 2], numpy.float32))
