#!/usr/bin/env python3
"""Runs branches, loops and sequences that constants and shapes decide with ane-run in
fp32, and compares them with numbers by hand.

usage: run_control.py ANE_RUN FOLDER"""
import pathlib
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from onnx_writer import Graph

FLOAT, INT, BOOL = numpy.float32, numpy.int64, numpy.bool_


def number(value):
    return numpy.array(value, INT)


def loop_body(prefix, take):
    """A body that carries `v`: `take` adds its nodes, and gives the next condition, the
    next value, and what is collected."""
    body = Graph("body", prefix)
    names = [f"{prefix}{name}" for name in ("turn", "goes_on", "v")]
    for name, type in zip(names, (INT, BOOL, FLOAT)):
        body.input(name, type, None if name.endswith("v") else [])
    for output in take(body, *names):
        body.output(output, FLOAT)
    return body


def counted(graph, x):
    """for turn in range(3): v = v + x; collect v"""
    def take(body, turn, goes_on, v):
        total = body.op("Add", v, x)
        return body.op("Identity", goes_on), total, body.op("Identity", total)
    return graph.op("Loop", number(3), None, x, outputs=2, body=loop_body("b", take))


def until(graph, x):
    """The body says when it ends: after the turn 2."""
    def take(body, turn, goes_on, v):
        return body.op("Less", turn, number(2)), body.op("Mul", v, numpy.array(2, FLOAT))
    return [graph.op("Loop", None, numpy.array(True), x, body=loop_body("b", take))]


def never(graph, x):
    def take(body, turn, goes_on, v):
        return body.op("Identity", goes_on), body.op("Neg", v)
    return [graph.op("Loop", number(5), numpy.array(False), x, body=loop_body("b", take))]


def nested(graph, x):
    """A loop in a loop, as often as the turn of the outer one."""
    def outer(body, turn, goes_on, v):
        def inner(deeper, turn, goes_on, v):
            return deeper.op("Identity", goes_on), deeper.op("Add", v, x)
        return (body.op("Identity", goes_on),
                body.op("Loop", turn, None, v, body=loop_body("i", inner)))
    return [graph.op("Loop", number(4), None, x, body=loop_body("o", outer))]


def scanned(graph, x):
    """Sums of the columns of [[1, 2, 3], [4, 5, 6]] from the end."""
    body = Graph("body", "s")
    body.input("sum", FLOAT, [2])
    body.input("column", FLOAT, [2])
    body.output(body.op("Add", "sum", "column", outputs=["next"]), FLOAT)
    body.output(body.op("Identity", "next"), FLOAT)
    rows = numpy.array([[1, 2, 3], [4, 5, 6]], FLOAT)
    start = graph.op("Slice", x, number([0]), number([2]))
    return graph.op("Scan", start, rows, outputs=2, body=body, num_scan_inputs=1,
                    scan_input_axes=[1], scan_input_directions=[1], scan_output_axes=[-1])


def sequences(graph, x):
    parts = graph.op("SplitToSequence", x, axis=0, keepdims=0)
    parts = graph.op("SequenceInsert", parts, numpy.array(9, FLOAT), number(1))
    parts = graph.op("SequenceErase", parts, number(-1))
    one = graph.op("SequenceAt", parts, number(-2))
    return [graph.op("ConcatFromSequence", parts, axis=0, new_axis=1), one,
            graph.op("SequenceLength", parts)]


def filled(graph, x):
    """A sequence that a loop fills."""
    body = Graph("body", "f")
    for name in ("turn", "goes_on", "list"):
        body.input(name, INT, [])
    body.output(body.op("Identity", "goes_on"), BOOL)
    body.output(body.op("SequenceInsert", "list", body.op("Gather", x, "turn")), FLOAT)
    full = graph.op("Loop", number(3), None, graph.op("SequenceEmpty"), body=body)
    half = Graph("body", "h")
    half.input("element", FLOAT, [])
    half.output(half.op("Mul", "element", numpy.array(0.5, FLOAT)), FLOAT)
    halves = graph.op("SequenceMap", full, body=half)
    return [graph.op("ConcatFromSequence", halves, axis=0, new_axis=1)]


def optionals(graph, x):
    def either(name, *inputs):
        yes, no = Graph("yes", "y" + name), Graph("no", "n" + name)
        yes.output(yes.op("OptionalGetElement", *inputs) if inputs else
                   yes.op("Relu", x), FLOAT)
        no.output(no.op("Neg", x), FLOAT)
        has = graph.op("OptionalHasElement", *inputs)
        return graph.op("If", has, then_branch=yes, else_branch=no)
    return [either("a", graph.op("Optional", x)), either("b")]


def chosen(graph, x):
    """The branch that is not taken multiplies matrices that do not fit."""
    yes, no = Graph("yes", "y"), Graph("no", "n")
    yes.output(yes.op("Mul", x, numpy.array(2, FLOAT)), FLOAT)
    no.output(no.op("MatMul", x, numpy.ones((5, 5), FLOAT)), FLOAT)
    graph.input("rate", INT, [])
    is_known = graph.op("Equal", "rate", number(16000))
    return [graph.op("If", is_known, then_branch=yes, else_branch=no)]


def gathered(graph, x):
    """Values say when it ends, and so how long is what is collected."""
    def take(body, turn, goes_on, v):
        twice = body.op("Mul", v, numpy.array(2, FLOAT))
        total = body.op("ReduceSum", twice, keepdims=0)
        return (body.op("Less", total, numpy.array(20, FLOAT)), twice,
                body.op("Identity", twice))
    return graph.op("Loop", number(9), numpy.array(True), x, outputs=2,
                    body=loop_body("b", take))


def boxes(graph, x):
    """As many boxes as there are: exporters write the largest number for it."""
    places = numpy.array([[[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]]], FLOAT)
    graph.input("most", INT, [1])
    scores = graph.op("Reshape", x, number([1, 1, 3]))
    return [graph.op("NonMaxSuppression", places, scores, "most",
                     numpy.array([0.5], FLOAT))]


# name, nodes, the right outputs for x = [1, 2, 3], flags and other inputs
CASES = [
    (counted, [[4, 8, 12], [[2, 4, 6], [3, 6, 9], [4, 8, 12]]], []),
    (until, [[8, 16, 24]], []),
    (never, [[1, 2, 3]], []),
    (nested, [[7, 14, 21]], []),
    (scanned, [[7, 17], [[4, 6, 7], [8, 13, 17]]], []),
    (sequences, [[1, 9, 2], 9, 3], []),
    (filled, [[0.5, 1, 1.5]], []),
    (optionals, [[1, 2, 3], [-1, -2, -3]], []),
    (chosen, [[2, 4, 6]], ["--fix=rate=16000"]),
    (chosen, [[2, 4, 6]], ["--input=rate=rate.npy"]),
    (gathered, [[4, 8, 12], [[2, 4, 6], [4, 8, 12]]], []),
    (boxes, [[[0, 0, 2], [0, 0, 1]]], ["--input=most=most.npy"]),
]


def main():
    ane_run, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)
    numpy.save(folder / "x.npy", numpy.array([1, 2, 3], FLOAT))
    numpy.save(folder / "rate.npy", number(16000))
    numpy.save(folder / "most.npy", number([2 ** 63 - 1]))
    wrong = 0
    for index, (build, right, flags) in enumerate(CASES):
        graph = Graph()
        graph.input("x", FLOAT, [3])
        outputs = list(build(graph, "x"))
        for output in outputs:
            graph.output(output, FLOAT)
        graph.save(folder / f"{build.__name__}.onnx", opset=18)
        run = subprocess.run(
            [ane_run, f"{build.__name__}.onnx", "--numerics=fp32", "--input=x=x.npy",
             f"--output-dir={index}", *flags],
            cwd=folder, capture_output=True, text=True)
        found = None
        if run.returncode == 0:
            found = [numpy.load(folder / str(index) / f"{name}.npy") for name in outputs]
        if found is None or not all(
                numpy.array_equal(a, numpy.array(b)) for a, b in zip(found, right)):
            wrong += 1
            print(build.__name__, flags, found, right, run.stderr, sep="\n")
    print(len(CASES), "runs,", wrong, "wrong")


main()
