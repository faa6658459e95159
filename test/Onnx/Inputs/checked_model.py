#!/usr/bin/env python3
"""checked_model.py FILE.onnx: a norm, and a transpose of six axes."""
import pathlib
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from onnx_writer import Graph

graph = Graph()
x = graph.input("x", "float32", (1, 4, 64))
ones = numpy.ones(64, "float32")
normed = graph.op("LayerNormalization", x, ones * 2, ones)
parts = graph.op("Reshape", normed, numpy.array([2, 2, 2, 4, 2, 4]))
moved = graph.op("Transpose", parts, perm=[0, 2, 4, 1, 3, 5])
graph.op("Reshape", moved, numpy.array([1, 4, 64]), outputs=["y"])
graph.output("y", "float32", (1, 4, 64))
graph.save(sys.argv[1], 17)
