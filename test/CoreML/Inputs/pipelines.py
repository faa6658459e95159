"""Writes pipelines of models, runs them, and compares with the parts computed here one
after the other; then the packages that anec writes of them. Wrong pipelines are errors
about their part.

  pipelines.py ANEC ANE_RUN FOLDER"""
import pathlib
import random
import re
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from coreml import *

ANEC, RUN, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
MADE = pathlib.Path(__file__).parent / "pipelines"
FOLDER.mkdir(parents=True)
wrong = []
ids = set()
cases = 0
TYPES_OF = {"fp16": numpy.float16, "fp32": numpy.float32}


def call(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def pipeline(parts, inputs, outputs, field=202, names=()):
    """Inputs and outputs are FeatureDescriptions, parts the messages of models."""
    body = [(1, part) for part in parts] + [(2, name) for name in names]
    if field != 202:
        body = [(1, body)]
    return [(1, 9), (2, [(1, one) for one in inputs] + [(10, one) for one in outputs]),
            (field, body)]


def run(name, contents, inputs, expected, flags=(), written=True):
    """`inputs` and `expected` are arrays by name."""
    global cases
    cases += 1
    package = FOLDER / f"{name}.mlpackage"
    write(package, contents)
    sources = []
    for key, array_of in inputs.items():
        numpy.save(FOLDER / f"{name}-{key}.npy", array_of)
        sources += ["--input", f"{key}={FOLDER / f'{name}-{key}.npy'}"]
    forms = [package]
    if written:
        forms.append(FOLDER / f"{name}-written.mlpackage")
        result = call(ANEC, package, *flags, "-o", forms[1])
        if result.returncode:
            wrong.append(f"{name}: {result.stderr}")
            return
    for form, more in zip(forms, (flags, ())):
        out = FOLDER / f"{form.stem}-out"
        result = call(RUN, form, *sources, *more, "--numerics=fp32", "--output-dir", out)
        if result.returncode:
            wrong.append(f"{name}: {result.stderr}")
            continue
        files = {path.stem: numpy.load(path) for path in out.glob("*.npy")}
        if set(files) != set(expected):
            wrong.append(f"{name}: outputs {sorted(files)}, not {sorted(expected)}")
        for key, right in expected.items():
            got = files.get(key, numpy.zeros(0))
            if got.shape != right.shape or not numpy.allclose(got, right, rtol=2e-3, atol=2e-3):
                wrong.append(f"{name}: {key} is {got}, not {right}")
    check = call(ANEC, "check", package, "--target=m1", "--fail-on=never")
    if check.returncode:
        wrong.append(f"{name}: check ends with {check.returncode}: {check.stderr}")


def refuse(name, contents, *words, flags=(), tool=ANEC):
    global cases
    cases += 1
    package = FOLDER / f"{name}.mlpackage"
    write(package, contents)
    more = ["--emit=mil"] if tool == ANEC else []
    result = call(tool, package, *more, *flags)
    ids.update(re.findall(r" (\[[a-z-]+\])$", result.stderr, re.M))
    if result.returncode != 1 or result.stdout or "error: " not in result.stderr:
        wrong.append(f"{name}: exit code {result.returncode}, {result.stderr}")
    wrong.extend(f"{name}: no {word} in {result.stderr}" for word in words
                 if word not in result.stderr)


def sum_of(inputs, output, dtype, shape, factor=1.0, optional=()):
    """A model: the sum of its inputs by a factor."""
    ops, total = [const("factor", dtype, factor)], inputs[0]
    for index, name in enumerate(inputs[1:]):
        ops.append(op("add", [(f"sum_{index}", tensor(dtype, shape))], {"x": total, "y": name}))
        total = f"sum_{index}"
    ops.append(op("mul", [(output, tensor(dtype, shape))], {"x": total, "y": "factor"}))
    return simple({"main": function([(name, tensor(dtype, shape)) for name in inputs], ops,
                                    [output])},
                  [array(name, dtype, shape, optional=name in optional,
                         extra=[(51, optional[name])] if name in optional else ())
                   for name in inputs],
                  [array(output, dtype, shape)])


# Random pipelines: names that come again, parts of several types, optional inputs, and
# pipelines inside of pipelines.
def draw(random, level=0):
    shape = [random.randint(1, 3), random.randint(1, 4)]
    pool, values = {"a": "fp32", "b": "fp32"}, {}
    for key in pool:
        values[key] = numpy.array([[random.uniform(-1, 1) for _ in range(shape[1])]
                                   for _ in range(shape[0])], numpy.float32)
    inputs, parts, given = dict(values), [], []
    for index in range(random.randint(1, 4)):
        taken = random.sample(sorted(pool), random.randint(1, min(3, len(pool))))
        dtype = random.choice(("fp16", "fp32"))
        factor = random.choice((0.5, 1.0, 2.0))
        output = random.choice([f"r{index}", "again"])
        if output in taken:
            output = f"r{index}"
        optional = {"missing": 0.25} if random.random() < 0.3 else {}
        part = sum_of(taken + list(optional), output, dtype, shape, factor, optional)
        if random.random() < 0.25:
            part = pipeline([part], [array(name, dtype, shape) for name in taken],
                            [array(output, dtype, shape)])
        parts.append(part)
        total = sum(values[name].astype(TYPES_OF[dtype]).astype(numpy.float64)
                    for name in taken) + sum(optional.values())
        values[output] = (total * factor).astype(TYPES_OF[dtype])
        pool[output] = dtype
        given.append(output)
    outputs = sorted(set(random.sample(given, random.randint(1, len(given)))))
    return (pipeline(parts, [array(name, "fp32", shape) for name in inputs],
                     [array(name, pool[name], shape) for name in outputs],
                     field=random.choice((200, 201, 202))),
            inputs, {name: values[name] for name in outputs})


for seed in range(40):
    run(f"random-{seed}", *draw(random.Random(seed)))

# One part alone, by its number.
two = pipeline([sum_of(["x"], "y", "fp32", [2, 2], 2.0), sum_of(["y"], "z", "fp16", [2, 2], 3.0)],
               [array("x", "fp32", [2, 2])], [array("z", "fp16", [2, 2])], names=("p", "q"))
ones = numpy.ones((2, 2), numpy.float32)
run("both", two, {"x": ones}, {"z": 6 * ones})
run("first", two, {"x": ones}, {"y": 2 * ones}, flags=["--part=0"])
run("second", two, {"y": ones}, {"z": 3 * ones}, flags=["--part=1"])
info = call(RUN, "info", FOLDER / "both.mlpackage").stdout
wrong.extend(f"info: no {line}" for line in ("part 0: mlProgram `p`", "part 1: mlProgram `q`")
             if line not in info)
found = call(ANEC, "check", FOLDER / "both.mlpackage", "--for=in-memory", "--all",
             "--fail-on=never").stdout
wrong.extend(f"check: no {place}" for place in ("in part 0, function `main`",
                                                "in part 1, function `main`")
             if place not in found)
same = call(ANEC, "diff", FOLDER / "both.mlpackage", FOLDER / "both-written.mlpackage")
if same.returncode:
    wrong.append(f"diff: {same.stdout}")
if call(RUN, "placement", FOLDER / "both.mlpackage").returncode:
    wrong.append("placement")

# A state that two parts share, and a shape that follows from the part before.
def counting(name, size=2, given="x"):
    """A model that adds its input to a state."""
    kind = tensor("fp16", [size])
    ops = [op("read_state", [("old", kind)], {"input": "kept"}),
           op("add", [("new", kind)], {"x": "old", "y": given}),
           op("write_state", [], {"input": "kept", "data": "new"}),
           op("identity", [(name, kind)], {"x": "new"})]
    kept = [(1, "kept"), (3, [(8, [(1, [(1, bytes([size])), (2, 65552)])])])]
    return [(1, 9), (2, [(1, array(given, "fp16", [size])), (10, array(name, "fp16", [size])),
                         (13, kept)]),
            (502, program({"main": function([(given, kind), ("kept", state("fp16", [size]))], ops,
                                            [name])}))]


pair = numpy.array([1, 2], numpy.float16)
run("state", pipeline([counting("y"), counting("z")], [array("x", "fp16", [2])],
                      [array("y", "fp16", [2]), array("z", "fp16", [2])]),
    {"x": pair}, {"y": pair, "z": 2 * pair, "kept": 2 * pair})
any_rows = simple({"main": function(
    [("y", tensor("fp32", [None, 2]))],
    [op("relu", [("z", tensor("fp32", [None, 2]))], {"x": "y"})], ["z"])},
    [array("y", "fp32", [1, 2], extra=[(31, [(1, [(1, 1), (2, 9)]), (1, [(1, 2), (2, 2)])])])],
    [array("z", "fp32", [])])
run("flexible", pipeline([sum_of(["x"], "y", "fp32", [3, 2]), any_rows],
                         [array("x", "fp32", [3, 2])], [array("z", "fp32", [])]),
    {"x": numpy.ones((3, 2), numpy.float32)}, {"z": numpy.ones((3, 2), numpy.float32)})


# Boxes.
def suppression(boxes, classes, per_class, fixed=None, overlap=0.45, least=0.2):
    rows = [(31, [(1, [(1, fixed or 0), (2, fixed or -1)])])]
    number = [(2, b"")]
    return [(1, 4), (2, [(1, array("c", "fp32", [boxes, classes])),
                         (1, array("b", "fp32", [boxes, 4])),
                         (1, [(1, "iou"), (3, number + [(1000, 1)])]),
                         (1, [(1, "least"), (3, number + [(1000, 1)])]),
                         (10, array("confidence", "fp32", [], extra=rows)),
                         (10, array("coordinates", "fp32", [], extra=rows))]),
            (610, [(1, [(1, per_class)]), (110, Double(overlap)), (111, Double(least)),
                   (200, "c"), (201, "b"), (202, "iou"), (203, "least"),
                   (210, "confidence"), (211, "coordinates")])]


def keep(scores, boxes, per_class, overlap, least, fixed):
    best, kind = scores.max(1), scores.argmax(1)
    kept = []
    for box in sorted(range(len(best)), key=lambda box: -best[box]):
        if best[box] < least:
            continue

        def area(low, high):
            return numpy.prod(numpy.maximum(high - low, 0))

        for other in kept:
            low = [boxes[one][:2] - boxes[one][2:] / 2 for one in (box, other)]
            high = [boxes[one][:2] + boxes[one][2:] / 2 for one in (box, other)]
            both = area(numpy.maximum(*low), numpy.minimum(*high))
            either = sum(area(*pair) for pair in zip(low, high)) - both
            if (not per_class or kind[box] == kind[other]) and both / either > overlap:
                break
        else:
            kept.append(box)
    if fixed:
        kept = kept[:fixed]
    empty = numpy.zeros((max((fixed or 0) - len(kept), 0), 1))
    return [numpy.concatenate([array_of[kept], empty.repeat(array_of.shape[1], 1)])
            for array_of in (scores, boxes)]


drawn = numpy.random.default_rng(3)
for place, (per_class, fixed, overlap, least) in enumerate(
        [(True, None, None, None), (False, None, None, None), (True, 4, None, None),
         (False, 30, None, None), (True, None, 0.1, None), (False, None, 1.0, 0.0),
         (True, None, None, 2.0)]):
    scores = drawn.random((12, 3), numpy.float32)
    boxes = drawn.random((12, 4), numpy.float32) + numpy.float32([0, 0, 0.4, 0.4])
    given = {"s": scores, "x": boxes}
    given |= {key: numpy.float32([number]) for key, number in
              (("iou", overlap), ("least", least)) if number is not None}
    right = keep(scores, boxes, per_class, 0.45 if overlap is None else overlap,
                 0.2 if least is None else least, fixed)
    whole = pipeline([sum_of(["s"], "c", "fp32", [12, 3]), sum_of(["x"], "b", "fp32", [12, 4]),
                      suppression(12, 3, per_class, fixed)],
                     [array("s", "fp32", [12, 3]), array("x", "fp32", [12, 4]),
                      [(1, "iou"), (3, [(2, b""), (1000, 1)])],
                      [(1, "least"), (3, [(2, b""), (1000, 1)])]],
                     [array("confidence", "fp32", []), array("coordinates", "fp32", [])])
    run(f"boxes-{place}", whole, given, dict(zip(("confidence", "coordinates"), right)),
        written=False)

# Boxes that the pipeline itself is given, in the shape that it describes: fixed, or one of
# several, of which the caller's arrays choose.
def of_inputs(shape, dtype="fp32"):
    return pipeline([suppression(12, 3, True)],
                    [array("c", dtype, shape, extra=[(31, [(1, [(1, 1), (2, -1)]),
                                                           (1, [(1, 3), (2, 3)])])]
                           if shape[0] != 12 else ()),
                     array("b", dtype, [shape[0], 4],
                           extra=[(21, [(1, [(1, bytes([rows, 4]))]) for rows in (shape[0], 12)])]
                           if shape[0] != 12 else ())],
                    [array("confidence", "fp32", []), array("coordinates", "fp32", [])])


given = {"c": scores, "b": boxes}
right = dict(zip(("confidence", "coordinates"), keep(scores, boxes, True, 0.45, 0.2, None)))
run("boxes-given", of_inputs([12, 3]), given, right, written=False)
run("boxes-chosen", of_inputs([7, 3]), given, right, written=False)
run("boxes-double", of_inputs([12, 3], "fp64"), given, right, written=False)
run("boxes-half", pipeline([sum_of(["s"], "c", "fp32", [12, 3]), suppression(12, 3, True)],
                           [array("s", "fp32", [12, 3]), array("b", "fp32", [12, 4])],
                           [array("confidence", "fp32", []), array("coordinates", "fp32", [])]),
    {"s": scores, "b": boxes}, right, written=False)
# The same by coremltools 9.0's `Pipeline`, which describes inputs as doubles.
out = FOLDER / "boxes-tools-out"
numpy.save(FOLDER / "c.npy", scores)
numpy.save(FOLDER / "b.npy", boxes)
result = call(RUN, MADE / "boxes.mlmodel", f"--input=c={FOLDER}/c.npy", f"--input=b={FOLDER}/b.npy",
              "--output-dir", out)
for key, array_of in zip(("confidence", "coordinates"), keep(scores, boxes, True, 0.45, 0.25, None)):
    got = numpy.load(out / f"{key}.npy") if result.returncode == 0 else numpy.zeros(0)
    if got.shape != array_of.shape or abs(got - array_of).max() > 1e-6:
        wrong.append(f"boxes by coremltools: {key} is {got}, {result.stderr}")
result = call(ANEC, MADE / "described.mlmodel", "--emit=mil")
if result.returncode != 1 or "what the pipeline gives is `fp64[3]` [part-shape]" not in result.stderr:
    wrong.append(f"described by coremltools: {result.stderr}")
result = call(RUN, FOLDER / "boxes-chosen.mlpackage", "--shape=c=8x3", "--shape=b=9x4")
if "[shape-not-allowed]" not in result.stderr:
    wrong.append(f"boxes-chosen: {result.stderr}")
refuse("boxes-flat", pipeline([suppression(12, 3, True)],
                              [array("c", "fp32", [36]), array("b", "fp32", [12, 4])],
                              [array("confidence", "fp32", [])]),
       "[suppression-shapes]", "`c` of `fp32[36]`", tool=RUN)
refuse("boxes-unknown", pipeline([suppression(12, 3, True)], [array("c", "fp32", [12, 3])],
                                 [array("confidence", "fp32", [])]),
       "[part-input]", "`b`", tool=RUN)
refuse("boxes-written", whole, "[part-on-host]", "--part=0", "--part=1")
refuse("boxes-part", whole, "in part 2: the part is a `nonMaximumSuppression`",
       flags=["--part=2"])
refuse("boxes-shape", pipeline([sum_of(["s"], "c", "fp32", [3]), sum_of(["x"], "b", "fp32", [3, 4]),
                                suppression(3, 3, True)],
                               [array("s", "fp32", [3]), array("x", "fp32", [3, 4])],
                               [array("confidence", "fp32", [])]),
       "[suppression-shapes]", "`c` of `fp32[3]`", tool=RUN)

# Wrong ones.
x22, z22 = [array("x", "fp32", [2, 2])], [array("z", "fp32", [2, 2])]
first, second = sum_of(["x"], "y", "fp32", [2, 2]), sum_of(["y"], "z", "fp32", [2, 2])
refuse("no-parts", pipeline([], x22, z22), "[no-parts]")
refuse("empty", [(1, 4), (202, [])], "[no-parts]")
refuse("number", pipeline([first, second], x22, z22), "[no-such-part]", "1 (`mlProgram`)",
       flags=["--part=2"])
refuse("no-pipeline", first, "[not-a-pipeline]", flags=["--part=0"])
refuse("cycle", pipeline([second, first], x22, z22), "[part-input]", "in part 0", "`y`")
refuse("missing", pipeline([first, sum_of(["w"], "z", "fp32", [2, 2])], x22, z22),
       "[part-input]", "in part 1", "`w`")
refuse("no-output", pipeline([first], x22, z22), "[part-output]", "`z`")
refuse("shapes", pipeline([first, sum_of(["y"], "z", "fp32", [4])], x22, z22), "[part-shape]")
# What the pipeline describes is what callers give.
z2 = [array("z", "fp32", [2])]
refuse("described", pipeline([sum_of(["x"], "z", "fp32", [2])], [array("x", "fp32", [3])], z2),
       "in part 0", "the input `x` is `fp32[2]`, and what the pipeline gives is `fp32[3]`",
       "[part-shape]")
refuse("inside", pipeline([pipeline([sum_of(["x"], "z", "fp32", [2])],
                                    [array("x", "fp32", [3])], z2)],
                          [array("x", "fp32", [2])], z2), "`fp32[3]`", "[part-shape]")
rows = [(31, [(1, [(1, 3), (2, 5)]), (1, [(1, 2), (2, 2)])])]
refuse("range", pipeline([sum_of(["y"], "z", "fp32", [2, 2])],
                         [array("y", "fp32", [3, 2], extra=rows)], z22),
       "`fp32[3, 2], axes of 3..5, 2`", "[part-shape]")
# A part that takes several shapes takes that.
three = numpy.float32([[1, -2], [3, 4], [-5, 6]])
run("described-part", pipeline([any_rows], [array("y", "fp32", [3, 2])],
                               [array("z", "fp32", [])]),
    {"y": three}, {"z": numpy.maximum(three, 0)})
run("range-part", pipeline([any_rows], [array("y", "fp32", [3, 2], extra=rows)],
                           [array("z", "fp32", [])]),
    {"y": three}, {"z": numpy.maximum(three, 0)})
refuse("function", pipeline([first, second], x22, z22), "[function-of-pipeline]",
       flags=["--function=other"])
refuse("kind", pipeline([first, [(1, 4), (500, [])]], x22, z22), "[part-kind]",
       "`neuralNetwork`", "convert_to=\"mlprogram\"", "--part=0")
refuse("middle", pipeline([suppression(2, 2, True), first], x22, z22), "[part-at-end]")
refuse("states", pipeline([counting("y"), counting("z", 3, "w")],
                          [array("x", "fp16", [2]), array("w", "fp16", [3])],
                          [array("z", "fp16", [2])]), "[part-state]", "`kept`")
image = [(1, "y"), (3, [(4, [(1, 2), (2, 2), (3, 10)])])]
of_image = simple({"main": function([("y", tensor("fp32", [1, 1, 2, 2]))],
                                    [op("relu", [("z", tensor("fp32", [1, 1, 2, 2]))],
                                        {"x": "y"})], ["z"])},
                  [image], [array("z", "fp32", [1, 1, 2, 2])])
x4, z4 = [array("x", "fp32", [1, 1, 2, 2])], [array("z", "fp32", [1, 1, 2, 2])]
refuse("image", pipeline([sum_of(["x"], "y", "fp32", [1, 1, 2, 2]), of_image], x4, z4),
       "[part-image]", "`y` is an image, and what the pipeline gives is an array")
to_image = sum_of(["x"], "y", "fp32", [1, 1, 2, 2], 100.0)
to_image[1] = (2, [(1, x4[0]), (10, image)])
run("images", pipeline([to_image, of_image], x4, z4),
    {"x": numpy.float32([[[[-1, 0.123], [1.5, 9]]]])},
    {"z": numpy.float32([[[[0, 12], [150, 255]]]])})
deep = first
for _ in range(20):
    deep = pipeline([deep], x22, [array("y", "fp32", [2, 2])])
refuse("deep", deep, "[parts-nest]")
bad = pipeline([first, second], x22, z22)
bad[2] = (202, [(1, b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")])
refuse("damaged", bad, "[model-message]")
write(FOLDER / "networks.mlpackage", pipeline([first, [(1, 4), (602, [])]], x22, z22))
found = call(ANEC, "check", FOLDER / "networks.mlpackage", "--fail-on=never")
ids.update(re.findall(r" (\[part-[a-z-]+\])$", found.stdout + found.stderr, re.M))
if "`featureVectorizer`, which never runs on the engine" not in found.stdout + found.stderr:
    wrong.append(f"check: {found.stdout} {found.stderr}")

print(*sorted(ids), *wrong, sep="\n")
print(f"{cases} pipelines, {len(wrong)} wrong")
