#!/usr/bin/env python3
"""Quantizes the weights of model.tdsl with numpy, and compares the loss of the
package of what it unpacks with that of the package that anec quantizes.

usage: same_loss.py ANEC ANE_RUN MODEL FOLDER"""
import pathlib
import subprocess
import sys

import numpy as np

import reference

anec, ane_run, model, folder = sys.argv[1:3] + [pathlib.Path(p) for p in sys.argv[3:]]
DIM, SEQ, VOCAB = 64, 32, 256


def run(*command):
    subprocess.run([str(word) for word in command], check=True,
                   stdout=subprocess.PIPE)


def unpacked(weight, form, granularity):
    """The weight after quantization, of fp16."""
    blocks = reference.blocks_of(weight.shape, 0, 1, form, granularity)
    out = np.empty(weight.shape)
    for _, part in reference.each_block(weight.shape, blocks):
        scale, numbers = reference.quantize_linear(weight[part], form, np.float16)
        out[part] = scale * numbers
    return out.astype(np.float16)


def loss(package, name):
    out = folder / name
    run(ane_run, package, "--input", f"tokens={folder / 'tokens.npy'}",
        "--input", f"targets={folder / 'targets.npy'}", "--output-dir", out)
    files = list(out.glob("*.npy"))
    return float(np.load(files[0]))


def main():
    draw = np.random.default_rng(5)
    folder.mkdir(parents=True)
    shapes = {"tiny.embedding": (VOCAB, DIM), "tiny.norm": (DIM,)}
    for block in range(2):
        shapes |= {f"block.{block}.norm": (DIM,),
                   f"block.{block}.w1": (2 * DIM, DIM),
                   f"block.{block}.w2": (DIM, 2 * DIM)}
    weights = {name: (np.ones(shape) if len(shape) == 1 else
                      draw.standard_normal(shape) * 0.2).astype(np.float16)
               for name, shape in shapes.items()}
    reference.write_safetensors(folder / "w.safetensors", weights)
    np.save(folder / "tokens.npy", draw.integers(0, VOCAB, SEQ, np.int32))
    np.save(folder / "targets.npy", draw.integers(0, VOCAB, SEQ, np.int32))
    text = model.read_text()
    untied = folder / "untied.tdsl"
    untied.write_text(text.replace("  weight embedding: fp16[vocab, dim];\n",
                                   "  weight embedding, classifier: fp16[vocab, dim];\n")
                      .replace("cross_entropy(embedding @", "cross_entropy(classifier @"))
    assert untied.read_text().count("classifier") == 2
    for form, granularity in (("int8", "per-channel"), ("int8", "per-tensor"),
                              ("int4", "per-channel"), ("int4", "group=16")):
        # Rows of the embedding are looked up as they are: the program for numpy's
        # weights has a classifier of its own.
        changed = {name: unpacked(weight, form, granularity)
                   if ".w" in name else weight
                   for name, weight in weights.items()}
        changed["tiny.classifier"] = unpacked(weights["tiny.embedding"], form, granularity)
        reference.write_safetensors(folder / "changed.safetensors", changed)
        results = {}
        for name, program, source, flags in (
                ("plain", model, "w", []), ("numpy", untied, "changed", []),
                ("anec", model, "w", [f"--quantize={form}:{granularity}"])):
            package = folder / f"{name}.anepkg"
            run(anec, program, "--forward-only", "-o", package,
                f"--weights={folder / source}.safetensors", *flags)
            results[name] = loss(package, f"{name}-out")
        # Kernels do not round what they unpack to fp16, as weights were that
        # numpy unpacked.
        rounding = abs(results["numpy"] - results["anec"])
        change = abs(results["plain"] - results["anec"])
        assert rounding < 2e-4 * results["anec"] and rounding < 0.3 * change, results
        print(f"{form}:{granularity}: loss {results['anec']:.6f}, "
              f"{results['plain']:.6f} before")


main()
