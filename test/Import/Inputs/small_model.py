#!/usr/bin/env python3
"""Writes a small Llama in the layout of Hugging Face, as it is or with a fault.
usage: small_model.py FOLDER [missing|extra|shape|shards]"""
import sys

import numpy as np

import model_files

CONFIG = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 6,
          "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 5,
          "max_position_embeddings": 16, "rms_norm_eps": 1e-5, "tie_word_embeddings": True}
folder, fault = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
shapes = {"model.embed_tokens.weight": (5, 8), "model.norm.weight": (8,)}
for layer in range(2):
    at = f"model.layers.{layer}."
    for name in ("input_layernorm", "post_attention_layernorm"):
        shapes[at + name + ".weight"] = (8,)
    for letter in "qkvo":
        shapes[f"{at}self_attn.{letter}_proj.weight"] = (8, 8)
    for name, shape in (("gate", (6, 8)), ("up", (6, 8)), ("down", (8, 6))):
        shapes[f"{at}mlp.{name}_proj.weight"] = shape
if fault == "missing":
    del shapes["model.layers.1.mlp.up_proj.weight"]
if fault == "extra":
    shapes["model.layers.1.self_attn.q_proj.bias"] = (8,)
if fault == "shape":
    shapes["model.layers.0.self_attn.k_proj.weight"] = (4, 8)
rng = np.random.default_rng(1)
arrays = {name: rng.normal(0, 0.3, shape) for name, shape in shapes.items()}
shards = 2 if fault == "shards" else 1
model_files.write_model(folder, CONFIG, arrays, {name: "float16" for name in arrays}, shards)
