#!/usr/bin/env python3
"""Writes weights with anec's names as GGUF files, whose rows have the same order: as they
are, with packed matrices and another rotary embedding, and with what a Llama lacks.
usage: llama_gguf.py WEIGHTS.safetensors FOLDER"""
import json
import struct
import sys

import numpy as np

import gguf_files

ENDS = {"llama.embedding": "token_embd.weight", "llama.norm": "output_norm.weight",
        "llama.classifier": "output.weight"}
LAYER = {"attention": {"norm": "attn_norm", "wq": "attn_q", "wk": "attn_k", "wv": "attn_v",
                       "wo": "attn_output"},
         "feed_forward": {"norm": "ffn_norm", "w1": "ffn_gate", "w2": "ffn_down",
                          "w3": "ffn_up"}}


def gguf_name(name):
    if name in ENDS:
        return ENDS[name]
    block, number, name = name.split(".")
    return f"blk.{number}.{LAYER[block][name]}.weight"


def read(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    about = header.pop("__metadata__")
    return about, {gguf_name(name): np.frombuffer(data[slice(*entry["data_offsets"])],
                                                  "<f4").reshape(entry["shape"])
                   for name, entry in header.items()}


def main():
    source, folder = sys.argv[1:]
    about, arrays = read(source)
    vocab, dim = arrays["token_embd.weight"].shape
    metadata = {"general.architecture": "llama", "llama.context_length": int(about["seq"]),
                "llama.embedding_length": dim, "llama.vocab_size": vocab,
                "llama.block_count": sum("attn_q.weight" in name for name in arrays),
                "llama.feed_forward_length": arrays["blk.0.ffn_up.weight"].shape[0],
                "llama.attention.head_count": int(about["heads"]),
                "llama.attention.head_count_kv": int(about["kv_heads"]),
                "llama.attention.layer_norm_rms_epsilon": 1e-5}
    rng = np.random.default_rng(1)

    def write(name, values, more, kind="F32"):
        packed = {}
        for key, array in {**arrays, **more}.items():
            own = kind if array.ndim > 1 and array.shape[1] % 32 == 0 else "F32"
            code, raw, _ = gguf_files.pack(rng, array, own)
            packed[key] = (code, raw, array.shape)
        gguf_files.write_gguf(f"{folder}/{name}.gguf", {**metadata, **values}, packed)

    write("plain", {}, {})
    write("packed", {"llama.rope.freq_base": 50000.0, "llama.rope.scaling.type": "linear",
                     "llama.rope.scaling.factor": 2.0}, {}, "Q8_0")
    write("partial", {"llama.rope.dimension_count": 4}, {})
    write("window", {"llama.attention.sliding_window": 8}, {})
    write("biased", {}, {f"blk.{layer}.attn_{part}.bias":
                         np.zeros(arrays[f"blk.0.attn_{part}.weight"].shape[0])
                         for layer in range(metadata["llama.block_count"])
                         for part in "qkv"})


main()
