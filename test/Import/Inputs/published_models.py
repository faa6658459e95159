#!/usr/bin/env python3
"""Models with the config.json files of published ones, cut down to small sizes with
every key kept, as several versions of transformers write them: imports each, runs it,
and compares the logits with those of reference.py.

usage: published_models.py [--only=NAME] CONFIGS.json WORK
"""
import argparse
import json
import os
import sys

import numpy as np

import model_files
import reference
from random_models import TOLERANCE, elements, logits_of, round_trip

POSITIONS = 12
IMAGE_ARRAYS = {"vision_tower.vision_model.embeddings.patch_embedding.weight": (8, 3, 2, 2),
                "multi_modal_projector.mm_input_projection_weight": (8, 24),
                "multi_modal_projector.mm_soft_emb_norm.weight": (8,)}
# What Gemma3TextConfig has where `text_config` says nothing.
TEXT_DEFAULTS = {"num_attention_heads": 8, "num_key_value_heads": 4, "rms_norm_eps": 1e-6,
                 "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256,
                 "rope_theta": 1e6, "rope_local_base_freq": 10000.0}


def gpt2_shapes(c):
    dim, hidden = c["n_embd"], c.get("n_inner") or 4 * c["n_embd"]
    shapes = {"wte.weight": (c["vocab_size"], dim), "wpe.weight": (c["n_positions"], dim)}
    for name in [f"h.{i}.ln_{n}" for i in range(c["n_layer"]) for n in (1, 2)] + ["ln_f"]:
        shapes[name + ".weight"] = shapes[name + ".bias"] = (dim,)
    for i in range(c["n_layer"]):
        for name, inputs, outputs in (("attn.c_attn", dim, 3 * dim), ("attn.c_proj", dim, dim),
                                      ("mlp.c_fc", dim, hidden), ("mlp.c_proj", hidden, dim)):
            shapes[f"h.{i}.{name}.weight"] = (inputs, outputs)
            shapes[f"h.{i}.{name}.bias"] = (outputs,)
        # The mask, and a scalar.
        shapes[f"h.{i}.attn.bias"] = (1, 1, c["n_positions"], c["n_positions"])
        shapes[f"h.{i}.attn.masked_bias"] = ()
    return shapes


def shapes_of(c):
    kind = c["model_type"]
    if kind == "gpt2":
        return gpt2_shapes(c)
    heads, dim, hidden = c["num_attention_heads"], c["hidden_size"], c["intermediate_size"]
    kv, width = c.get("num_key_value_heads") or heads, c.get("head_dim") or dim // heads
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], dim)}

    def matrix(name, outputs, inputs, bias=False):
        shapes[name + ".weight"] = (outputs, inputs)
        if bias:
            shapes[name + ".bias"] = (outputs,)

    def norm(name, size=dim):
        shapes[name + ".weight"] = (size,)
        if kind == "phi":
            shapes[name + ".bias"] = (size,)

    norm("model.final_layernorm" if kind == "phi" else "model.norm")
    tied = kind in ("gemma2", "gemma3_text", "smollm3")
    if not c.get("tie_word_embeddings", tied):
        matrix("lm_head", c["vocab_size"], dim, kind == "phi")
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        attention, mlp = at + "self_attn.", at + "mlp."
        norm(at + "input_layernorm")
        if kind == "phi":
            for name in ("q_proj", "k_proj", "v_proj", "dense"):
                matrix(attention + name, dim, dim, True)
            matrix(mlp + "fc1", hidden, dim, True)
            matrix(mlp + "fc2", dim, hidden, True)
            continue
        norm(at + "post_attention_layernorm")
        if kind.startswith("gemma"):
            norm(at + "pre_feedforward_layernorm")
            norm(at + "post_feedforward_layernorm")
        if kind in ("qwen3", "gemma3_text"):
            norm(attention + "q_norm", width)
            norm(attention + "k_norm", width)
        if kind == "phi3":
            matrix(attention + "qkv_proj", (heads + 2 * kv) * width, dim)
            matrix(mlp + "gate_up_proj", 2 * hidden, dim)
        else:
            for name, count in (("q_proj", heads), ("k_proj", kv), ("v_proj", kv)):
                matrix(attention + name, count * width, dim, kind == "qwen2")
            matrix(mlp + "gate_proj", hidden, dim)
            matrix(mlp + "up_proj", hidden, dim)
        matrix(attention + "o_proj", dim, heads * width)
        matrix(mlp + "down_proj", dim, hidden)
    return shapes


def write(name, config, folder):
    """Writes a model; returns the config of its text part, and its arrays as stored."""
    text = config
    if "text_config" in config:
        text = {**TEXT_DEFAULTS, **config["text_config"]}
    rng = np.random.default_rng(len(name))
    arrays = {array: np.array(elements(rng, array, shape or (1,))).reshape(shape)
              for array, shape in shapes_of(text).items()}
    prefix = ""
    if text is not config:
        prefix = "model.language_model." if name.endswith("5x") else "language_model.model."
        arrays = {array.replace("model.", prefix, 1): values for array, values in arrays.items()}
        newer = "model." if name.endswith("5x") else ""
        arrays.update({newer + array: np.zeros(shape) for array, shape in IMAGE_ARRAYS.items()})
    dtype = config.get("torch_dtype") or config.get("dtype") or "float32"
    shards = 2 if "num_hidden_layers" in text and len(name) % 2 else 1
    values = model_files.write_model(folder, config, arrays, {a: dtype for a in arrays}, shards)
    return text, {a.replace(prefix, "model.", 1) if prefix else a: v for a, v in values.items()}


def compare(name, config, work):
    """The difference from the reference, as a part of the largest logit."""
    os.makedirs(work)
    text, values = write(name, config, f"{work}/model")
    tokens = np.random.default_rng(1).integers(0, text["vocab_size"], POSITIONS).astype(np.int32)
    got = logits_of(work, f"{work}/model", "m", tokens, text["vocab_size"])
    wanted = reference.logits(text, values, tokens)
    if text is config and not round_trip(work):
        return float("inf")
    return np.abs(got - wanted).max() / np.abs(wanted).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only")
    parser.add_argument("configs")
    parser.add_argument("work")
    args = parser.parse_args()
    with open(args.configs, encoding="utf-8") as file:
        configs = json.load(file)
    failures = 0
    for name, config in configs.items():
        if args.only not in (None, name):
            continue
        try:
            error = compare(name, config, f"{args.work}/{name}")
        except RuntimeError as wrong:
            print(f"{name}: {wrong}")
            failures += 1
            continue
        if not error < TOLERANCE:
            print(f"{name}: the logits are off by {error:.2e} of the largest")
            failures += 1
    print(f"{len(configs)} models, {failures} differ")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
