#!/usr/bin/env python3
"""large_lstm.py FOLDER: a Core ML package of a recurrent layer with more weights than
are computed when a model is read otherwise has the numbers of the layer."""
import pathlib
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from onnx_writer import Graph

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
draw = numpy.random.default_rng(1)
inputs, hidden = 1024, 257
x = draw.standard_normal((2, 1, inputs)).astype("float32")
w = (draw.standard_normal((1, 4 * hidden, inputs)) / 32).astype("float32")
r = (draw.standard_normal((1, 4 * hidden, hidden)) / 16).astype("float32")
b = draw.standard_normal((1, 8 * hidden)).astype("float32")
assert w.size > 1 << 20
graph = Graph()
graph.op("LSTM", graph.input("x", "float32", x.shape), w, r, b, outputs=["y"],
         hidden_size=hidden)
graph.output("y", "float32", (2, 1, 1, hidden))
graph.save(folder / "lstm.onnx", 17)

h = c = numpy.zeros(hidden)
right = []
for step in x[:, 0].astype("float64"):
    gates = w[0] @ step + r[0] @ h + b[0, :4 * hidden] + b[0, 4 * hidden:]
    i, o, f = (1 / (1 + numpy.exp(-gates[k * hidden:(k + 1) * hidden])) for k in range(3))
    c = f * c + i * numpy.tanh(gates[3 * hidden:])
    h = o * numpy.tanh(c)
    right.append(h)
numpy.save(folder / "x.npy", x)
for flags, limit in (["--precision=fp32"], 1e-5), ([], 1e-2):
    package = folder / "lstm.mlpackage"
    subprocess.run(["anec", folder / "lstm.onnx", "-o", package, *flags], check=True)
    subprocess.run(["ane-run", package, "--input", f"x={folder}/x.npy", "--output-dir",
                    folder], check=True, stdout=subprocess.DEVNULL)
    error = numpy.abs(numpy.load(folder / "y.npy").reshape(2, -1) - right).max()
    if not error <= limit:
        sys.exit(f"{flags}: off by {error:.3g}")
