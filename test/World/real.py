"""Real weights: ONNX models inside of packages that anybody installs.

Steps: read; run, in fp32 as onnxruntime; fp16, the package that anec writes, beside that
of onnx2coreml, both as ane-run computes them; written, taken by coremltools.

fp16 errors are those of `harness.half_error`, over as many inputs as it takes: the
output of a voice detector is one number."""
import functools
import pathlib
import subprocess

import _packages
import harness
from harness import RIGHT, Item, near, relative_error, relative_norm, wrong

EXACT = 1e-4
WORSE = 1.5
# Inputs and outputs in fp16 are off by up to 2^-11 of an element each, whatever is
# computed between them.
FLOOR = 2.0 ** -10

AUDIO, TEXT, BYTES, RATE, STATE = "audio", "text", "bytes", "rate", "state"
OCR = {"x": (TEXT, [1, 3, 48, 320])}
OCR_CLS = {"x": (TEXT, [1, 3, 48, 192])}
OCR_DET = {"x": (TEXT, [1, 3, 320, 320])}
SILERO = {"input": (AUDIO, [1, 576]), "state": (STATE, [2, 1, 128])}
SILERO_RATE = SILERO | {"sr": (RATE, [])}

# Name: package, file, inputs, and the largest error of the fp16 package where it is
# asked for.
MODELS = {
    "basic-pitch": ("basic-pitch", "nmp.onnx",
                    {"serving_default_input_2:0": (AUDIO, [1, 43844, 1])}, None),
    "magika": ("magika", "model.onnx", {"bytes": (BYTES, [1, 2048])}, None),
    "ocr-v2-cls": ("ocr-models", "ch_ppocr_mobile_v2.0_cls_infer.onnx", OCR_CLS, None),
    "ocr-v4-det": ("ocr-models", "ch_PP-OCRv4_det_infer.onnx", OCR_DET, 1e-2),
    "ocr-v4-rec": ("ocr-models", "ch_PP-OCRv4_rec_infer.onnx", OCR, None),
    "rapidocr-cls": ("rapidocr", "ch_ppocr_mobile_v2.0_cls_mobile.onnx", OCR_CLS, None),
    "rapidocr-det": ("rapidocr", "PP-OCRv6_det_small.onnx", OCR_DET, 1e-2),
    "rapidocr-rec": ("rapidocr", "PP-OCRv6_rec_small.onnx", OCR, None),
    "silero": ("silero-vad", "silero_vad.onnx", SILERO_RATE, 1e-2),
    "silero-half": ("silero-vad", "silero_vad_half.onnx", SILERO, 1e-2),
    "silero-ifless": ("silero-vad", "silero_vad_op18_ifless.onnx", SILERO_RATE, 1e-2),
    "silero-op15": ("silero-vad", "silero_vad_16k_op15.onnx", SILERO_RATE, 1e-2),
    "silero-openvino": ("silero-vad", "silero_vad_openvino_16k.onnx", SILERO, 1e-2),
    "silero-sequence": ("silero-vad", "silero_vad_16k_sequence.onnx",
                        {"input": (AUDIO, [4, 576]), "h": (STATE, [1, 1, 128]),
                         "c": (STATE, [1, 1, 128])}, 1e-2),
    "vad-web-legacy": ("vad-web", "silero_vad_legacy.onnx",
                       {"input": (AUDIO, [1, 1536]), "sr": (RATE, []),
                        "h": (STATE, [2, 1, 64]), "c": (STATE, [2, 1, 64])}, 1e-2),
    "vad-web-v5": ("vad-web", "silero_vad_v5.onnx", SILERO_RATE, 1e-2),
    "vad-web-v6": ("vad-web", "silero_vad_v6.onnx", SILERO_RATE, 1e-2),
}
# Conversions by the peer that take long; a full run has them.
SLOW = ("basic-pitch", "ocr-v4-rec", "rapidocr-det", "rapidocr-rec", "rapidocr-cls")


def items():
    return [Item(name, "onnx", functools.partial(check, name), sample=name not in SLOW,
                 seconds=300) for name in MODELS]


def draws(name):
    has_state = any(kind == STATE for kind, _ in MODELS[name][2].values())
    return 24 if has_state else 4


@functools.cache
def folder():
    script = pathlib.Path(__file__).with_name("models")
    return pathlib.Path(subprocess.run([str(script)], check=True, capture_output=True,
                                       text=True).stdout.strip())


def path_of(name):
    package, file, _, _ = MODELS[name]
    return next(folder().joinpath(package).rglob(file))


def draw(kind, shape, seed):
    import numpy
    random = numpy.random.default_rng(seed)
    if kind == AUDIO:
        size = int(numpy.prod(shape))
        time = numpy.arange(size) / 16000
        tones = sum(0.2 * numpy.sin(2 * numpy.pi * pitch * time)
                    for pitch in random.uniform(90, 900, 3))
        noise = 0.02 * random.standard_normal(size)
        return (tones + noise).astype("float32").reshape(shape)
    if kind == TEXT:
        return page(shape, seed)
    if kind == BYTES:
        return random.integers(0, 257, shape).astype("int32")
    if kind == RATE:
        return numpy.array(16000, "int64")
    return (0.1 * random.standard_normal(shape)).astype("float32")


def page(shape, seed):
    """Lines of text as the models of OCR take them, from -1 to 1."""
    import numpy
    from PIL import Image, ImageDraw, ImageFont
    height, width = shape[2:]
    image = Image.new("L", (width, height), 245)
    size = height // 10 if height > 100 else height * 2 // 3
    font = ImageFont.load_default(size)
    for line, top in enumerate(range(size // 4, height - size + 4, size * 2)):
        ImageDraw.Draw(image).text((8 + seed, top), f"{seed}{line} Numerics of a page",
                                   fill=15 + 20 * seed, font=font)
    pixels = (numpy.asarray(image, "float32") / 255 - 0.5) / 0.5
    return numpy.ascontiguousarray(numpy.broadcast_to(pixels, shape)).astype("float32")


def drawn(name, seed):
    return {key: draw(kind, shape, seed)
            for key, (kind, shape) in MODELS[name][2].items()}


def fill_reference(name, target):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path_of(name)), options)
    for seed in range(draws(name)):
        outputs = session.run(None, drawn(name, seed))
        harness.save_arrays(target / f"{seed}.npz",
                            {f"{i:03}": value for i, value in enumerate(outputs)})


def fill_package(name, target):
    """onnx2coreml's package, or why there is none."""
    import onnx
    import onnx2coreml
    model = onnx.load(str(path_of(name)))
    shapes = {key: shape for key, (_, shape) in MODELS[name][2].items()}
    for value in model.graph.input:
        for dim, extent in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, [])):
            dim.Clear()
            dim.dim_value = extent
    try:
        onnx2coreml.convert(model, minimum_deployment_target="iOS17").save(
            str(target / "m.mlpackage"))
    except Exception as error:  # Whatever the peer raises.
        (target / "failed").write_text(f"{type(error).__name__}: {error}")


def check(name, ctx):
    model = path_of(name)
    parts = (name, (pathlib.Path(__file__).with_name("models.txt")).read_text(), repr(MODELS[name]))
    reference = ctx.computed(functools.partial(fill_reference, name), "real", *parts,
                             fill_reference, draws, draw, page)
    exact = [list(harness.load_arrays(reference / f"{seed}.npz").values())
             for seed in range(draws(name))]
    shapes = [f"--shape={key}={'x'.join(map(str, shape))}"
              for key, (_, shape) in MODELS[name][2].items() if shape]
    outcome = ctx.step(ctx.run("anec", model, *shapes, "-o", "m.mil", seconds=200))
    if outcome:
        return {"read": outcome}
    steps = {"read": RIGHT}
    outputs, outcome = ctx.outputs(model, drawn(name, 0), "--numerics=fp32")
    steps["run"] = outcome or near(
        max(map(error_of_one, exact[0], ordered(outputs, output_names(model)))), EXACT)
    outcome = ctx.step(ctx.run("anec", model, *shapes, "-o", "m.mlpackage", seconds=200))
    if outcome:
        steps["fp16"] = outcome
        return steps
    steps["written"] = taken(ctx.folder / "m.mlpackage")
    steps["fp16"] = compare(name, ctx, exact, parts)
    return steps


def output_names(model):
    import onnx
    return [value.name for value in onnx.load(str(model), load_external_data=False).graph.output]


def taken(package):
    try:
        _packages.load_program(package)
    except Exception as error:  # Whatever the peer raises.
        return wrong(f"coremltools: {error}")
    return RIGHT


def compare(name, ctx, exact, parts):
    """anec's package beside the peer's."""
    ours, outcome = package_error(name, ctx, ctx.folder / "m.mlpackage", exact)
    if outcome:
        return outcome
    most = MODELS[name][3]
    if most and ours > most:
        return wrong(f"off by {ours:.2g}, at most {most:g} is asked for")
    peer = ctx.computed(functools.partial(fill_package, name), "onnx2coreml", *parts,
                        fill_package)
    theirs = None
    if not (peer / "failed").exists():
        theirs, _ = package_error(name, ctx, peer / "m.mlpackage", exact)
    if theirs is None:
        return near(ours, most or 5e-2)
    if ours <= max(FLOOR, WORSE * theirs):
        return RIGHT
    return wrong(f"off by {ours:.2g}, onnx2coreml by {theirs:.2g}")


def package_error(name, ctx, package, exact):
    """(the error, None), or an outcome."""
    names, results = _packages.features(package)
    norms = []
    for seed, right in enumerate(exact):
        inputs = drawn(name, seed)
        given = {by: inputs[key] for by in names for key in inputs
                 if plain(by) == plain(key)}
        outputs, outcome = ctx.outputs(package, given)
        if outcome:
            return None, outcome
        norms.append([relative_norm(got.ravel(), one.ravel())
                      for got, one in zip(ordered(outputs, results), right)])
    return harness.half_error(norms), None


def plain(name):
    """A name as both writers may spell it: a keyword of MIL has more behind it."""
    kept = "".join(char if char.isalnum() else "_" for char in name)
    return kept.removesuffix("_workaround").rstrip("_")


def ordered(outputs, names):
    """Arrays by name in the order of `names`."""
    by_plain = {plain(key): value for key, value in outputs.items()}
    return [by_plain[plain(name)] for name in names]


def error_of_one(right, got):
    return relative_error(got.reshape(right.shape) if got.size == right.size else got, right)
