"""Run by itself, with the packages of older.txt on its path: what transformers 4.57 does for
languages.py. Each line that it reads is a request as JSON, each line that it prints the
answer: {}, or {"error": what was raised}. What transformers prints goes to the standard
error."""
import json
import os
import sys

import numpy
import torch
import transformers

import _languages


_languages.IS_VERSION_4 = True


def fill(family, variant, length, count, folder):
    import pathlib
    _languages.fill(family, variant, length, count, pathlib.Path(folder))


def logits(model, tokens, out):
    """The logits of a folder, saved as an array."""
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        model, attn_implementation="eager", dtype=torch.float32)
    numpy.save(out, _languages.logits_of(loaded, numpy.load(tokens)))


answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
torch.set_num_threads(1)
for line in sys.stdin:
    name, *values = json.loads(line)
    answer = {}
    try:
        {"fill": fill, "logits": logits}[name](*values)
    except Exception as error:  # Whatever transformers raises.
        answer["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), file=answers, flush=True)
