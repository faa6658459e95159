"""Writes packages that are wrong, and checks that each is an error about a file, with
the id and the words that are expected, exit code 1, little memory and no output.

  errors.py ANEC FOLDER"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent),
                 str(pathlib.Path(__file__).resolve().parents[2] / "Shell")]
import memory
from coreml import *

ANEC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
FOLDER.mkdir(parents=True)
wrong = []
ids = set()
cases = 0
f = tensor("fp32", [2])
x = [("x", f)]
relu = op("relu", [("y", f)], {"x": "x"})
good = message(simple({"main": function(x, [relu], ["y"])}, [array("x", "fp32", [2])]))


def expect(name, *words, contents=good, prepare=None, path=None, **more):
    """Each of `words` must be in the message."""
    global cases
    cases += 1
    package = FOLDER / (path or name + ".mlpackage")
    if path is None:
        write(package, contents, **more)
    if prepare:
        prepare(package)
    result = subprocess.run(memory.within(1 << 29, [ANEC, package, "--emit=mil"]),
                            capture_output=True, text=True, errors="replace", timeout=60)
    missing = [word for word in words if word not in result.stderr]
    ids.update(re.findall(r" (\[[a-z-]+\])$", result.stderr, re.M))
    if result.returncode != 1 or missing or result.stdout or "error: " not in result.stderr:
        wrong.append(f"{name}: exit code {result.returncode}, no {missing} in "
                     f"{result.stderr[:600]!r}")


def of(ops, results=("y",), inputs=x, **more):
    return simple({"main": function(inputs, ops, list(results))}, **more)


# The package.
expect("not-json", "[package-manifest]", "Manifest.json:1:", text="{")
expect("no-object", "[package-manifest]", text="[]")
expect("no-root", "[package-manifest]", "`X`", text=json.dumps(manifest(root="X")))
expect("equal-keys", "[package-manifest]", text='{"a": 1, "a": 2}')
expect("new-version", "[package-version]", "`2.0.0`", text=json.dumps(manifest(version="2.0.0")))
for name, bad in (("parent", "../model.mlmodel"), ("absolute", "/etc/passwd"),
                  ("inside", "com.apple.CoreML/../../../x"), ("empty", "")):
    expect("path-" + name, "[package-path]", text=json.dumps(manifest(path=bad)))
    expect("weights-" + name, "[package-path]", text=json.dumps(manifest(weights=bad)))
expect("missing-model", "[cannot-open]", "none.mlmodel",
       text=json.dumps(manifest(path="none.mlmodel")))
incomplete = manifest()
del incomplete["itemInfoEntries"]["W"]["description"]
expect("missing-key", "[package-manifest]", "`W`", text=json.dumps(incomplete))


def link(package):
    data = package / "Data/com.apple.CoreML"
    data.rename(package / "elsewhere")
    os.symlink(package.absolute() / "elsewhere", data)


def link_weights(package):
    weights = package / "Data/com.apple.CoreML/weights/weight.bin"
    weights.rename(package / "w.bin")
    os.symlink(package.absolute() / "w.bin", weights)


def link_folder(package):
    weights = package / "Data/com.apple.CoreML/weights"
    weights.rename(package / "w")
    os.symlink(package.absolute() / "w", weights)


def remove_manifest(package):
    (package / "Manifest.json").unlink()


expect("linked-model", "[cannot-open]", prepare=link)
expect("linked-weights", "[package-item]", prepare=link_folder)
expect("no-manifest", "[cannot-open]", "Manifest.json", prepare=remove_manifest)
expect("no-folder", "[cannot-open]", path="none.mlpackage")
(FOLDER / "file.mlpackage").write_text("")
expect("file", "[cannot-open]", path="file.mlpackage")
(FOLDER / "folder.mlmodel").mkdir()
expect("folder", "[cannot-open]", path="folder.mlmodel")

# The model.
for size in (1, 30, len(good) // 2, len(good) - 1):
    expect(f"truncated-{size}", "[model-message]", contents=good[:size])
expect("nothing", "[model-no-program]", contents=b"")
expect("random", "[model-message]", contents=b"\xff" * 100)
expect("length", "[model-message]", contents=b"\x12\xff\xff\xff\xff\x07")
for number, kind in ((500, "neuralNetwork"), (403, "neuralNetworkClassifier"),
                     (402, "treeEnsembleClassifier"), (3000, "serializedModel")):
    expect(kind, "[model-kind]", f"`{kind}`", contents=[(1, 4), (number, [])])
expect("two-programs", "[field-twice]", contents=good + good)
expect("program-version", "[program-version]",
       contents=simple({"main": function(x, [relu], ["y"])}) [:2] +
       [(502, program({"main": function(x, [relu], ["y"])}, version=7))])
expect("no-function", "[no-function]", contents=model([], program({})))
expect("opset", "[opset-name]", "`iOS18`",
       contents=simple({"main": function(x, [relu], ["y"], "iOS18")}))
expect("specialization", "[no-specialization]",
       contents=simple({"main": [(2, "CoreML8")]}))
expect("two-functions", "[duplicate-function]",
       contents=model([], [(1, 1)] + 2 * [(2, [(1, "main"), (2, function(x, [relu], ["y"]))])]))

# Names: the place is told by function and op.
here = "model.mlmodel: error: in function `main`, op `y` (relu): "
expect("undefined", here, "`q` is not defined", contents=of([op("relu", [("y", f)], {"x": "q"})]))
expect("input-twice", "input `x`", "[name-taken]", contents=of([relu], inputs=x + x))
expect("name-twice", here, "[name-taken]", contents=of([relu, relu]))
expect("bad-name", "[bad-name]", contents=of([op("relu", [("a b\n", f)], {"x": "x"})]))
expect("no-result", "[undefined-name]", contents=of([], ["y"]))
expect("unknown-op", "op `y` (frobnicate)", "[unknown-op]",
       contents=of([op("frobnicate", [("y", f)], {"x": "x"})]))
expect("unknown-parameter", here, "`alpha`",
       contents=of([op("relu", [("y", f)], {"x": "x", "alpha": value("fp32", 1.0)})]))
expect("no-binding", here, "[value-missing]", contents=of([op("relu", [("y", f)], {"x": ()})]))

# Types and values.
expect("rank", "[type-rank]", contents=of([op("relu", [("y", [(1, [(1, 11), (2, 3)])])], {"x": "x"})]))
expect("no-type", "[type-missing]", contents=of([op("relu", [("y", [])], {"x": "x"})]))
expect("element-type", "[type-missing]",
       contents=of([op("relu", [("y", [(1, [(1, 99)])])], {"x": "x"})]))
expect("huge", "[type-too-large]", contents=of([relu], inputs=[("x", tensor("fp32", [1 << 40, 1 << 40]))]))
expect("negative", "[type-missing]", contents=of([relu], inputs=[("x", tensor("fp32", [-1]))]))
expect("declared", here, "[result-type]",
       contents=of([op("relu", [("y", tensor("fp32", [3]))], {"x": "x"})]))
expect("count", "[element-count]", contents=of([const("c", "fp32", [1.0], [2]), relu]))
expect("bytes", "[value-bytes]", contents=of([const("c", "fp16", b"123", [2]), relu]))
expect("field", "[value-field]", "`bytes`", contents=of([op(
    "const", [("c", tensor("fp16"))],
    attributes={"val": [(2, tensor("fp16")), (3, [(1, elements("fp32", [1.0]))])]}), relu]))
expect("range", "[value-range]", "70000", contents=of([const("c", "int16", [70000]), relu]))
expect("large-constant", "[element-count]", contents=of(
    [const("c", "fp32", [1.0], [1 << 30]), relu]))
file, offsets = blob_file([(2, bytes(8), 0), (1, bytes(8), 0)])


def weight(offset, dtype="fp32", shape=(2,), name="@model_path/weights/weight.bin"):
    given = blob(dtype, shape, offset, name)
    return of([op("const", [("c", given[0][1])], attributes={"val": given}), relu])


expect("blob-offset", "op `c` (const)", "[blob-no-record]", contents=weight(65), weights=file)
expect("blob-far", "[blob-no-record]", contents=weight(1 << 63), weights=file)
expect("blob-type", "[blob-dtype]", contents=weight(offsets[1]), weights=file)
expect("blob-size", "[blob-size]", contents=weight(64, shape=[3]), weights=file)
expect("blob-version", "[blob-version]", contents=weight(64), weights=b"\0" * 64)
expect("blob-cut", "[blob-truncated]", contents=weight(offsets[1], "fp16", [4]),
       weights=file[:-1])
expect("blob-link", "symbolic link", contents=weight(64), weights=file, prepare=link_weights)

# Control flow and lists that are not straight lines of tensors.
i, b = tensor("int32"), tensor("bool")
loop = [("k", i)]
body = block([op("add", [("k2", i)], {"x": "k", "y": value("int32", 1)})], ["k2"], loop)

less = op("less", [("go", b)], {"x": "k", "y": value("int32", 9)})
expect("while-condition", "op `m` (while_loop): `while_loop`: its first block gives (int32)",
       contents=of([op("while_loop", [("m", i)], {"loop_vars": ("n",)},
                       blocks=[block([], ["k"], loop), body]), relu], inputs=x + [("n", i)]))
expect("while-types", "a value keeps its type from turn to turn", contents=of(
    [op("while_loop", [("m", i)], {"loop_vars": ("n",)},
        blocks=[block([less], ["go"], loop), block([], ["x"], loop)]), relu],
    inputs=x + [("n", i)]))
expect("one-block", "[block-count]", contents=of(
    [op("cond", [("y", f)], {"pred": value("bool", True)}, blocks=[block([], ["x"])])]))
expect("block-inputs", "[block-inputs]", contents=of(
    [op("while_loop", [("y", f)], {"loop_vars": ("x",)}, blocks=[block([], ["x"])] * 2)]))
expect("state-in-block", "not always run", contents=of(
    [op("cond", [], {"pred": "p"},
        blocks=[block([op("write_state", [], {"input": "s", "data": "x"})], []),
                block([], [])]), relu],
    inputs=x + [("p", b), ("s", state("fp32", [2]))]))
expect("list-result", "[unsupported]", contents=of(
    [op("make_list", [("y", list_type(f, 1))],
        {"init_length": value("int32", 1), "elem_shape": value("int32", 2),
         "dtype": value("string", "fp32")})]))
expect("classes", "[class-count]", contents=of(
    [op("classify", [("y", tensor("string")), ("p", [(4, [(1, tensor("string")), (2, tensor("fp64"))])])],
        {"probabilities": "x", "classes": scalars("string", ["a"])})]))
expect("unsupported-op", "op `y` (non_zero): `non_zero` is not supported",
       contents=of([op("non_zero", [("y", f)], {"x": "x"})]))


# Blocks within blocks, deeper than messages may nest.
def nested(levels):
    inner = message(block([relu], ["y"]))
    for _ in range(levels):
        inner = message([(2, "y"), (3, [(1, "cond"), (4, inner), (4, inner[:0]),
                                        (2, [(1, "pred"), (2, [(1, [(2, value("bool", True))])])]),
                                        (3, named("y", f))])])
    return inner


expect("deep", "[nested-too-deeply]", contents=model([], program(
    {"main": [(1, named("x", f)), (2, "CoreML8"), (3, [(1, "CoreML8"), (2, nested(200))])]})))
# Many empty operations take no memory.
many = b"\x1a\0" * 5_000_000
expect("many-operations", "[too-many-errors]", contents=model([], program(
    {"main": [(1, named("x", f)), (2, "CoreML8"), (3, [(1, "CoreML8"), (2, many)])]})))
expect("many-in-block", "[too-many-errors]", contents=of(
    [op("cond", [("y", f)], {"pred": value("bool", True)}, blocks=[many, many])]))

print("\n".join(sorted(ids) + wrong + [f"{cases} packages, {len(wrong)} wrong"]))
sys.exit(bool(wrong))
