"""Gives `anec` each flag with each kind of source and each output, and looks whether it
changes what is written or said, or is refused: a flag that is accepted and changes nothing
is an error.

usage: flags-have-effect.py ANEC ROOT FOLDER"""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy

ANEC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test/Onnx/Inputs"))
import onnx_writer  # noqa: E402

FOLDER = pathlib.Path(sys.argv[3])
FOLDER.mkdir(parents=True)
os.chdir(FOLDER)

KERNEL = """config { dim = 64; n = 32; }
layer l(x: fp16[dim, n]) -> fp16[dim, n] {
  weight w: fp16[dim, dim];
  return tanh(w @ x) + softmax(x);
}
kernel k(x: fp16[dim, n], y: fp16[dim, n]) -> fp16[dim, n] {
  weight a: fp16[dim, dim];
  return a @ exp(x) + l(x) + exp(x) + y;
}
"""
SINGLE = """config { dim = 64; n = 32; }
kernel k(x: fp32[dim, n]) -> fp32[dim, n] {
  weight a: fp32[dim, dim];
  return a @ exp(x) + exp(x);
}
"""
# Its weights are inline.
SMALL = """kernel k(x: fp32[2, 32]) -> fp32[2, 32] {
  weight a: fp32[2, 2];
  return a @ exp(x) + exp(x);
}
"""
MODEL = """config { dim = 16; seq = 64; vocab = 64; blocks = 2; }
layer block(x: fp16[dim, seq]) -> fp16[dim, seq] {
  weight norm: fp16[dim];
  weight wq, wk, wv: fp16[dim, dim];
  weight w1: fp16[2 * dim, dim];
  weight w2: fp16[dim, 2 * dim];
  q = split_heads(wq @ x, 2);
  k = split_heads(wk @ x, 2);
  v = split_heads(wv @ x, 2);
  y = x + merge_heads(sdpa(q, k, v, causal = true));
  return y + w2 @ silu(w1 @ rmsnorm(y, norm));
}
model tiny(tokens: int32[seq], targets: int32[seq]) -> fp32 {
  weight embedding: fp16[vocab, dim];
  weight norm: fp16[dim];
  x = gather(embedding, tokens);
  repeat i in 0..blocks { x = block[i](x); }
  return cross_entropy(embedding @ rmsnorm(x, norm), targets);
}
"""


def anec(*args):
    return subprocess.run([ANEC, *args], capture_output=True, timeout=60)


def make(*args):
    made = anec(*args)
    assert made.returncode == 0, (args, made.stderr)


def write_onnx(name, extent):
    graph = onnx_writer.Graph()
    rows = graph.input("x", numpy.float32, [extent, 64])
    weight = graph.constant(numpy.ones((64, 32), numpy.float32), "w")
    product = graph.op("MatMul", rows, weight)
    graph.output(graph.op("Add", graph.op("Relu", product), graph.op("Relu", product)),
                 numpy.float32)
    graph.save(name)


def make_sources():
    for name, text in (("kernel", KERNEL), ("single", SINGLE), ("small", SMALL),
                       ("model", MODEL)):
        pathlib.Path(f"{name}.tdsl").write_text(text)
        make(f"{name}.tdsl", "-o", f"{name}.ir")
    states = ["--decode", "--cache=state", "--context=32"]
    for ending in "mil", "mlpackage", "mlmodelc":
        # With equal ops, for passes that share them.
        make("kernel.tdsl", "--kernel=k", "--init=1", "--skip-passes=cse", "-o",
             f"kernel.{ending}")
        make("single.tdsl", "--init=1", "-o", f"single.{ending}")
        make("model.tdsl", *states, "--init=1", "-o", f"several.{ending}")
    make("small.tdsl", "--init=1", "--skip-passes=cse", "-o", "small.mlpackage")
    shutil.copyfile("small.mlpackage/Data/com.apple.CoreML/model.mlmodel", "small.mlmodel")
    make("model.tdsl", "--init=1", "-o", "model.anepkg")
    for name in "mlp", "dynamic":
        shutil.copyfile(ROOT / f"test/Torch/Inputs/{name}.pt2", f"{name}.pt2")
    write_onnx("mlp.onnx", 4)
    write_onnx("free.onnx", "rows")
    # What flags name.
    for name, shape in ("x", (64, 32)), ("y", (64, 32)):
        numpy.save(f"{name}.npy", numpy.ones(shape, numpy.float16))
    os.mkdir("values")
    for name, shape in (("k.a", (64, 64)), ("l.w", (64, 64)), ("other", (64, 64))):
        numpy.save(f"values/{name}.npy", numpy.ones(shape, numpy.float16))
    pathlib.Path("text.txt").write_text("a text of few words " * 50)
    pathlib.Path("map.json").write_text('{"k.a": "other", "w": "v"}')
    pathlib.Path("describe.json").write_text('{"author": "A"}')


# Instances of each kind of source.
SOURCES = {
    "tdsl": [["kernel.tdsl", "--kernel=k"], ["model.tdsl"], ["single.tdsl"]],
    "ir": [["kernel.ir", "--kernel=k"], ["model.ir"], ["single.ir"]],
    "mil": [["kernel.mil"], ["single.mil"], ["several.mil"]],
    "mlmodelc": [["kernel.mlmodelc"], ["single.mlmodelc"], ["several.mlmodelc"]],
    "mlpackage": [["kernel.mlpackage"], ["single.mlpackage"], ["several.mlpackage"]],
    "mlmodel": [["small.mlmodel"]],
    "onnx": [["mlp.onnx"], ["free.onnx"]],
    "pt2": [["mlp.pt2"], ["dynamic.pt2"]],
    "anepkg": [["model.anepkg"]],
}
# Endings of outputs.
OUTPUTS = {"mil": ".mil", "coreml": ".mlpackage", "compiled-coreml": ".mlmodelc",
           "ir": ".ir", "tdsl": ".tdsl", "dot": ".dot", "report": ".txt",
           "json": ".json", "html": ".html", "package": ".anepkg"}
if not os.environ.get("ANEC_SLOW_TESTS"):
    # They are like others.
    for alike in "compiled-coreml", "json", "html", "dot":
        del OUTPUTS[alike]
    for alike in "ir", "mil", "mlmodelc", "mlmodel", "pt2":
        del SOURCES[alike]
# Those that have the values of weights.
WITH_WEIGHTS = {"mil", "coreml", "compiled-coreml", "package"}

RULES = re.findall(r"^### ([a-z0-9-]+)$", (ROOT / "docs/reference/rules.md").read_text(), re.M)
DENY = [f"--assume={rule}=deny" for rule in RULES]
ALLOW = [f"--assume={rule}=allow" for rule in RULES]
WIDE = ["--define=dim=40000"]
DECODE = ["--decode"]
STATES = ["--decode", "--cache=state"]
FORWARD = ["--forward-only"]
MODEL_PASSES = ["--passes=model"]
INT8 = ["--quantize=int8"]
EXAMPLES = ["--calibrate=x=x.npy", "--calibrate=y=y.npy"]
W8A8 = ["--quantize=w8a8", *EXAMPLES]
W8A8_TEXT = ["--quantize=w8a8", "--calibrate=text.txt", *FORWARD]
INT8_TEXT = ["--quantize=int8", "--calibrate=text.txt", *FORWARD]

# Of each flag, what is given without and with it: one must differ.
FLAGS = {
    "define": [([], "n=48"), ([], "seq=32")],
    "shape": [([], "x=4x64")],
    "fix": [([], "x=1"), ([], "tokens=1")],
    "function": [([], "nosuch")],
    "part": [([], "0")],
    "kernel": [([], "l"), ([], "block"), ([], "nosuch")],
    "weights": [([], "values"), (FORWARD, "values")],
    "weight-map": [([], "map.json"), (["--weights=values"], "map.json"),
                   (["--weights=values", *FORWARD], "map.json")],
    "init": [([], "1"), (FORWARD, "1")],
    "target": [([], "m1"), (DENY, "m1")],
    "assume": [([], DENY), (["--target=m1"], DENY), (["--target=m1"], ALLOW),
               (WIDE, ALLOW), (MODEL_PASSES + WIDE, ALLOW)],
    "os": [(["--target=m1"], "15.0"), (["--target=m1", *DENY], "15.0"), (DENY, "15.0")],
    "passes": [([], "cse"), ([], "default"), ([], "differentiate,dce")],
    "skip-passes": [([], "cse"), ([], "decompose"), ([], "differentiate"),
                    (["--passes=cse"], "cse"), (["--passes=narrow"], "narrow"),
                    (["--target=m1"], "legalize"),
                    (["--loss=mse"], "narrow"), (["--loss=mse"], "cse"),
                    (["--loss=mse"], "differentiate")],
    "print-after": [([], "all"), (["--target=m1"], "all"), (["--passes=cse"], "all"),
                    (["--loss=mse"], "all")],
    "pass-limit": [([], "1"), ([], "0"), (["--passes=cse"], "0"), (["--loss=mse"], "0")],
    "remarks": [([], None), (["--target=m1"], None), (MODEL_PASSES, None),
                (["--loss=mse"], None), (["--passes=legalize", "--target=m1"], None)],
    "precision": [([], "fp16"), ([], "fp32"), (["--loss=mse"], "fp32")],
    "forward-only": [([], None), (MODEL_PASSES, None)],
    "fuse": [([], "max"), (MODEL_PASSES, "max")],
    "io": [([], "separate")],
    "weight-mode": [([], "baked"), (FORWARD, "baked"), (DECODE, "packed"),
                    (MODEL_PASSES, "baked")],
    "lora": [([], "rank=2,targets=w1"), ([], "rank=2,targets=w"),
             (["--loss=mse"], "rank=2,targets=*")],
    "loss": [([], "mse")],
    "train-weights": [([], "*"), (["--loss=mse"], "nosuch")],
    "decode": [([], None), (MODEL_PASSES, None), (["--cache=state"], None)],
    "cache": [(DECODE, "state"), ([], "state")],
    "context": [([], "32"), (DECODE, "32"), (STATES, "32"), (["--passes=incremental"], "32")],
    "batch": [([], "2"), (DECODE, "2"), (["--passes=incremental"], "2")],
    "block": [([], "2"), (DECODE, "2"), (STATES, "2"), (["--passes=incremental"], "2")],
    "prefill": [([], "8"), (DECODE, "8"), (STATES, "8"), (["--passes=incremental"], "8")],
    "ladder": [([], "16"), (DECODE, "16"), (["--passes=incremental"], "16")],
    "quantize": [([], "int8"), (FORWARD, "int8")],
    "quantize-skip": [([], "*"), (INT8, "*"), (INT8 + FORWARD, "*")],
    "quantize-report": [([], None), (INT8, None), (INT8 + FORWARD, None)],
    "activation-scales": [([], "per-tensor"), (W8A8, "per-tensor"),
                          (W8A8_TEXT, "per-tensor")],
    "activation-margin": [([], "1"), (W8A8, "1"), (W8A8_TEXT, "1")],
    "calibrate": [([], "x=x.npy"), (INT8, EXAMPLES), (INT8 + FORWARD, "text.txt")],
    "calibrate-tokenizer": [([], "nosuch"), (INT8_TEXT, "nosuch")],
    "calibrate-tokens": [([], "64"), (INT8_TEXT, "64")],
    "deployment": [([], "macos15"), ([], "macos13")],
    "interface": [([], "fp32"), ([], "fp16")],
    "describe": [([], "describe.json")],
    "mil-version": [([], "1.0"), ([], "1.3")],
    "canonical": [([], None)],
    "format": [([], "html")],
}
# Flags that say something only when something is wrong, or only of time.
SILENT = {"verify-numerics", "time-passes", "diagnostics", "threads", "list-targets",
          "emit"}
# Outputs that the instances above are too small for: kernels beyond the limits of a chip
# are split, and the rules about Core ML that depend on the chip and the system, and the
# remarks about them, are those of large or rare programs.
TOO_SMALL = {("dot", "target"), ("dot", "assume"), ("dot", "os"), ("package", "os"),
             *((output, flag) for output in ("coreml", "compiled-coreml")
               for flag in ("target", "os", "remarks"))}

# What is so without the flag: weights have values, and only the forward is written.
MET = {"init": OUTPUTS, "forward-only": {"mil", "coreml", "compiled-coreml"}}

results = {}


def run(source, output, args):
    """The exit code, and what was written and said."""
    key = (*source, output, *args)
    if key not in results:
        folder = pathlib.Path("out", str(abs(hash(key))))
        folder.mkdir(parents=True)
        place = folder / ("o" + OUTPUTS[output])
        done = anec(*source, *args, f"--emit={output}", "-o", str(place))
        said = (done.stdout + done.stderr).replace(str(folder).encode(), b"")
        written = hashlib.sha256()
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                written.update(str(path.relative_to(folder)).encode() + path.read_bytes())
        shutil.rmtree(folder)
        results[key] = done.returncode, said, written.digest()
    return results[key]


def has_effect(kind, output, flag):
    """Whether the flag changes something, or is refused by its name; None if there is no
    such output of such sources."""
    is_output, refused = False, []
    for source in SOURCES[kind]:
        for given in FLAGS[flag]:
            if given in refused:
                continue  # for all sources of the kind
            context, value = given
            args = value if isinstance(value, list) else [
                f"--{flag}" + ("" if value is None else f"={value}")]
            if kind in ("tdsl", "ir") and output in WITH_WEIGHTS and flag != "init" and not (
                    any("--weights" in one for one in context + args)):
                context = [*context, "--init=1"]
            now = run(source, output, context + args)
            if now[0] == 2 and f"--{flag}".encode() in now[1]:
                refused.append(given)
                continue
            before = run(source, output, context)
            if before[0] == 0 or now[0] == 0:
                is_output = True
                if now != before:
                    return True
    return bool(refused) or (False if is_output else None)


def check_flags():
    """Each flag of the tool is in the table above."""
    text = anec("--help-all").stdout.decode()
    known = {*FLAGS, *SILENT}
    listed = set(re.findall(r"^  --([a-z-]+)", text, re.M)) - {"stats"}
    assert listed == known, (listed - known, known - listed)


make_sources()
check_flags()
jobs = [(kind, output, flag) for flag in FLAGS for kind in SOURCES for output in OUTPUTS]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = dict(zip(jobs, pool.map(lambda job: has_effect(*job), jobs)))
wrong = [job for job in jobs if found[job] is False and job[1:] not in TOO_SMALL
         and job[1] not in MET.get(job[2], ())]
for kind, output, flag in wrong:
    print(f"--{flag} changes nothing of {output} made of .{kind}, and is accepted")
print(f"{len(jobs)} pairs, {len(results)} runs, {len(wrong)} wrong")
