#!/usr/bin/env python3
"""Runs nodes whose rules depend on the version of the operator set, or on NaN and
infinity, with ane-run in fp32, and compares them with numbers of other tools.

usage: run_rules.py ANE_RUN FOLDER

Each runs with the input given to it, and with the input as a constant, which anec
computes when it reads the model."""
import pathlib
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import microsoft_rules
import sequence_rules
from onnx_writer import Graph

NAN, INF = numpy.nan, numpy.inf
# Operators whose integers must be known, and onnxruntime's, of which only the first input
# changes.
STORED = ("Pad", "CenterCropPad", "Col2Im", "CumProd", "Resize")


def is_stored(op, array, index):
    changes = 1 if op.endswith("GatherBlockQuantized") else 0
    if op.startswith("com.microsoft"):
        return index != changes
    return index > 0 and array.dtype == numpy.int64 and op in STORED


def floats(*values):
    return numpy.array(values, numpy.float32)


def image(*values):
    return floats(*values).reshape(1, 1, 1, -1)


# name, version, operator, inputs, attributes, result
def rules():
    ones = floats(1, 10, 100).reshape(1, 1, 3)
    line = floats(1, 2, 3, 4).reshape(1, 1, 4)
    for name, pads, right in (
            # An odd number of elements less: the one more is cut in front, unless
            # SAME_UPPER says otherwise.
            ("NOTSET", {}, [10, 102, 20, 203, 30, 304, 40, 400]),
            ("upper", {"auto_pad": "SAME_UPPER"}, [1, 10, 102, 20, 203, 30, 304, 40]),
            ("lower", {"auto_pad": "SAME_LOWER"}, [10, 102, 20, 203, 30, 304, 40, 400])):
        yield (f"transposed-{name}", 11, "ConvTranspose", [line, ones],
               {"strides": [2], "output_shape": [8], **pads}, right)
    # Version 10 takes the next element where it is smaller, version 11 says how.
    four = image(1, 2, 3, 4)
    yield "resize-10", 10, "Resize", [four, floats(1, 1, 1, 0.6)], {}, [1, 3]
    yield "resize-10-larger", 10, "Resize", [four, floats(1, 1, 1, 1.5)], {}, \
        [1, 1, 2, 3, 3, 4]
    yield ("resize-11", 11, "Resize", [four, None, floats(1, 1, 1, 0.6)],
           {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}, [1, 2])
    whole = numpy.array([[4, -2, 6], [1, 2, 3], [-8, 0, 2], [5, 5, 5]], numpy.int8)
    scales = floats(1, 2, 3, 0.5, 0.25, 1).reshape(2, 3)
    yield ("blocks", 21, "DequantizeLinear", [whole, scales], {"axis": 0, "block_size": 2},
           [4, -4, 18, 1, 4, 9, -4, 0, 2, 2.5, 1.25, 5])
    zeros = numpy.array([[1, 0, 0], [0, 4, -1]], numpy.int8)
    yield ("blocks-zero", 21, "DequantizeLinear", [whole, scales, zeros],
           {"axis": 0, "block_size": 2}, [3, -4, 18, 0, 4, 9, -4, -1, 3, 2.5, 0.25, 6])
    yield ("quantize-blocks", 21, "QuantizeLinear", [floats(1, 2, 3, 4), floats(0.5, 2)],
           {"axis": 0, "block_size": 2}, [2, 4, 2, 2])
    # The pads are in the order of the axes.
    yield ("pad-axes", 18, "Pad", [floats(1, 2).reshape(1, 2), numpy.array([1, 0, 0, 2]),
                                   None, numpy.array([1, 0])], {},
           [0, 1, 2, 0, 0, 0, 0, 0, 0])
    # PyTorch writes `wrap` before version 19, where it is new.
    yield ("pad-wrap", 18, "Pad", [floats(1, 2, 3), numpy.array([1, 2])], {"mode": "wrap"},
           [3, 1, 2, 3, 1, 2])
    # What is odd is cut, and added, at the end.
    yield ("crop", 18, "CenterCropPad", [floats(*range(8)).reshape(2, 4), numpy.array([3, 1])],
           {}, [1, 5, 0])
    yield ("crop-axis", 18, "CenterCropPad", [floats(*range(8)).reshape(2, 4),
                                              numpy.array([7])], {"axes": [-1]},
           [0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6, 7, 0, 0])
    # Numbers of PyTorch's fold: of overlapping blocks with strides of two, and of blocks
    # with gaps, from an image with padding.
    yield ("columns", 18, "Col2Im", [floats(*range(1, 33)).reshape(1, 8, 4),
                                     numpy.array([4, 3]), numpy.array([2, 2])],
           {"strides": [2, 1]},
           [1, 7, 6, 9, 23, 14, 3, 11, 8, 11, 27, 16, 17, 39, 22, 25, 55, 30, 19, 43, 24, 27,
            59, 32])
    yield ("columns-gaps", 18, "Col2Im", [floats(*range(1, 49)).reshape(1, 4, 12),
                                          numpy.array([3, 4]), numpy.array([2, 2])],
           {"dilations": [2, 2], "pads": [1, 1, 1, 1]},
           [6, 24, 26, 19, 36, 96, 100, 62, 30, 72, 74, 43])
    pairs = floats(1, -2, 3, -4).reshape(2, 2)
    for op, right in (("ReduceSum", [1, -2, 3, -4]), ("ReduceL1", [1, 2, 3, 4]),
                      ("ReduceSumSquare", [1, 4, 9, 16])):
        yield f"nothing-{op}", 18, op, [pairs], {"noop_with_empty_axes": 1}, right
    yield ("softmax-12", 12, "Softmax", [floats(0, 0, 0, 0).reshape(2, 1, 2)], {"axis": 1},
           [0.5, 0.5, 0.5, 0.5])
    yield ("softmax-12-flat", 12, "Softmax", [floats(0, 0, 0, 0).reshape(1, 2, 2)], {"axis": 1},
           [0.25, 0.25, 0.25, 0.25])
    both = numpy.array([12, -1, 0x7fff0001, 6], numpy.int32)
    mask = numpy.array([10, 255, -2, 3], numpy.int32)
    yield "bits-and", 18, "BitwiseAnd", [both, mask], {}, [8, 255, 0x7fff0000, 2]
    yield "bits-or", 18, "BitwiseOr", [both, mask], {}, [14, -1, -1, 7]
    yield "bits-xor", 18, "BitwiseXor", [both, mask], {}, [6, -256, -0x7fff0001, 5]
    yield "bits-not", 18, "BitwiseNot", [both], {}, [-13, 0, -0x7fff0002, -7]
    # Integers of few bits wrap.
    small, large = numpy.array([3, 200], numpy.uint8), numpy.array([5, 100], numpy.uint8)
    yield "wrap-sub", 14, "Sub", [small, large], {}, [254, 100]
    yield "wrap-add", 14, "Add", [small, large], {}, [8, 44]
    signed = numpy.array([100, -100], numpy.int8)
    yield "wrap-signed", 14, "Add", [signed, signed], {}, [-56, 56]
    # Of NaN and infinity.
    first, second = floats(NAN, 1, -INF), floats(1, NAN, 2)
    yield "max-nan", 13, "Max", [first, second], {}, [NAN, NAN, 2]
    yield "min-nan", 13, "Min", [second, first], {}, [NAN, NAN, -INF]
    rows = floats(-INF, -INF, INF, 1, NAN, 2).reshape(3, 2)
    yield "sum-of-powers", 13, "ReduceLogSumExp", [rows], {"axes": [1], "keepdims": 0}, \
        [-INF, INF, NAN]
    yield "largest", 13, "ReduceMax", [rows], {"axes": [1], "keepdims": 0}, [-INF, INF, NAN]
    yield "smallest", 13, "ReduceMin", [rows], {"axes": [0], "keepdims": 0}, [NAN, -INF]
    yield "place", 13, "ArgMax", [rows], {"axis": 1, "keepdims": 0}, [0, 0, 0]
    yield "relu", 13, "Relu", [first], {}, [NAN, 1, 0]
    yield "clip", 13, "Clip", [first, floats(-1).reshape(()), floats(6).reshape(())], {}, \
        [NAN, 1, -1]
    yield "log", 13, "Log", [floats(0, 1, INF)], {}, [-INF, 0, INF]
    # Weights of averages where a result is smaller.
    yield ("resize-smaller", 18, "Resize", [image(1, 2, 3, 4, 5, 6), None, None,
                                            numpy.array([1, 1, 1, 3])],
           {"mode": "linear", "antialias": 1}, [1.625, 3.5, 5.375])
    # The first element half a pixel to the right, the others outside.
    places = numpy.zeros((1, 2, 1, 3), numpy.float32)
    places[0, 1] = [0.5, 5, -3]
    yield ("deformed", 19, "DeformConv", [image(2, 4, 6), floats(10).reshape(1, 1, 1, 1), places],
           {}, [30, 0, 0])
    yield from recurrent()
    yield from sequence_rules.rules()
    yield from microsoft_rules.rules()


def recurrent():
    """Sequences that are shorter than the input give zeros, and keep their state."""
    line = floats(1, 10, 2, 20, 3, 30).reshape(3, 2, 1)
    one = floats(1).reshape(1, 1, 1)
    lengths = numpy.array([2, 3], numpy.int32)
    for direction, right in (("forward", [1, 10, 3, 30, 0, 60]),
                             ("reverse", [3, 60, 2, 50, 0, 30])):
        yield (f"lengths-{direction}", 14, "RNN", [line, one, one, None, lengths],
               {"direction": direction, "hidden_size": 1, "activations": ["Relu"]}, right)


def run(ane_run, folder, opset, op, inputs, attributes, known):
    graph = Graph()
    names, feeds = [], {}
    for index, array in enumerate(inputs):
        if array is None or known or is_stored(op, array, index):
            names.append(array)
            continue
        feeds[f"x{index}"] = array
        names.append(graph.input(f"x{index}", array.dtype, array.shape))
    domain, _, op = op.rpartition(":")
    graph.op(op, *names, outputs=["y"], domain=domain, **attributes)
    graph.output("y", numpy.float32)
    graph.save(folder / "model.onnx", opset, domains=[(domain, 1)] if domain else [])
    command = [ane_run, folder / "model.onnx", "--numerics=fp32", "--output-dir", folder]
    for name, array in feeds.items():
        numpy.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return done.stderr if done.returncode else numpy.load(folder / "y.npy").ravel()


def main(ane_run, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    count = wrong = 0
    for name, opset, op, inputs, attributes, right in rules():
        for known in (False, True):
            got = run(ane_run, folder, opset, op, inputs, attributes, known)
            right = numpy.asarray(right).ravel()
            count += 1
            if isinstance(got, str) or len(got) != len(right) or not numpy.allclose(
                    got, right, rtol=1e-5, atol=1e-6, equal_nan=True):
                wrong += 1
                print(f"{name}: {got}, not {right}", file=sys.stderr)
    print(f"{count} runs, {wrong} wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
