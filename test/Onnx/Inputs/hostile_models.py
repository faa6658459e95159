#!/usr/bin/env python3
"""Small models that ask for much: each must end in 10 seconds and 1 GB of address space,
with the diagnostic that it is listed with, or be compiled.
usage: hostile_models.py ANEC FOLDER [NAME]"""
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent),
                 str(pathlib.Path(__file__).resolve().parents[2] / "Shell")]
import memory
from bad_models import changed, finish, graph

LARGE, MANY, NODE = "onnx-too-large", "onnx-too-many-ops", "onnx-node"


def ints(*values):
    return numpy.array(values, numpy.int64)


def node(op, *inputs, dims=(2, 3), opset=13, **attributes):
    """A model with one node, whose first input is `x`, if none is given."""
    made = graph(*dims)
    made.op(op, *(inputs or ("x",)), **attributes)
    return changed(finish(made, None), opset)


def empty(op, *inputs, shape=(1, 1, 0, 4), opset=13, **attributes):
    """The same for an input without elements, which only a constant can be."""
    return node(op, numpy.zeros(shape, numpy.float32), *inputs, opset=opset,
                **attributes)


def doubling(calls):
    """Functions that each call the next one twice."""
    made = graph()
    made.op("F0", "x", domain="own")
    finish(made, None)
    functions = []
    for number in range(calls):
        kind, domain = (f"F{number + 1}", "own") if number + 1 < calls else ("Relu", "")
        functions.append({
            "name": f"F{number}", "domain": "own", "input": ["a"], "output": ["c"],
            "node": [{"op_type": kind, "domain": domain, "input": [before],
                      "output": [after]} for before, after in ("ab", "bc")],
            "opset_import": [{"domain": "own", "version": 1},
                             {"domain": "", "version": 13}]})
    return changed(made, functions=functions,
                   opset_import=[{"domain": "", "version": 13},
                                 {"domain": "own", "version": 1}])


def tables(count, make):
    """Nodes that each compute a table."""
    made = graph(1 << 20)
    value = "x"
    for _ in range(count):
        value = made.op("Add", value, make(made))
    return changed(finish(made, None), 17)


def transforms(count):
    made = graph(1, 4096, 1)
    for _ in range(count):
        value = made.op("DFT", "x", axis=1)
    return changed(finish(made, value), 17)


def convolution():
    """Too much work to be done now."""
    made = graph(1, 1, 513, 513)
    ones = [numpy.ones((1, 1, extent, extent), numpy.float32) for extent in (32, 1)]
    wide = made.op("Expand", ones[1], ints(1, 1, 1024, 1024))
    narrow = made.op("Expand", ones[1], ints(1, 1, 512, 512))
    made.op("Add", "x", made.op("Conv", wide, narrow))
    return changed(finish(made, None))


MODELS = {
    # Tables of any size.
    "eye": (LARGE, lambda: node("EyeLike", dims=(1 << 20, 1 << 20))),
    "triangle": (LARGE, lambda: node("Trilu", dims=(1 << 20, 1 << 20), opset=14)),
    "range": (LARGE, lambda: node("Range", ints(0), ints(90000000), ints(1))),
    "pad": (LARGE, lambda: node("Pad", "x", ints(0, 0, 0, 1 << 30), mode="edge")),
    "window": (LARGE, lambda: node("HannWindow", ints(1 << 30), opset=17)),
    "frames": (LARGE, lambda: node(
        "STFT", "x", ints(1), None, ints(4096), dims=(1, 1 << 30, 1), opset=17)),
    "mel": (LARGE, lambda: node(
        "MelWeightMatrix", ints(4096), ints(65536), ints(44100),
        numpy.array(0.), numpy.array(20000.), opset=17)),
    "grid": (LARGE, lambda: node(
        "AffineGrid", "x", ints(1, 1, 16384, 16384), dims=(1, 2, 3), opset=20)),
    "scatter": (LARGE, lambda: changed(scatter())),
    "pool-indices": (LARGE, lambda: changed(pool_indices(
        1 << 15, 1 << 15, kernel_shape=[2, 2]))),
    "transforms": (LARGE, lambda: transforms(3)),
    "two-transforms": (None, lambda: transforms(1)),
    # Results that are left to the run.
    "fills": (None, lambda: tables(200, lambda made: made.op(
        "ConstantOfShape", ints(1 << 20)))),
    "convolution": (None, convolution),
    # Any number of ops.
    "functions": (MANY, lambda: doubling(31)),
    "few-functions": (None, lambda: doubling(5)),
    "norm": (MANY, lambda: node("LRN", dims=(1, 1, 2, 2), size=1 << 28)),
    "places": (MANY, lambda: node(
        "MaxPool", dims=(1, 1, 4, 4), kernel_shape=[4096, 4096],
        dilations=[2, 2], pads=[4096, 4096, 4096, 4096])),
    # Numbers whose products or sums overflow.
    "wide-pads": (NODE, lambda: node("Pad", "x", ints(0, 0, 0, 2**63 - 1), mode="wrap")),
    "wide-block": (NODE, lambda: node("DepthToSpace", dims=(1, 4, 2, 2), blocksize=1 << 32)),
    "block": (NODE, lambda: node("DepthToSpace", dims=(1, 4, 2, 2), blocksize=1 << 16)),
    "wide-kernel": (NODE, lambda: node(
        "AveragePool", dims=(1, 1, 4, 4), kernel_shape=[1 << 62, 2])),
    "wide-pool": ("operand-extent", lambda: node(
        "MaxPool", dims=(1, 1, 1 << 40, 9), kernel_shape=[2, 2], dilations=[2, 2],
        pads=[1, 1, 1, 1])),
    "wide-pool-indices": ("operand-extent", lambda: changed(pool_indices(
        1 << 40, 2, kernel_shape=[2, 2], pads=[1, 1, 1, 1]))),
    "wide-shape": (NODE, lambda: node("Reshape", "x", ints(1 << 62, 1 << 62, -1))),
    "narrow-shape": (NODE, lambda: node(
        "Reshape", "x", ints(*[2**31 - 1] * 6, -1))),
    "slice": (None, lambda: node(
        "Slice", "x", ints(2**63 - 1), ints(-2**63), ints(0), ints(-1))),
    "depth": (NODE, lambda: node(
        "OneHot", ints(1), numpy.array([1e300]), numpy.array([0., 1.], numpy.float32))),
    # Sequences with more between their ids than a row has.
    "skips": (None, lambda: words(max_gram_length=2**31 - 1, max_skip_count=2**31 - 1)),
    "skip": (NODE, lambda: words(max_gram_length=2, max_skip_count=-1)),
    # Tables of blocks that have no elements, and of another type.
    "no-block": (NODE, lambda: table(numpy.uint8, 0, 0, block_size=0)),
    "no-zeros": (NODE, lambda: table(numpy.uint8, 0, 0, numpy.uint8, block_size=16)),
    "zeros": (NODE, lambda: table(numpy.uint8, 16, 2, numpy.float32, block_size=16)),
    "table": (NODE, lambda: table(numpy.float32, 16, 1, block_size=16, bits=8)),
    # Axes without elements, and nodes without outputs.
    "empty-resize": (NODE, lambda: empty("Resize", None, None, ints(1, 1, 2, 4))),
    "empty-pool": (NODE, lambda: empty("MaxPool", kernel_shape=[1, 1])),
    "empty-norm": ("onnx-empty-output", lambda: empty(
        "GroupNormalization", numpy.ones(1, numpy.float32),
        numpy.ones(1, numpy.float32), shape=(0, 1, 4), opset=18, num_groups=1)),
    "empty-transform": (NODE, lambda: empty("DFT", shape=(0, 4, 1), opset=17)),
    # Tensors of another rank or type than the operator takes.
    "gate-bias": (NODE, lambda: node(
        "GRU", "x", numpy.ones((1, 6, 3), numpy.float32),
        numpy.ones((1, 6, 2), numpy.float32), numpy.ones(1, numpy.float32),
        dims=(4, 1, 3), hidden_size=2)),
    # A word for each gate of each direction.
    "gate-activations": (NODE, lambda: node(
        "GRU", "x", numpy.ones((1, 6, 3), numpy.float32),
        numpy.ones((1, 6, 2), numpy.float32), dims=(4, 1, 3), hidden_size=2,
        activations=["Sigmoid"])),
    "repeats": (NODE, lambda: node("Tile", "x", numpy.array([1e30, 1.]))),
    "indices": (NODE, lambda: node("Gather", "x", numpy.array([1e30]))),
    "split": (NODE, lambda: changed(split())),
}


def words(**attributes):
    made = graph(40)
    made.input("ids", numpy.int64, (40,))
    made.op("TfIdfVectorizer", "ids", mode="TF", min_gram_length=1, ngram_counts=[0] * 8,
            ngram_indexes=[0], pool_int64s=list(range(8)), **attributes)
    return changed(finish(made, None))


def table(kind, columns, blocks, zeros=None, **attributes):
    """Two rows of a table, whose zero points are of the type `zeros`, if it has any."""
    made = graph(2)
    made.input("i", numpy.int64, (2,))
    points = None if zeros is None else numpy.ones((2, (blocks + 1) // 2), zeros)
    made.op("GatherBlockQuantized", numpy.ones((2, columns), kind), "i",
            numpy.ones((2, blocks), numpy.float32), points, domain="com.microsoft",
            **attributes)
    return changed(finish(made, None), 17)


def scatter():
    """Positions of each index along each axis."""
    made = graph(4, 1 << 24, 4)
    made.input("i", numpy.int64, (2, 1 << 24, 1))
    made.input("u", numpy.float32, (2, 1 << 24, 1))
    made.op("ScatterElements", "x", "i", "u")
    return finish(made, None)


def pool_indices(rows, columns, **attributes):
    made = graph(1, 1, rows, columns)
    made.op("MaxPool", "x", outputs=["y", "indices"], **attributes)
    made.output("y", numpy.float32)
    return made


def split():
    made = graph()
    made.op("Split", "x", outputs=[])
    made.output("x", numpy.float32)
    return made


# Of the processor: other processes do not count. What only waits ends as well.
SECONDS, WAITING = 10, 300


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def failure(anec, path, wanted):
    """What is wrong with the run; empty for nothing."""
    try:
        run = subprocess.run(memory.within(1 << 30, [anec, path, "-o", "/dev/null"]),
                             capture_output=True, timeout=WAITING, preexec_fn=limit,
                             text=True)
    except subprocess.TimeoutExpired:
        return f"no end in {WAITING} seconds"
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"more than {SECONDS} seconds"
    if run.returncode != (1 if wanted else 0):
        return f"exit code {run.returncode}: {run.stderr[-300:]}"
    if wanted and f"[{wanted}]" not in run.stderr:
        return f"no {wanted}: {run.stderr[-300:]}"
    return ""


def main(anec, folder, only=None):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    anec = shutil.which(anec) or anec
    failures = []
    for name, (wanted, make) in MODELS.items():
        if only in (None, name):
            path = folder / f"{name}.onnx"
            path.write_bytes(make())
            if why := failure(anec, path, wanted):
                failures.append(f"{name}: {why}")
    for each in failures:
        print(each)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(*sys.argv[1:])
