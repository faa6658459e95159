#!/usr/bin/env python3
"""The forward of a Llama in double precision, independently of anec: as
llama2.c's run.c computes it from its file, and as Hugging Face's model does
from weights by its names.

usage: llama_reference.py write MODEL.bin DIM HIDDEN LAYERS HEADS KV VOCAB SEQ
           random weights; a negative VOCAB has a classifier of its own
       llama_reference.py llama2c MODEL.bin TOKENS.npy LOGITS.npy
       llama_reference.py hf MODEL.safetensors HEADS TOKENS.npy LOGITS.npy
       llama_reference.py close ACTUAL.npy EXPECTED.npy TOLERANCE
           [vocab, seq] against [seq, vocab]"""
import json
import struct
import sys

import numpy as np


def write(path, dim, hidden, layers, heads, kv, vocab, seq):
    rng = np.random.default_rng(dim + layers)
    shared, vocab = vocab > 0, abs(vocab)
    keys = dim // heads * kv
    # Numbers that fp16 holds: a model declares its weights so.
    def matrix(*shape):
        scale = 0.1 if len(shape) == 2 else 1 / np.sqrt(shape[-1])
        return (rng.standard_normal(shape) * scale).astype("f2").astype("<f4")
    def norm(*shape):
        return (1 + 0.3 * rng.standard_normal(shape)).astype("f2").astype("<f4")
    angles = np.outer(np.arange(seq), 10000.0 ** (
        -2 * np.arange(dim // heads // 2) / (dim // heads)))
    arrays = [matrix(vocab, dim), norm(layers, dim), matrix(layers, dim, dim),
              matrix(layers, keys, dim), matrix(layers, keys, dim),
              matrix(layers, dim, dim), norm(layers, dim),
              matrix(layers, hidden, dim), matrix(layers, dim, hidden),
              matrix(layers, hidden, dim), norm(dim),
              np.cos(angles).astype("<f4"), np.sin(angles).astype("<f4")]
    if not shared:
        arrays.append(matrix(vocab, dim))
    with open(path, "wb") as file:
        file.write(struct.pack("<7i", dim, hidden, layers, heads, kv,
                               vocab if shared else -vocab, seq))
        for array in arrays:
            file.write(array.tobytes())


def rmsnorm(x, weight):
    return weight * x / np.sqrt(np.mean(x * x) + 1e-5)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def llama2c(path, tokens):
    """Position by position, with a cache of keys and values, as run.c does."""
    with open(path, "rb") as file:
        data = file.read()
    dim, hidden, layers, heads, kv, vocab, seq = struct.unpack_from("<7i", data)
    shared, vocab = vocab > 0, abs(vocab)
    size, keys = dim // heads, dim // heads * kv
    at = 28
    def take(*shape):
        nonlocal at
        count = int(np.prod(shape))
        array = np.frombuffer(data, "<f4", count, at).astype(float)
        at += 4 * count
        return array.reshape(shape)
    embedding, att_norm = take(vocab, dim), take(layers, dim)
    wq, wk, wv = take(layers, dim, dim), take(layers, keys, dim), take(layers, keys, dim)
    wo, ffn_norm = take(layers, dim, dim), take(layers, dim)
    w1, w2, w3 = take(layers, hidden, dim), take(layers, dim, hidden), take(layers, hidden, dim)
    final = take(dim)
    take(seq, size // 2), take(seq, size // 2)
    classifier = embedding if shared else take(vocab, dim)
    cache = np.zeros((2, layers, seq, keys))
    logits = []
    for position, token in enumerate(tokens):
        x = embedding[token].copy()
        for layer in range(layers):
            h = rmsnorm(x, att_norm[layer])
            q, k, v = wq[layer] @ h, wk[layer] @ h, wv[layer] @ h
            for i in range(0, dim, 2):
                angle = position * 10000.0 ** (-(i % size) / size)
                c, s = np.cos(angle), np.sin(angle)
                for vector in (q, k) if i < keys else (q,):
                    a, b = vector[i], vector[i + 1]
                    vector[i], vector[i + 1] = a * c - b * s, a * s + b * c
            cache[0, layer, position], cache[1, layer, position] = k, v
            mixed = np.zeros(dim)
            for head in range(heads):
                group = head // (heads // kv) * size
                mine = q[head * size:(head + 1) * size]
                past = cache[:, layer, :position + 1, group:group + size]
                weights = softmax(past[0] @ mine / np.sqrt(size))
                mixed[head * size:(head + 1) * size] = weights @ past[1]
            x += wo[layer] @ mixed
            h = rmsnorm(x, ffn_norm[layer])
            gate = w1[layer] @ h
            x += w2[layer] @ (gate / (1 + np.exp(-gate)) * (w3[layer] @ h))
        logits.append(classifier @ rmsnorm(x, final))
    return np.array(logits)


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size, = struct.unpack_from("<Q", data)
    arrays = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            dtype = {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]
            arrays[name] = np.frombuffer(data[8 + size + begin:8 + size + end], dtype
                                         ).astype(float).reshape(entry["shape"])
    return arrays


def hf(path, heads, tokens):
    """All positions at once; rotate_half, keys repeated for their groups."""
    weights = read_safetensors(path)
    x = weights["model.embed_tokens.weight"][tokens]
    seq, dim = x.shape
    def norm(x, name):
        return weights[name] * x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    layer = 0
    while f"model.layers.{layer}.self_attn.q_proj.weight" in weights:
        def linear(x, name):
            return x @ weights[f"model.layers.{layer}.{name}.weight"].T
        h = norm(x, f"model.layers.{layer}.input_layernorm.weight")
        q = linear(h, "self_attn.q_proj")
        size = q.shape[1] // heads
        split = lambda y: y.reshape(seq, -1, size).transpose(1, 0, 2)
        q, k, v = split(q), split(linear(h, "self_attn.k_proj")), split(linear(h, "self_attn.v_proj"))
        frequency = 10000.0 ** (-np.arange(0, size, 2) / size)
        angles = np.outer(np.arange(seq), np.concatenate([frequency, frequency]))
        def rotate(y):
            half = np.concatenate([-y[..., size // 2:], y[..., :size // 2]], -1)
            return y * np.cos(angles) + half * np.sin(angles)
        q, k = rotate(q), rotate(k)
        k, v = (np.repeat(y, heads // len(y), axis=0) for y in (k, v))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
        scores = np.where(np.tri(seq, dtype=bool), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = scores / scores.sum(-1, keepdims=True) @ v
        x = x + linear(mixed.transpose(1, 0, 2).reshape(seq, -1), "self_attn.o_proj")
        h = norm(x, f"model.layers.{layer}.post_attention_layernorm.weight")
        gate = linear(h, "mlp.gate_proj")
        x = x + linear(gate / (1 + np.exp(-gate)) * linear(h, "mlp.up_proj"), "mlp.down_proj")
        layer += 1
    head = weights.get("lm_head.weight", weights["model.embed_tokens.weight"])
    return norm(x, "model.norm.weight") @ head.T


def main(command, *arguments):
    if command == "write":
        write(arguments[0], *map(int, arguments[1:]))
    elif command == "llama2c":
        model, tokens, out = arguments
        np.save(out, llama2c(model, np.load(tokens)))
    elif command == "hf":
        model, heads, tokens, out = arguments
        np.save(out, hf(model, int(heads), np.load(tokens)))
    else:
        actual, expected = (np.load(path).astype(float) for path in arguments[:2])
        actual = actual.reshape(actual.shape[-2:]).T
        error = np.abs(actual - expected).max()
        print(f"largest difference {error:.3g}, of logits up to {np.abs(expected).max():.3g}")
        assert expected.std() > 0.3
        return 0 if error < float(arguments[2]) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
