"""Language models as GGUF files, which llama.cpp runs: a file is written of a model that
transformers saves, with other weights, is imported, and `anec convert --like` writes the
model's weights to it.

Steps: written; loaded, by llama.cpp; logits, the probability of the first token that
transformers gives it; greedy, 40 tokens as transformers chooses them."""
import functools
import json
import subprocess
import sys

import _gguf
import _languages
from harness import RIGHT, Item, fetched, wrong

LENGTH, TOKENS = 20, 40
VARIANTS = [("llama", "plain"), ("llama", "tied"), ("llama", "heads"), ("llama", "wide"),
            ("llama", "linear"), ("llama", "llama3"), ("llama", "yarn"), ("llama", "bf16"),
            ("mistral", "no-window"), ("qwen2", "plain"), ("qwen2", "tied"), ("qwen3", "plain"),
            ("smollm3", "plain"), ("smollm3", "untied"), ("gemma2", "plain"), ("gemma2", "cap"),
            ("gemma3_text", "plain"), ("gpt2", "plain"), ("phi", "plain"), ("phi3", "plain"),
            ("phi3", "tied")]
# ggml looks GELU up in a table of fp16.
TOLERANCE = {"gemma2": 2e-2, "gemma3_text": 2e-2, "gpt2": 2e-2, "phi": 2e-2}


def items():
    for number, (family, variant) in enumerate(VARIANTS):
        yield Item(family, variant, functools.partial(check, family, variant),
                   sample=number % 5 == 0)


def check(family, variant, ctx):
    import numpy
    folder = ctx.computed(functools.partial(_languages.fill, family, variant, LENGTH, TOKENS),
                          family, variant, _languages.fill, _languages.draw,
                          json.dumps(_languages.config_of(family, variant), sort_keys=True))
    greedy = numpy.load(folder / "greedy.npy")
    outcome = written(ctx, folder, greedy)
    if outcome:
        return {"written": outcome}
    tokens = numpy.load(folder / "tokens.npy")
    answer = llama(ctx, tokens)
    if isinstance(answer, str):
        return {"written": RIGHT, "loaded": wrong(answer)}
    steps = {"written": RIGHT, "loaded": RIGHT}
    limit = TOLERANCE.get(family, 1e-3)
    last = numpy.load(folder / "logits.npy")[-1].astype(float)
    right = last[greedy[0]] - last.max() - numpy.log(numpy.exp(last - last.max()).sum())
    off = abs(answer[0]["logprob"] - right)
    steps["logits"] = RIGHT if off <= limit else wrong(f"the logarithm is off by {off:.2g}")
    steps["greedy"] = same(answer, greedy, numpy.load(folder / "margins.npy"), limit)
    return steps


def written(ctx, folder, greedy):
    """back.gguf, with the weights of the model; what keeps it from being written."""
    import safetensors.numpy
    import safetensors.torch
    model = folder / "model"
    config = json.loads((model / "config.json").read_text())
    arrays = {name: array.float().numpy() for name, array
              in safetensors.torch.load_file(model / "model.safetensors").items()}
    ends = next(one for one in range(3, config["vocab_size"]) if one not in greedy)
    path = ctx.folder / "like.gguf"
    _gguf.write(path, config, {name: array / 2 for name, array in arrays.items()}, ends)
    outcome = ctx.step(ctx.run("anec", "import", path, "-o", "m.tdsl"))
    if outcome:
        return outcome
    stored = _gguf.write(ctx.folder / "right.gguf", config, arrays, ends)
    names = json.loads((ctx.folder / "m.names.json").read_text())
    safetensors.numpy.save_file({name: stored[other] for name, other in names.items()
                                 if isinstance(other, str)}, ctx.folder / "trained.safetensors")
    return ctx.step(ctx.run("anec", "convert", "trained.safetensors", f"--like={path}",
                            "--weight-map=m.names.json", "-o", "back.gguf"))


def llama(ctx, tokens):
    """What llama.cpp chooses: for each token `id` and `logprob`; a text for an error."""
    given = {"model": str(ctx.folder / "back.gguf"), "prompt": tokens.tolist(), "count": TOKENS}
    done = subprocess.run([sys.executable, _languages.__file__.replace("_languages", "_llamacpp")],
                          input=json.dumps(given), capture_output=True, text=True, timeout=100,
                          env={"PYTHONPATH": str(fetched("llama.txt") / "xllamacpp")})
    if done.returncode:
        return "llama.cpp: " + " ".join(done.stderr.split()[-20:])
    return json.loads(done.stdout)["choices"][0]["logprobs"]["content"]


def same(answer, right, margins, limit):
    """As far as the two best tokens of transformers differ by more than the tolerance."""
    for at, (one, other) in enumerate(zip(answer, right)):
        if one["id"] != other:
            close = margins[at] < limit
            return RIGHT if close else wrong(f"token {at}: {one['id']}, not {other}")
    return RIGHT if len(answer) == len(right) else wrong(f"{len(answer)} tokens")
