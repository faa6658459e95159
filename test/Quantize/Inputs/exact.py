#!/usr/bin/env python3
"""Weights that were unpacked from integers, as GGUF's Q4_0 and Q8_0 are: with
--quantize=exact they are stored as integers again, which unpack to equal elements, and all
other weights keep their type.

usage: exact.py ANEC ANE_RUN FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import subprocess
import sys

import numpy as np

import reference

# Of 5 bits, as GGUF's Q5_0: stored as int8.
LIMITS = {"int4": (-8, 7), "int5": (-16, 15), "int8": (-128, 127)}
STORED = {"int4": "int4", "int5": "int8", "int8": "int8"}
PROGRAM = """layer block(x: {dtype}[dim, 4]) -> {dtype}[dim, 4] {{
  weight w: {dtype}[dim, dim];
  return x + w @ x;
}}
model net(x: {dtype}[dim, 4]) -> fp32 {{
  repeat i in 0..3 {{ x = block[i](x); }}
  return mean(square(cast(x, fp32)));
}}
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {command}\n{done.stderr}")
    return done.stdout


def unpacked(draw, form, shape, dtype):
    """What an unpacking op makes of random integers and scales. The largest integer of a
    group is one of the largest that there are, as quantizers choose scales."""
    low, high = LIMITS[form]
    numbers = draw.integers(low + 1, high + 1, (shape[0], shape[1] // 32, 32))
    most = draw.choice({"int4": [low, high, -high], "int5": [low],
                        "int8": [high, -high]}[form], numbers.shape[:2])
    numbers = np.where(np.abs(numbers) > np.abs(most)[..., None], 0, numbers)
    at = draw.integers(0, 32, numbers.shape[:2])
    np.put_along_axis(numbers, at[..., None], most[..., None], axis=2)
    scales = draw.uniform(0.5, 1, numbers.shape[:2]) * 2.0**draw.integers(-14, -2)
    scales = (scales * draw.choice([-1, 1], scales.shape)).astype(np.float16)
    scales[draw.random(scales.shape) < 0.05] = 0
    return (numbers * scales.astype(np.float64)[..., None]).reshape(shape).astype(dtype)


def changed(draw, weight):
    """One element more or less."""
    other = weight.copy()
    at = tuple(draw.integers(0, n) for n in weight.shape)
    other[at] = np.nextafter(other[at] * weight.dtype.type(1.01), weight.dtype.type(np.inf))
    return other


def check_program(anec, folder, draw, chance):
    """One product, as MIL."""
    dtype, name = chance.choice([(np.float16, "fp16"), (np.float32, "fp32")])
    form = chance.choice(["int4", "int5", "int8", "changed", "normal"])
    shape = (chance.choice([1, 7, 64, 65]), 32 * chance.choice([1, 2, 5, 8]))
    while np.prod(shape) < 2048:
        shape = (shape[0] * 2, shape[1])
    weight = draw.standard_normal(shape).astype(dtype)
    if form != "normal":
        weight = unpacked(draw, form if form != "changed" else "int4", shape, dtype)
    if form == "changed":
        weight = changed(draw, weight)
    (folder / "k.tdsl").write_text(
        f"kernel k(x: {name}[{shape[1]}, 3]) -> {name}[{shape[0]}, 3] {{\n"
        f"  weight w: {name}[{shape[0]}, {shape[1]}];\n  return w @ x;\n}}\n")
    reference.write_safetensors(folder / "w.safetensors", {"k.w": weight, "w": weight})
    run(anec, folder / "k.tdsl", f"--weights={folder / 'w.safetensors'}",
        "--quantize=exact", "-o", folder / "k.mil")
    found = reference.read_quantized(folder / "k.mil")
    if form in ("changed", "normal"):
        assert not found, f"{form} became {found[0][0]}"
        return
    assert len(found) == 1, f"{form} {shape} {name} was not found"
    op, _, operands = found[0]
    assert operands["data"][0] == STORED[form], (form, operands["data"][0])
    dense = reference.dequantized(op, operands, np.float64).reshape(shape).astype(dtype)
    assert np.array_equal(dense, weight), f"{form} {shape} {name} has other elements"


def check_package(anec, ane_run, folder, draw, chance):
    """Three instances of a layer, which share a program."""
    dim = 32 * chance.choice([2, 3])
    forms = [chance.choice(["int4", "int5", "int8"]) for _ in range(3)]
    if chance.random() < 0.3:
        forms[chance.randrange(3)] = "normal"
    weights = {}
    for i, form in enumerate(forms):
        weights[f"block.{i}.w"] = (draw.standard_normal((dim, dim)) / dim).astype(
            np.float16) if form == "normal" else unpacked(draw, form, (dim, dim), np.float16)
    reference.write_safetensors(folder / "w.safetensors", weights)
    (folder / "net.tdsl").write_text(f"config {{ dim = {dim}; }}\n"
                                     + PROGRAM.format(dtype="fp16"))
    np.save(folder / "x.npy", draw.standard_normal((dim, 4)).astype(np.float16))
    results = []
    for name, flags in (("plain", []), ("exact", ["--quantize=exact"])):
        package = folder / f"{name}.anepkg"
        run(anec, folder / "net.tdsl", f"--weights={folder / 'w.safetensors'}",
            "--forward-only", *flags, "-o", package)
        run(ane_run, package, f"--input=x={folder / 'x.npy'}", "--output-dir", folder / name)
        results.append(np.load(next((folder / name).glob("*.npy"))).astype(np.float64))
    manifest = json.loads((folder / "exact.anepkg/manifest.json").read_text())
    stored = {constant["quantized"]["form"] for kernel in manifest["kernels"]
              for constant in kernel["constants"] if "quantized" in constant}
    wanted = set() if "normal" in forms else {
        f"{'int4' if set(forms) == {'int4'} else 'int8'}:group=32"}
    assert stored == wanted, (forms, stored)
    # Unpacked elements are not rounded to fp16 before they are multiplied.
    error = np.abs(results[0] - results[1]).max() / np.abs(results[0]).max()
    assert error < 3e-3, (forms, error)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    flags.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(flags.seed, flags.seed + flags.count):
        draw, chance = np.random.default_rng(seed), random.Random(seed)
        try:
            if seed % 3 == 2:
                check_package(flags.anec, flags.ane_run, flags.folder, draw, chance)
            else:
                check_program(flags.anec, flags.folder, draw, chance)
        except AssertionError as error:
            sys.exit(f"seed {seed}: {error}")
    print(f"{flags.count} cases, 0 failed")


main()
