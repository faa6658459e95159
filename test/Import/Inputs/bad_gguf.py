#!/usr/bin/env python3
"""Writes a small Llama as a GGUF file, as it is or with a fault.
usage: bad_gguf.py FOLDER, which gets FAULT.gguf for each fault below."""
import sys

import numpy as np

import gguf_files

LLAMA = {"general.architecture": "llama", "llama.context_length": 16, "llama.embedding_length": 8,
         "llama.block_count": 1, "llama.feed_forward_length": 6, "llama.attention.head_count": 2,
         "llama.attention.layer_norm_rms_epsilon": 1e-5}
SHAPES = {"token_embd.weight": (5, 8), "output_norm.weight": (8,), "blk.0.attn_norm.weight": (8,),
          "blk.0.attn_q.weight": (8, 8), "blk.0.attn_k.weight": (8, 8),
          "blk.0.attn_v.weight": (8, 8), "blk.0.attn_output.weight": (8, 8),
          "blk.0.ffn_norm.weight": (8,), "blk.0.ffn_gate.weight": (6, 8),
          "blk.0.ffn_up.weight": (6, 8), "blk.0.ffn_down.weight": (8, 6)}
UINT64 = gguf_files.UINT64
# What is added or, if it is None, missing: values, then shapes of arrays, or their
# elements as a list.
FAULTS = {
    "good": ({}, {}),
    "architecture": ({"general.architecture": "mamba"}, {}),
    "nameless": ({"general.architecture": None}, {}),
    "adapter": ({"general.type": "adapter"}, {}),
    "split": ({"split.count": 3, "split.no": 0}, {}),
    "quantization": ({"general.quantization_version": 1}, {"blk.0.attn_q.weight": (8, 32)}),
    "experts": ({"llama.expert_count": 8, "llama.expert_used_count": 2}, {}),
    "unknown": ({"llama.attention.scale": 0.25, "llama.logit_scale": 2.0,
                 "llama.rope.dimension_sections": [1, 2, 3]}, {}),
    "missing": ({"llama.block_count": None, "llama.embedding_length": None}, {}),
    "value": ({"llama.block_count": 0, "llama.attention.layer_norm_rms_epsilon": -1.0,
               "llama.feed_forward_length": [6, 6]}, {}),
    "large": ({"llama.embedding_length": (UINT64, 2**63)}, {}),
    "heads": ({"llama.attention.head_count": 3}, {}),
    "widths": ({"llama.attention.key_length": 4, "llama.attention.value_length": 6}, {}),
    "yarn": ({"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 2.0,
              "llama.rope.scaling.attn_factor": 1.5}, {}),
    "scaling": ({"llama.rope.scaling.type": "other"}, {}),
    "tokenless": ({"tokenizer.ggml.model": "gpt2"}, {}),
    "splitless": ({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "other",
                   "tokenizer.ggml.tokens": ["a", "b"], "tokenizer.ggml.merges": ["a b"]}, {}),
    "unigrams": ({"tokenizer.ggml.model": "t5"}, {}),
    "llama3": ({"llama.rope.freq_base": 1e9}, {"rope_freqs.weight": [1.0, 8.0]}),
    "factored": ({"llama.rope.freq_base": 1e9}, {"rope_freqs.weight": [1.5, 8.0]}),
    "unscaled": ({}, {"rope_freqs.weight": [1.0, 1.0]}),
    "factors": ({}, {"rope_freqs.weight": (3,)}),
    "part": ({"llama.rope.dimension_count": 6}, {}),
    "lacks": ({}, {"blk.0.ffn_up.weight": None}),
    "extra": ({}, {"blk.0.attn_q_norm.weight": (4,)}),
    "shape": ({}, {"blk.0.ffn_up.weight": (8, 6)}),
    "layer": ({}, {"blk.1.ffn_up.weight": (6, 8)}),
    "positions": ({"general.architecture": "gpt2", "gpt2.context_length": 8,
                   "gpt2.embedding_length": 8, "gpt2.block_count": 1,
                   "gpt2.feed_forward_length": 6, "gpt2.attention.head_count": 2,
                   "gpt2.attention.layer_norm_epsilon": 1e-5}, {}),
    "epsilonless": ({"llama.attention.layer_norm_rms_epsilon": None}, {}),
    "equal": ({"llama.attention.head_count_kv": [2]}, {}),
    "unequal": ({"llama.attention.head_count_kv": [2, 1]}, {}),
}


def write(path, values, shapes):
    """The Llama with other values and arrays."""
    rng, arrays = np.random.default_rng(1), {}
    metadata = {key: value for key, value in {**LLAMA, **values}.items() if value is not None}
    for name, shape in {**SHAPES, **shapes}.items():
        if shape is not None:
            kind = "Q8_0" if shape[-1] == 32 else "F32"
            array = np.array(shape) if isinstance(shape, list) else rng.normal(0, 0.3, shape)
            code, raw, _ = gguf_files.pack(rng, array, kind)
            arrays[name] = (code, raw, array.shape)
    gguf_files.write_gguf(path, metadata, arrays)


if __name__ == "__main__":
    for fault, changes in FAULTS.items():
        write(f"{sys.argv[1]}/{fault}.gguf", *changes)
