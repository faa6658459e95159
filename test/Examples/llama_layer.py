#!/usr/bin/env python3
"""Compares the Llama layer examples with a double-precision computation that
shares nothing with anec: weights and inputs are made here, go in through .npy
files, and the results come back through .npy files.

Weights and inputs are fp16 numbers on both sides. An fp16 program has more of
them, of its own: the tables of cosines and sines. They are part of the program,
not of how it is run; its single numbers, such as the scale of the scores, are
exact where nothing is rounded. So:

- fp16: the program against exact mathematics;
- fp32: the program run without rounding, against mathematics with the tables
  rounded to fp16;
- wide: the program compiled with `widen`, which has no fp16 tables, run
  without rounding, against exact mathematics.

usage: llama_layer.py EXAMPLES_DIR WORK_DIR real|random
"""
import os
import random
import subprocess
import sys

import numpy as np

# The error is ||got - reference|| / ||reference||.
TOLERANCE = {"fp16": 5e-3, "fp32": 1e-5, "wide": 1e-5}


def exact(constant):
    return constant


def half(constant):
    return np.float16(constant).astype(np.float64)


def rmsnorm(x, gamma, eps):
    return x / np.sqrt((x * x).mean(0, keepdims=True) + eps) * gamma[:, None]


def rope(x, rounded, theta=10000.0):
    """Interleaved pairs (2i, 2i + 1) of [heads, head_dim, seq]."""
    heads, head_dim, seq = x.shape
    angle = np.arange(seq)[None, :] / theta ** (
        np.arange(0, head_dim, 2)[:, None] / head_dim)
    cos, sin = rounded(np.cos(angle)), rounded(np.sin(angle))
    even, odd = x[:, 0::2], x[:, 1::2]
    out = np.empty_like(x)
    out[:, 0::2] = even * cos - odd * sin
    out[:, 1::2] = even * sin + odd * cos
    return out


def attention(x, w, heads, kv_heads, eps, rounded):
    h = rmsnorm(x, w["norm"], eps)
    seq = x.shape[1]
    q = rope((w["wq"] @ h).reshape(heads, -1, seq), rounded)
    k = rope((w["wk"] @ h).reshape(kv_heads, -1, seq), rounded)
    v = (w["wv"] @ h).reshape(kv_heads, -1, seq)
    out = np.empty_like(q)
    for head in range(heads):
        kv = head // (heads // kv_heads)
        scores = q[head].T @ k[kv] / np.sqrt(q.shape[1])
        scores[np.triu_indices(seq, 1)] = -np.inf
        probs = np.exp(scores - scores.max(1, keepdims=True))
        probs /= probs.sum(1, keepdims=True)
        out[head] = v[kv] @ probs.T
    return x + w["wo"] @ out.reshape(-1, seq)


def feed_forward(x, w, eps):
    h = rmsnorm(x, w["norm"], eps)
    gate = w["w1"] @ h
    return x + w["w2"] @ (gate / (1 + np.exp(-gate)) * (w["w3"] @ h))


def run(layer, examples, work, config, kind):
    passes = "widen,default" if kind == "wide" else "default"
    subprocess.run(
        ["anec", f"{examples}/{layer}.tdsl", f"--weights={work}/weights",
         f"--passes={passes}", "-o", f"{work}/{layer}.mil"] +
        [f"--define={name}={value}" for name, value in config.items()],
        check=True)
    numerics = "fp16" if kind == "fp16" else "fp32"
    subprocess.run(
        ["ane-run", f"{work}/{layer}.mil", "--input", f"x={work}/x.npy",
         "--output-dir", f"{work}/out", f"--numerics={numerics}"],
        check=True, stdout=subprocess.DEVNULL)
    return np.load(f"{work}/out/output.npy").astype(np.float64)


def check(layer, examples, work, config, reference, shapes, seed, scale):
    rng = np.random.default_rng(seed)
    os.makedirs(f"{work}/weights", exist_ok=True)
    weights = {}
    for name, shape in shapes.items():
        value = (1 + 0.1 * rng.standard_normal(shape) if len(shape) == 1 else
                 rng.standard_normal(shape) / np.sqrt(shape[1]))
        weights[name] = value.astype(np.float16)
        np.save(f"{work}/weights/{layer}.{name}.npy", weights[name])
    x = (scale * rng.standard_normal((config["dim"], config["seq"]))).astype(
        np.float16)
    np.save(f"{work}/x.npy", x)
    wide = {name: value.astype(np.float64) for name, value in weights.items()}
    failures = 0
    for kind, tolerance in TOLERANCE.items():
        got = run(layer, examples, work, config, kind)
        reference_value = reference(x.astype(np.float64), wide,
                                    half if kind == "fp32" else exact)
        error = (np.linalg.norm(got.reshape(reference_value.shape) -
                                reference_value) /
                 np.linalg.norm(reference_value))
        verdict = "ok" if error <= tolerance else "FAILED"
        failures += verdict != "ok"
        print(f"{layer} {config} x{scale:g} {kind}: "
              f"{error:.3g} <= {tolerance:g} {verdict}", flush=True)
    for file in os.listdir(f"{work}/weights"):
        os.remove(f"{work}/weights/{file}")
    return failures


def check_both(examples, work, dim, hidden, heads, kv_heads, seq, seed, scale=1):
    head_dim, eps = dim // heads, 1e-5
    kv = kv_heads * head_dim
    failures = check(
        "attention", examples, work,
        {"dim": dim, "heads": heads, "kv_heads": kv_heads, "seq": seq},
        lambda x, w, r: attention(x, w, heads, kv_heads, eps, r),
        {"norm": (dim,), "wq": (dim, dim), "wk": (kv, dim), "wv": (kv, dim),
         "wo": (dim, dim)}, seed, scale)
    return failures + check(
        "feed_forward", examples, work,
        {"dim": dim, "hidden": hidden, "seq": seq},
        lambda x, w, r: feed_forward(x, w, eps),
        {"norm": (dim,), "w1": (hidden, dim), "w3": (hidden, dim),
         "w2": (dim, hidden)}, seed, scale)


def main():
    examples, work, which = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    if which == "real":
        failures = check_both(examples, work, 768, 2048, 12, 12, 256, seed=1)
    else:
        failures = 0
        draw = random.Random(7)
        for seed in range(20):
            kv_heads = draw.choice([1, 2, 3])
            heads = kv_heads * draw.choice([1, 2, 3, 5])
            dim = heads * 2 * draw.choice([1, 3, 4, 8])
            # rms(x) from where epsilon matters to where squares overflow fp16.
            failures += check_both(
                examples, work, dim, draw.choice([1, 31, 48, 65]), heads,
                kv_heads, draw.choice([1, 2, 31, 33, 64]), seed,
                scale=draw.choice([0.02, 1, 1, 20]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
