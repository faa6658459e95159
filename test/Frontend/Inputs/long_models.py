"""Models that no program can be written of: none.onnx, without inputs; long.onnx, with tables
of integers that are too long together; table.onnx, with one that is too long."""
import pathlib
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Onnx/Inputs"))
import onnx_writer

graph = onnx_writer.Graph()
graph.constant(numpy.float32([1, 2, 3]), "a")
graph.op("Identity", "a", outputs=["y"])
graph.output("y", numpy.float32, [3])
graph.save("none.onnx")
for name, tables, count in (("long", 4, 60000), ("table", 1, 70000)):
    graph = onnx_writer.Graph()
    graph.input("x", numpy.float32, [80000])
    outputs = []
    for index in range(tables):
        table = "table" if tables == 1 else f"table{index}"
        graph.constant(numpy.int64(numpy.arange(count)[::-1] + index), table)
        graph.op("Gather", "x", table, outputs=[f"y{index}"])
        graph.output(f"y{index}", numpy.float32, [count])
    graph.save(f"{name}.onnx")
