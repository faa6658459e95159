"""Run by itself, with the packages of older.txt on its path: what transformers 4.57 does for
languages.py."""
import numpy
import torch
import transformers

import _languages
import _requests

_languages.IS_VERSION_4 = True


def fill(family, variant, length, count, folder):
    import pathlib
    _languages.fill(family, variant, length, count, pathlib.Path(folder))


def logits(model, tokens, out):
    """The logits of a folder, saved as an array."""
    loaded = transformers.AutoModelForCausalLM.from_pretrained(
        model, attn_implementation="eager", dtype=torch.float32)
    numpy.save(out, _languages.logits_of(loaded, numpy.load(tokens)))


torch.set_num_threads(1)
_requests.answer({"fill": fill, "logits": logits})
