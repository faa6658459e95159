"""What section `written` has anec write: a row makes the source and the flags of one
package, and knows the arrays that its weights must have.

`make(ctx)` returns (source, flags, arrays): arrays by name, which the program has bit by
bit, as the float type of the program; None where it may have them in other forms."""
import dataclasses
import functools
import os
import pathlib
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
MODELS = ROOT / "test" / "CoreML" / "Inputs" / "models"
SYSTEMS = ("macos12", "macos13", "macos14", "macos15", "macos26")

# Small sizes for the examples.
SIZES = {"dim": 32, "hidden": 48, "heads": 2, "kv_heads": 2, "seq": 12, "layers": 2,
         "vocab": 64, "batch": 2, "size": 12, "channels": 4, "blocks": 1, "head_dim": 16,
         "experts": 3, "state": 10, "patch": 4, "source_seq": 10, "words": 4, "features": 20}


@dataclasses.dataclass(frozen=True)
class Subject:
    name: str
    variant: str
    make: typing.Callable
    sample: bool = True
    # The function that runs; None for the default one.
    function: str | None = None


def defines(name):
    """--define flags for the sizes that an example has."""
    import re
    text = (EXAMPLES / f"{name}.tdsl").read_text()
    config = re.search(r"config \{(.*?)\n?\}", text, re.S)
    entries = dict(re.findall(r"(\w+) = ([^;]*);", config[1])) if config else {}
    return [f"--define={key}={SIZES[key]}" for key, value in entries.items()
            if key in SIZES and re.fullmatch(r"\d+", value)]


def example(name, flags, ctx):
    return EXAMPLES / f"{name}.tdsl", [*defines(name), "--init=1", *flags], None


def weighed(ctx):
    """A kernel with the weights of a file."""
    import numpy
    random = numpy.random.default_rng(1)
    text = """config { d = 24; h = 40; s = 16; }
kernel mlp(x: fp16[d, s]) -> fp16[d, s] {
  weight w1: fp16[h, d];
  weight w2: fp16[d, h];
  weight b: fp16[h, 1];
  return w2 @ silu(w1 @ x + b);
}
"""
    (ctx.folder / "mlp.tdsl").write_text(text)
    arrays = {"mlp.w1": (40, 24), "mlp.w2": (24, 40), "mlp.b": (40, 1)}
    arrays = {key: random.standard_normal(shape).astype(numpy.float16)
              for key, shape in arrays.items()}
    (ctx.folder / "weights").mkdir(exist_ok=True)
    for key, array in arrays.items():
        numpy.save(ctx.folder / "weights" / f"{key}.npy", array)
    return ctx.folder / "mlp.tdsl", ["--weights=weights"], arrays


def family(name, seed, flags, ctx):
    """A random language model of a family that `anec import` reads."""
    sys.path.insert(0, str(ROOT / "test" / "Import" / "Inputs"))
    here = os.getcwd()
    import random_models
    from greedy_families import LongDraw
    try:
        LongDraw.longest = 16
        random_models.write(seed, name, str(ctx.folder / "model"), LongDraw)
    finally:
        os.chdir(here)
    result = ctx.run("anec", "import", "model", "-o", "m.tdsl", "--float=fp32")
    assert result.returncode == 0, result.stderr
    return ctx.folder / "m.tdsl", ["--weights=model", "--decode", "--cache=state",
                                   "--context=16", *flags], None


def converted(name, ctx):
    """A package that coremltools wrote: images, classifiers, states, functions."""
    return MODELS / name / "model.mlpackage", [], None


def graph(build, ctx):
    """An ONNX model, whose initializers are its arrays."""
    import onnx
    from onnx import numpy_helper
    model = build()
    onnx.save(model, ctx.folder / "m.onnx")
    arrays = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer
              if one.name.startswith("w")}
    return ctx.folder / "m.onnx", [], arrays or None


def subjects():
    import _graphs
    part = functools.partial
    rows = []
    for name in ("attention", "conv_block", "embed", "feed_forward", "mlp"):
        rows += [Subject(name, system, part(example, name, [f"--deployment={system}"]),
                         sample=(name, system) in (("attention", "macos13"),
                                                   ("embed", "macos15")))
                 for system in SYSTEMS]
    rows.append(Subject("weights", "npy", weighed))
    for form in ("int8", "int4", "lut4", "lut6", "int8:per-tensor", "int4:group=8",
                 "lut4:per-channel", "lut6:group=8"):
        rows.append(Subject("llama", form.replace(":", "-"),
                            part(example, "llama", [f"--quantize={form}", "--decode",
                                                    "--cache=state", "--block=1",
                                                    "--prefill=1"]),
                            sample=form == "lut4"))
    for name in ("digits", "encoder_decoder", "gpt2", "mamba", "moe", "qwen3", "regressor",
                 "resnet", "unet", "vit"):
        rows.append(Subject(name, "model", part(example, name, []),
                            sample=name in ("gpt2", "mamba")))
    rows.append(Subject("lora", "model", part(example, "lora", [])))
    rows.append(Subject("llama", "lora", part(example, "llama", [
        "--lora=rank=4,targets=wq:wv"]),
                        sample=False))
    rows.append(Subject("llama", "functions", part(example, "llama", [
        "--decode", "--cache=state", "--block=1,4", "--prefill=8"])))
    for place, name in enumerate(("gemma2", "gemma3_text", "gpt2", "llama", "mistral", "phi",
                                  "phi3", "qwen2", "qwen3", "smollm3")):
        rows.append(Subject(name, "states",
                            part(family, name, 100 + place, ["--block=1,3", "--prefill=5"]),
                            sample=name in ("phi", "smollm3")))
    for name in ("image_classifier_ios16", "mb_state_accumulate_ios18", "multi_io_ios15",
                 "multifunction_ios18", "embedding_int32_ios17", "lstm_f16_ios16"):
        rows.append(Subject("converted", name, part(converted, name)))
    rows += [Subject("onnx", name, part(graph, build)) for name, build in _graphs.CASES.items()]
    rows += [Subject("random", str(seed), part(graph, part(_graphs.random_model, seed)),
                     sample=seed < 6) for seed in range(200)]
    return rows
