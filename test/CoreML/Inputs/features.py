"""Writes one package for each form of a type, a value, or an interface, with its inputs,
runs it, and compares its outputs with numbers computed here; then writes it again from
the program that was read, and does the same.

  features.py ANEC ANE_RUN FOLDER"""
import pathlib
import struct
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from coreml import *

ANEC, RUN, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
FOLDER.mkdir(parents=True)
wrong = []
cases = 0


def f32(*shape):
    return tensor("fp32", shape)


def check(name, contents, inputs, expected, weights=None, flags=()):
    """Runs a package; `expected` are the outputs by name, `inputs` arrays or sources."""
    global cases
    cases += 1
    package = FOLDER / (name + ".mlpackage")
    write(package, contents, weights)
    sources, shapes = [], []
    for key, given in inputs.items():
        if not isinstance(given, str):
            file = FOLDER / f"{name}-{key}.npy"
            numpy.save(file, given)
            shapes.append(f"--shape={key}=" + "x".join(map(str, given.shape)))
            given = str(file)
        sources += ["--input", f"{key}={given}"]
    compare(name, package, sources, expected, flags)
    if "image" in name:
        shapes = [f"--shape=x=1x{3 if 'gray' not in name else 1}x2x3"]
    functions = [flag for flag in flags if flag.startswith("--function")]
    written = FOLDER / (name + "-written.mlpackage")
    result = subprocess.run([str(word) for word in (ANEC, package, *shapes, *functions,
                                                    "-o", written)],
                            capture_output=True, text=True)
    if result.returncode:
        wrong.append(f"{name}: {result.stderr}")
    else:
        compare(name + "-written", written, sources, expected, flags)


def compare(name, package, sources, expected, flags):
    """Runs a package and compares its outputs."""
    command = [RUN, package, "--output-dir", FOLDER / name, *flags, *sources]
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        wrong.append(f"{name}: {result.stderr}")
        return
    for key, value_of in expected.items():
        got = numpy.load(FOLDER / name / (key + ".npy"))
        if got.shape != numpy.shape(value_of) or not numpy.array_equal(got, value_of):
            wrong.append(f"{name}: {key} is {got!r}, not {value_of!r}")


def main_only(inputs, ops, outputs, features=(), opset="CoreML8"):
    described = [array(key, "fp32", []) for key, _ in inputs] if not features else features
    return simple({"main": function(inputs, ops, outputs, opset)}, described)


def through_cast(dtype, constant, shape):
    """A program that returns a constant as fp32."""
    return [constant, op("cast", [("y", f32(*shape))],
                         {"x": "c", "dtype": value("string", "fp32")})]


# Immediate values of every element type that a cast takes.
x = [("x", f32(2))]
add = [op("add", [("z", f32(2))], {"x": "x", "y": "y"})]
for dtype, numbers in {"fp32": [1.5, -2], "fp16": [0.5, -0.25], "int32": [7, -7],
                       "int16": [300, -300], "uint16": [1, 65535], "int8": [-128, 127],
                       "uint8": [0, 255], "bool": [1, 0]}.items():
    ops = (through_cast(dtype, const("c", dtype, numbers), [2]) if dtype != "fp32" else
           [const("y", dtype, numbers)])
    check("immediate-" + dtype, main_only(x, ops + add, ["z"]),
          {"x": numpy.ones(2, "f4")}, {"z": numpy.float32([n + 1 for n in numbers])})

# Weights below a byte, packed from the low bit on, in the weight file and in the message.
SUBBYTE = {"int4": (8, [-8, 7, -1, 3, 5]), "uint4": (11, [1, 15, 7, 0, 2]),
           "uint1": (9, [1, 0, 1, 1, 0]), "uint2": (10, [0, 1, 2, 3, 3]),
           "uint3": (12, [0, 1, 7, 6, 5]), "uint6": (13, [1, 63, 32, 5, 9])}
for dtype, (code, numbers) in SUBBYTE.items():
    data = packed(dtype, numbers)
    file, offsets = blob_file([(code, data, len(data) * 8 - 5 * BITS[dtype])])
    for form, given in {"blob": blob(dtype, [5], offsets[0]),
                        "immediate": value(dtype, numbers)}.items():
        if dtype.startswith("int") or dtype in ("uint4",):
            ops = [op("constexpr_blockwise_shift_scale", [("y", f32(5))],
                      {"data": given, "scale": value("fp32", [2.0])})]
            expected = [2 * n for n in numbers]
        else:
            table = list(range(10, 10 + 2 ** BITS[dtype]))
            lut = value("fp32", table, [1, len(table), 1])
            ops = [op("constexpr_lut_to_dense", [("y", f32(5))],
                      {"indices": given, "lut": lut})]
            expected = [10 + n for n in numbers]
        ops.append(op("add", [("z", f32(5))], {"x": "x", "y": "y"}))
        check(f"{form}-{dtype}", main_only([("x", f32(5))], ops, ["z"]),
              {"x": numpy.zeros(5, "f4")}, {"z": numpy.float32(expected)}, file)

# The compressed weights of iOS16: all parameters are attributes.
ops = [op("constexpr_affine_dequantize", [("y", f32(2, 2))], attributes={
    "quantized_data": value("uint8", [1, 2, 3, 4], [2, 2]), "axis": value("int32", 0),
    "scale": value("fp32", [1.0, 2.0]), "zero_point": value("uint8", [0, 1])}),
    op("add", [("z", f32(2, 2))], {"x": "x", "y": "y"})]
check("affine", main_only([("x", f32(2, 2))], ops, ["z"], opset="CoreML6"),
      {"x": numpy.zeros((2, 2), "f4")}, {"z": numpy.float32([[1, 2], [4, 6]])})
ops = [op("constexpr_lut_to_dense", [("y", f32(5))], attributes={
    "indices": value("uint8", packed("uint2", [0, 1, 2, 3, 1]), [2]),
    "lut": value("fp32", [1.0, 2.0, 3.0, 4.0]), "shape": value("uint32", [5])}),
    op("add", [("z", f32(5))], {"x": "x", "y": "y"})]
check("lut16", main_only([("x", f32(5))], ops, ["z"], opset="CoreML6"),
      {"x": numpy.zeros(5, "f4")}, {"z": numpy.float32([1, 2, 3, 4, 2])})
ops = [op("constexpr_sparse_to_dense", [("y", f32(5))], attributes={
    "nonzero_data": value("fp32", [7.0, 8.0]), "mask": value("uint8", [0b10010]),
    "shape": value("uint32", [5])}), op("add", [("z", f32(5))], {"x": "x", "y": "y"})]
check("sparse16", main_only([("x", f32(5))], ops, ["z"], opset="CoreML6"),
      {"x": numpy.zeros(5, "f4")}, {"z": numpy.float32([0, 7, 0, 0, 8])})

# The joint forms of iOS18: the results of one op are the arguments of another.
mask = value("uint1", [0, 1, 1, 0, 1])
ops = [op("constexpr_lut_to_sparse",
          [("m", tensor("uint1", [5])), ("n", f32(3))],
          {"indices_mask": mask, "indices_nonzero_data": value("uint2", [3, 1, 2]),
           "lut": value("fp32", [1.0, 2.0, 3.0, 4.0], [1, 4, 1])}),
       op("constexpr_sparse_to_dense", [("y", f32(5))], {"mask": "m", "nonzero_data": "n"}),
       op("add", [("z", f32(5))], {"x": "x", "y": "y"})]
check("sparse-lut18", main_only([("x", f32(5))], ops, ["z"]), {"x": numpy.zeros(5, "f4")},
      {"z": numpy.float32([0, 4, 2, 0, 3])})
ops = [op("constexpr_sparse_blockwise_shift_scale",
          [("m", tensor("uint1", [5])), ("n", f32(3))],
          {"data_mask": mask, "nonzero_data": value("int8", [3, -1, 2]),
           "scale": value("fp32", [0.5])}),
       op("constexpr_sparse_to_dense", [("y", f32(5))], {"mask": "m", "nonzero_data": "n"}),
       op("add", [("z", f32(5))], {"x": "x", "y": "y"})]
check("sparse-scale18", main_only([("x", f32(5))], ops, ["z"]), {"x": numpy.zeros(5, "f4")},
      {"z": numpy.float32([0, 1.5, -0.5, 0, 1])})

# Integers and booleans as inputs and outputs.
for dtype, kind in {"int32": "i4", "int8": "i1", "int16": "i2", "bool": "?"}.items():
    ops = [op("cast", [("f", f32(3))], {"x": "x", "dtype": value("string", "fp32")}),
           op("cast", [("y", tensor(dtype, [3]))],
              {"x": "f", "dtype": value("string", dtype)})]
    numbers = numpy.array([1, 0, 1], kind)
    check("io-" + dtype, main_only([("x", tensor(dtype, [3]))], ops, ["y"], opset="CoreML9"),
          {"x": numbers}, {"y": numbers})

# Control flow.
true, i32 = tensor("bool"), tensor("int32")


def branches(predicate):
    double = op("mul", [("t", f32(3))], {"x": "x", "y": value("fp32", 2.0)})
    return op("cond", [("y", f32(3))], {"pred": predicate},
              blocks=[block([double], ["t"]),
                      block([op("abs", [("u", f32(3))], {"x": "x"})], ["u"])])


ops = [op("reduce_max", [("s", f32())], {"x": "x", "keep_dims": value("bool", False)}),
       op("greater", [("p", true)], {"x": "s", "y": value("fp32", 0.0)}), branches("p")]
for case, numbers, expected in (("true", [1, -2, 3], [2, -4, 6]),
                                ("false", [-1, -2, -3], [1, 2, 3])):
    check("cond-" + case, main_only([("x", f32(3))], ops, ["y"]), {"x": numpy.float32(numbers)},
          {"y": numpy.float32(expected)})
check("cond-known", main_only([("x", f32(3))], [branches(value("bool", False))], ["y"]),
      {"x": -numpy.ones(3, "f4")}, {"y": numpy.ones(3, "f4")})

loop = [("k", i32), ("v", f32(2))]
body = block([op("add", [("k2", i32)], {"x": "k", "y": value("int32", 1)}),
              op("add", [("v2", f32(2))], {"x": "v", "y": "x"})], ["k2", "v2"], loop)
test = block([op("less", [("go", true)], {"x": "k", "y": value("int32", 4)})], ["go"], loop)
ops = [const("start", "int32", 0),
       op("while_loop", [("n", i32), ("y", f32(2))], {"loop_vars": ("start", "x")},
          blocks=[test, body])]
check("while", main_only([("x", f32(2))], ops, ["y", "n"]), {"x": numpy.float32([1, 2])},
      {"y": numpy.float32([5, 10]), "n": numpy.int32(4)})

# A loop that values decide, and one of more turns than are unrolled.
test = block([op("less", [("go", tensor("bool", (1,)))], {"x": "k", "y": "last"})], ["go"],
             loop)
ops = [const("start", "int32", 0),
       op("while_loop", [("n", i32), ("y", f32(2))], {"loop_vars": ("start", "x")},
          blocks=[test, body])]
for last in (0, 3):
    check(f"while-{last}", main_only([("x", f32(2)), ("last", tensor("int32", (1,)))],
                                     ops, ["y", "n"]),
          {"x": numpy.float32([1, 2]), "last": numpy.int32([last])},
          {"y": numpy.float32([1, 2]) * (last + 1), "n": numpy.int32(last)})
test = block([op("less", [("go", true)], {"x": "k", "y": value("int32", 20000)})], ["go"], loop)
check("while-long", main_only([("x", f32(2))], [*ops[:1], op(
    "while_loop", [("n", i32), ("y", f32(2))], {"loop_vars": ("start", "x")},
    blocks=[test, body])], ["y", "n"]), {"x": numpy.float32([1, 2])},
      {"y": numpy.float32([20001, 40002]), "n": numpy.int32(20000)})

# The counter of Apple's converter is an array of one element.
one = tensor("int32", (1,))
loop = [("k", one), ("v", f32(2))]
body = block([op("add", [("k2", one)], {"x": "k", "y": value("int32", 1)}),
              op("add", [("v2", f32(2))], {"x": "v", "y": "x"})], ["k2", "v2"], loop)
test = block([op("less", [("go", tensor("bool", (1,)))], {"x": "k", "y": value("int32", 4)})],
             ["go"], loop)
ops = [const("start", "int32", [0]),
       op("while_loop", [("n", one), ("y", f32(2))], {"loop_vars": ("start", "x")},
          blocks=[test, body])]
check("while-array", main_only([("x", f32(2))], ops, ["y", "n"]),
      {"x": numpy.float32([1, 2])},
      {"y": numpy.float32([5, 10]), "n": numpy.int32([4])})

# A list that a loop fills.
rows = list_type(f32(2), 3)
loop = [("k", i32), ("l", rows)]
body = block([op("add", [("k2", i32)], {"x": "k", "y": value("int32", 1)}),
              op("cast", [("f", f32())], {"x": "k", "dtype": value("string", "fp32")}),
              op("mul", [("row", f32(2))], {"x": "x", "y": "f"}),
              op("list_write", [("l2", rows)], {"ls": "l", "index": "k", "value": "row"})],
             ["k2", "l2"], loop)
test = block([op("less", [("go", true)], {"x": "k", "y": value("int32", 3)})], ["go"], loop)
ops = [const("start", "int32", 0),
       op("make_list", [("empty", rows)],
          {"init_length": value("int32", 3), "dynamic_length": value("bool", False),
           "elem_shape": (value("int32", 2),), "dtype": value("string", "fp32")}),
       op("while_loop", [("n", i32), ("full", rows)], {"loop_vars": ("start", "empty")},
          blocks=[test, body]),
       op("list_gather", [("y", f32(3, 2))],
          {"ls": "full", "indices": value("int32", [2, 1, 0])})]
check("list", main_only([("x", f32(2))], ops, ["y"]), {"x": numpy.float32([1, 2])},
      {"y": numpy.float32([[2, 4], [1, 2], [0, 0]])})

# Classes that are integers.
ops = [op("classify", [("label", tensor("int64")),
                       ("p", [(4, [(1, tensor("int64")), (2, tensor("fp64"))])])],
          {"probabilities": "x", "classes": scalars("int64", [40, -50])})]
check("classes", main_only([("x", f32(1, 2))], ops, ["label", "p"]),
      {"x": numpy.float32([[0.25, 0.75]])},
      {"label": numpy.int64(-50), "p": numpy.float32([0.25, 0.75])})

# A shape made of the shapes of others.
ops = [op("reshape_like", [("y", f32(3, 2, 2))],
          {"x": "x", "ref_tensors": ("a", "b"), "begins": scalars("int32", [1, -2]),
           "ends": scalars("int32", [2, 0]), "end_masks": scalars("bool", [False, True])})]
check("reshape-like", main_only([("x", f32(12)), ("a", f32(5, 3)), ("b", f32(7, 2, 2))],
                                ops, ["y"]),
      {"x": numpy.arange(12, dtype="f4"), "a": "zeros", "b": "zeros"},
      {"y": numpy.arange(12, dtype="f4").reshape(3, 2, 2)})

# An optional input has a default value.
ops = [op("add", [("z", f32(2))], {"x": "x", "y": "y"})]
features = [array("x", "fp32", [2]), array("y", "fp32", [2], [(51, 2.5)], optional=True)]
check("optional", main_only(x + [("y", f32(2))], ops, ["z"], features),
      {"x": numpy.float32([1, 2])}, {"z": numpy.float32([3.5, 4.5])})
check("optional-given", main_only(x + [("y", f32(2))], ops, ["z"], features),
      {"x": numpy.float32([1, 2]), "y": numpy.float32([1, 1])},
      {"z": numpy.float32([2, 3])})


# Images: pixels of files are [height, width, channels], and red comes first.
def image(width, height, colors, extra=()):
    return [(1, "x"), (3, [(4, [(1, width), (2, height), (3, colors)] + list(extra))])]


pixels = numpy.arange(18, dtype="u1").reshape(2, 3, 3)
copy = [op("identity", [("y", f32(1, 3, 2, 3))], {"x": "x"})]
planes = pixels.transpose(2, 0, 1)[None].astype("f4")
for colors, expected in ((20, planes), (30, planes[:, ::-1])):
    check(f"image-{colors}",
          main_only([("x", f32(1, 3, 2, 3))], copy, ["y"], [image(3, 2, colors)]),
          {"x": pixels}, {"y": expected})
check("image-gray", main_only([("x", f32(1, 1, 2, 3))],
                              [op("identity", [("y", f32(1, 1, 2, 3))], {"x": "x"})], ["y"],
                              [image(3, 2, 10)]),
      {"x": pixels[:, :, 0]}, {"y": planes[:, :1]})
flexible = [("x", f32(1, 3, None, None))]
copy = [op("identity", [("y", f32(1, 3, None, None))], {"x": "x"})]
sizes = [(31, [(1, [(1, 1), (2, 8)]), (2, [(1, 1), (2, -1)])])]
check("image-flexible", main_only(flexible, copy, ["y"], [image(5, 4, 20, sizes)]),
      {"x": pixels}, {"y": planes})

# Shapes that are enumerated, and several flexible axes.
flexible = [("x", f32(None, 4))]
double = [op("add", [("y", f32(None, 4))], {"x": "x", "y": "x"})]
shapes = [(21, [(1, [(1, bytes([n, 4]))]) for n in (2, 3)])]
enumerated = main_only(flexible, double, ["y"], [array("x", "fp32", [2, 4], shapes)])
for rows_of in (2, 3):
    ones = numpy.ones((rows_of, 4), "f4")
    check(f"enumerated-{rows_of}", enumerated, {"x": ones}, {"y": 2 * ones})

# States, and several functions with a default one.
held = state("fp16", [2])
ops = [op("read_state", [("old", tensor("fp16", [2]))], {"input": "s"}),
       op("add", [("y", tensor("fp16", [2]))], {"x": "x", "y": "old"}),
       op("write_state", [], {"input": "s", "data": "y"})]
half = numpy.float16([1, 2])
main = function([("x", tensor("fp16", [2])), ("s", held)], ops, ["y"])
features = [(1, array("x", "fp16", [2])),
            (13, [(1, "s"), (3, [(8, [(1, [(1, bytes([2])), (2, ARRAYS["fp16"])])])])])]
stateful = model(features, program({"main": main}))
check("state", stateful, {"x": half}, {"y": half, "s": half})
check("state-given", stateful, {"x": half}, {"y": 2 * half, "s": 2 * half},
      flags=["--state", f"s={FOLDER}/state/s.npy"])


def times(factor):
    return function([("x", f32(2))], [op("mul", [("y", f32(2))],
                                         {"x": "x", "y": value("fp32", factor)})], ["y"])


described = [[(1, name), (2, array("x", "fp32", [2]))] for name in ("b", "a")]
both = model([(20, one) for one in described] + [(21, "a")],
             program({"a": times(2.0), "b": times(3.0)}))
for flags, factor in (([], 2), (["--function=b"], 3)):
    check(f"function-{factor}", both, {"x": numpy.ones(2, "f4")},
          {"y": factor * numpy.ones(2, "f4")}, flags=flags)

print("\n".join(wrong + [f"{cases} packages, {len(wrong)} wrong"]))
sys.exit(bool(wrong))
