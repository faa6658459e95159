"""Images, class labels and words of packages, by `--describe` and by `coremltools.convert`.

A program of coremltools is converted twice: with `ct.ImageType`, `ct.ClassifierConfig` and
the rest, and plainly. anec gives the plain package what the other has. Steps: written by
anec; description, field by field that of the other; ops, in their order those of the other,
with its numbers; loaded by coremltools; run, on the same images."""
import functools
import json

import _packages
from harness import RIGHT, Item, near, relative_error, wrong

SCALE = 0.0078125


def subjects():
    """{name: (what --describe gets, the shape of `x`)}"""
    rgb, gray = (1, 3, 16, 12), (1, 1, 16, 12)
    words = {"author": "Ada", "license": "MIT", "version": "1.2", "description": "Names it.",
             "metadata": {"org.example.data": "photos"}}
    labels = [f"class {i}" for i in range(5)]
    return {
        "rgb": ({"inputs": {"x": {"image": "RGB"}}}, rgb),
        "bgr": ({"inputs": {"x": {"image": {"colors": "BGR", "scale": SCALE}}}}, rgb),
        "bias": ({"inputs": {"x": {"image": {"scale": SCALE, "bias": [-1, -0.5, 0.25]}}}}, rgb),
        "gray": ({"inputs": {"x": {"image": {"colors": "GRAYSCALE", "scale": SCALE,
                                             "bias": -1}}}}, gray),
        "labels": ({"classifier": {"classes": labels}}, rgb),
        "ids": ({"classifier": {"classes": [5, -4, 3, 2, 1 << 40], "probabilities": "y",
                                "label": "kind"}}, rgb),
        "words": (words, rgb),
        "default": ({"inputs": {"x": {"default": 0.5}}}, rgb),
        "all": (words | {"inputs": {"x": {"image": {"scale": SCALE, "bias": -1},
                                          "description": "A photo"}},
                         "outputs": {"y": {"description": "How sure"}},
                         "classifier": {"classes": labels}}, rgb),
    }


TARGETS = {"macos13": "macOS13", "macos14": "macOS14", "macos15": "macOS15"}


def items():
    return [Item(name, target, functools.partial(check, name, target),
                 sample=target == "macos13")
            for name in subjects() for target in TARGETS]


def program(shape, target):
    import coremltools as ct
    import numpy
    from coremltools.converters.mil import Builder as mb
    random = numpy.random.default_rng(1)
    weight = random.standard_normal((8, shape[1], 3, 3)).astype(numpy.float32)
    bias = random.standard_normal((1, 8, 1, 1)).astype(numpy.float32)
    matrix = random.standard_normal((5, 8)).astype(numpy.float32)

    @mb.program(input_specs=[mb.TensorSpec(shape=shape)], opset_version=target)
    def net(x):
        h = mb.conv(x=x, weight=weight, pad_type="same")
        h = mb.relu(x=mb.add(x=h, y=bias))
        h = mb.reduce_mean(x=h, axes=[2, 3], keep_dims=False)
        return mb.softmax(x=mb.linear(x=h, weight=matrix), axis=-1, name="y")
    return net


def convert(wanted, shape, target):
    """By coremltools: with what is wanted, and what is plain."""
    import coremltools as ct
    import numpy
    target = getattr(ct.target, TARGETS[target])
    feature = wanted.get("inputs", {}).get("x", {})
    image, classifier = feature.get("image"), wanted.get("classifier")
    given = {}
    if image is not None:
        image = {"colors": image} if isinstance(image, str) else image
        colors = image.get("colors", "RGB")
        bias = image.get("bias", 0)
        if colors in ("RGB", "BGR") and not isinstance(bias, list):
            bias = [bias] * 3
        given["inputs"] = [ct.ImageType(
            name="x", shape=shape, scale=image.get("scale", 1), bias=bias,
            color_layout=getattr(ct.colorlayout, colors))]
    if "default" in feature:
        given["inputs"] = [ct.TensorType(
            name="x", shape=shape,
            default_value=numpy.full(shape, feature["default"], numpy.float16))]
    if classifier:
        given["classifier_config"] = ct.ClassifierConfig(
            classifier["classes"], predicted_feature_name=classifier.get("label", "classLabel"),
            predicted_probabilities_output=classifier.get("probabilities"))
    common = {"minimum_deployment_target": target, "skip_model_load": True}
    model = ct.convert(program(shape, target), **given, **common)
    for key, name in (("author", "author"), ("license", "license"), ("version", "version"),
                      ("description", "short_description")):
        if key in wanted:
            setattr(model, name, wanted[key])
    for key, text in wanted.get("metadata", {}).items():
        model.user_defined_metadata[key] = text
    if "description" in feature:
        model.input_description["x"] = feature["description"]
    for one in wanted.get("outputs", {}).values():
        name = "y"
        if classifier:
            name = classifier.get("label", "classLabel") + "_probs"
        model.output_description[name] = one["description"]
    return model, ct.convert(program(shape, target), **common)


def check(name, target, ctx):
    wanted, shape = subjects()[name]

    def fill(folder):
        right, plain = convert(wanted, shape, target)
        right.save(str(folder / "right.mlpackage"))
        plain.save(str(folder / "plain.mlpackage"))

    folder = ctx.computed(fill, name, json.dumps(wanted), target, convert, program)
    (ctx.folder / "d.json").write_text(json.dumps(wanted))
    package = ctx.folder / "m.mlpackage"
    outcome = ctx.step(ctx.run("anec", folder / "plain.mlpackage", "-o", package,
                               "--describe=d.json"))
    steps = {"written": outcome or RIGHT}
    if outcome:
        return steps
    right = folder / "right.mlpackage"
    steps["description"] = same_descriptions(package, right)
    try:
        ours, theirs = _packages.load_program(package), _packages.load_program(right)
    except Exception as error:  # Whatever coremltools raises.
        steps["loaded"] = wrong(f"coremltools: {type(error).__name__}: {error}")
        return steps
    steps["loaded"] = RIGHT
    steps["ops"] = same_ops(ours, theirs)
    steps["run"] = same_results(ctx, package, right, shape, "image" in json.dumps(wanted))
    return steps


def same_descriptions(ours, theirs):
    import coremltools as ct
    messages = []
    for path in (ours, theirs):
        description = ct.utils.load_spec(str(path)).description
        for key in list(description.metadata.userDefined):
            if key.startswith(("com.github.apple.coremltools", "anec.")):
                del description.metadata.userDefined[key]
        messages.append(description)
    if messages[0] == messages[1]:
        return RIGHT
    ours, theirs = (str(message).splitlines() for message in messages)
    different = next(((a, b) for a, b in zip(ours + [""], theirs + [""]) if a != b), ("", ""))
    return wrong(f"`{different[0].strip()}` for `{different[1].strip()}`")


def same_ops(ours, theirs):
    import numpy
    lists = []
    for one in (ours, theirs):
        function = one.functions["main"]
        ops = [("input", [value.name, value.dtype.__name__, tuple(value.shape)])
               for value in function.inputs.values()]
        for op in function.operations:
            if op.op_type == "const":
                continue
            numbers = [numpy.asarray(value.val).tolist() for key, value in op.inputs.items()
                       if key in ("x", "y", "bias", "weight", "dtype")
                       and value.val is not None]
            ops.append((op.op_type, numbers))
        lists.append(ops)
    for a, b in zip(*lists):
        if a != b:
            return wrong(f"`{a[0]}` {str(a[1])[:40]} for `{b[0]}` {str(b[1])[:40]}")
    return RIGHT if len(lists[0]) == len(lists[1]) else wrong(
        f"{len(lists[0])} ops for {len(lists[1])}")


def same_results(ctx, package, right, shape, isImage):
    import numpy
    random = numpy.random.default_rng(2)
    if isImage:
        x = random.integers(0, 256, (shape[2], shape[3], 3)[:3 if shape[1] == 3 else 2])
        x = x.astype(numpy.float32)
    else:
        x = random.standard_normal(shape).astype(numpy.float32)
    results = []
    for place, path in enumerate((package, right)):
        got, outcome = ctx.outputs(path, {"x": x}, name=f"run-{place}")
        if outcome:
            return outcome
        results.append(got)
    if set(results[0]) != set(results[1]):
        return wrong(f"outputs {sorted(results[0])} for {sorted(results[1])}")
    for name, array in results[1].items():
        if array.dtype.kind in "USi" and (results[0][name] != array).any():
            return wrong(f"`{name}` is {results[0][name]} for {array}")
    return near(max([relative_error(results[0][name], array)
                     for name, array in results[1].items() if array.dtype.kind == "f"]), 0)
