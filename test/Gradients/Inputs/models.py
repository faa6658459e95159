#!/usr/bin/env python3
"""Compares the gradients that `differentiate` gives whole models with those of
an independent implementation: the same models written down here with numpy,
differentiated by complex steps, f'(x) = Im f(x + ih) / h, which has no rounding
error to speak of and shares no rule with anec. Packages of the model, made in
several ways, compute the same.

usage: models.py MODEL VARIANT EXAMPLES WORK_FOLDER [KIND...] [NAME=VALUE...]

VARIANT is words joined by +: `tied`, `untied`, `norope`, ... as the model takes.
KINDS of packages are `packed`, `baked`, `fused` and `m1`; all when none is given.
"""
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
from image_models import ConvNet, Denoiser, ResNet, UNet, ViT
from language_models import (Adapters, EncoderDecoder, GPT2, Llama, LoRA, Mamba, Mixture,
                             Qwen3, Scan)
from other_models import Contrastive, Digits, Dropouts, Regressor
from parts import Constants

# Relative, norm of the difference over norm, for each parameter.
DOUBLE = 1e-6  # all in double precision; constants of the rules are fp32
SINGLE = 2e-4  # the package on the CPU, in fp32
LOSS_SCALE = 256.0  # when every op rounds to fp16
DIRECTIONS = 24

MODELS = {model.NAME: model for model in (
    Adapters, Contrastive, ConvNet, Denoiser, Digits, Dropouts, EncoderDecoder, GPT2,
    Llama, LoRA, Mamba, Mixture, Qwen3, Regressor, ResNet, Scan, UNet, ViT)}

# How packages are made.
PACKAGES = {
    "packed": [],
    "baked": ["--weight-mode=baked"],
    "fused": ["--fuse=max"],
    "m1": ["--target=m1"],
}


def derivatives(model):
    """Of the loss, by complex steps, for each parameter that is trained: along
    each of its elements, or when there are many, along random directions."""
    step = 1e-30
    p = {n: a.astype(complex) for n, a in model.parameters.items()}
    result = {}
    for name, array in p.items():
        if model.is_frozen(name):
            continue
        directions = (numpy.eye(array.size) if array.size <= DIRECTIONS else
                      numpy.random.default_rng(1).standard_normal(
                          (DIRECTIONS, array.size)) / numpy.sqrt(DIRECTIONS))
        slopes = []
        for direction in directions.reshape(-1, *array.shape):
            p[name] = array + 1j * step * direction
            slopes.append(model.loss(p).imag / step)
        p[name] = array
        result[name] = directions, numpy.array(slopes)
    return result


def run(model, program, folder, scale, *flags):
    shutil.rmtree(folder, ignore_errors=True)
    arrays = folder / "arrays"
    arrays.mkdir(parents=True, exist_ok=True)
    for name, array in model.parameters.items():
        numpy.save(arrays / f"{name}.npy", array)
    for name, array in model.arguments.items():
        dtype = numpy.int32 if array.dtype.kind == "i" else numpy.float32
        numpy.save(arrays / f"{name}.npy", array.astype(dtype))
    numpy.save(arrays / "loss_scale.npy", numpy.float32(scale))
    output = folder / "output"
    subprocess.run(["run-host", program, model.NAME + ".train", arrays, output,
                    *flags,
                    *(f"{n}={v}" for n, v in model.config.items())], check=True)
    read = {p.name.removesuffix(".npy"): numpy.load(p)
            for p in output.glob("*.npy")}
    return read.pop("output"), {n: g / scale for n, g in read.items()}


def stored(name):
    """`layer.weight.3` is `layer.3.weight` in files."""
    layer, *path, last = name.split(".")
    return ".".join([layer, last, *path]) if last.isdigit() else name


def write_safetensors(model, path):
    header, data = {}, b""
    for name, array in model.parameters.items():
        start = len(data)
        data += array.astype("<f2").tobytes()
        header[stored(name)] = dict(dtype="F16", shape=array.shape,
                                    data_offsets=[start, len(data)])
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_inputs(model, scale, folder):
    arguments = {**model.arguments, "loss_scale": numpy.float32(scale)}
    source = model.source()
    for name, array in arguments.items():
        dtype = re.search(rf"\b{name}: (\w+)", source)
        dtype = {"int32": numpy.int32, "fp16": numpy.float16,
                 "fp32": numpy.float32}[dtype[1] if dtype else "fp32"]
        numpy.save(folder / f"{name}.npy", array.astype(dtype))
        yield f"--input={name}={folder / name}.npy"


def calls_by_layer(model, package):
    """Such as `attention 1 + 2`: calls of kernels in the forward and in the
    backward of all instances of a layer."""
    text = subprocess.run(["ane-run", "info", package], check=True, text=True,
                          capture_output=True).stdout
    calls = {}
    for kernel, count in re.findall(r"^(\S+): (\d+) calls?", text, re.M):
        layer, _, part = kernel.partition(".")
        counts = calls.setdefault(layer, [0, 0])
        counts[part.startswith("backward")] += int(count)
    return ", ".join(f"{layer} {forward} + {backward}"
                     for layer, (forward, backward) in calls.items())


def run_packages(model, program, folder, wanted, kinds):
    """The same by packages of the program, on the CPU backend."""
    weights = folder / "weights.safetensors"
    write_safetensors(model, weights)
    inputs = list(write_inputs(model, LOSS_SCALE, folder))
    defines = [f"--define={n}={v}" for n, v in model.config.items()]
    package, output = folder / "model.anepkg", folder / "output"
    ok = True
    for kind in kinds:
        subprocess.run(["anec", program, *defines, f"--weights={weights}",
                        *PACKAGES[kind], "-o", package], check=True)
        print(f"{kind}: {calls_by_layer(model, package)}")
        for numerics, tolerance in (("fp32", SINGLE), ("fp16", model.HALF)):
            shutil.rmtree(output, ignore_errors=True)
            subprocess.run(["ane-run", package, f"--weights={weights}",
                            f"--numerics={numerics}", *inputs,
                            f"--output-dir={output}",
                            f"--gradients={output / 'gradients'}"],
                           check=True, capture_output=True)
            files = {n: output / "gradients" / f"{stored(n)}.npy"
                     for n in model.parameters}
            results = {n: numpy.load(file) / LOSS_SCALE
                       for n, file in files.items() if file.exists()}
            ok &= compare(f"{kind} in {numerics}",
                          numpy.load(output / "output.npy"), results, model,
                          wanted, tolerance)
    return ok


def compare(what, loss, result, model, wanted, tolerance):
    expected = model.loss({n: a.astype(complex)
                           for n, a in model.parameters.items()}).real
    bad = abs(loss - expected) > tolerance * abs(expected)
    if bad:
        print(f"{what}: the loss is {loss}, not {expected}")
    if sorted(result) != sorted(wanted):
        sys.exit(f"{what}: gradients of {sorted(result)}, not of "
                 f"{sorted(wanted)}")
    worst = 0
    norms = {n: numpy.linalg.norm(slopes) for n, (_, slopes) in wanted.items()}
    largest = max(norms.values())
    for name, (directions, slopes) in wanted.items():
        # Some are zero but for rounding: a bias of keys moves no softmax.
        vanishes = norms[name] < 1e-12 * largest
        error = (numpy.linalg.norm(directions @ result[name].ravel() - slopes)
                 / (largest if vanishes else norms[name]))
        worst = max(worst, error)
        if not error <= tolerance:
            print(f"{what}: the gradient of {name} is off by {error:.2e}")
            bad = True
    print(f"{what}: {len(wanted)} gradients, off by at most {worst:.1e}")
    return not bad


def main(name, variant, examples, work, *settings):
    config = {n: int(v) for n, v in (s.split("=") for s in settings if "=" in s)}
    kinds = [s for s in settings if "=" not in s] or PACKAGES
    model = MODELS[name](examples, variant.split("+"), config)
    wanted = derivatives(model)
    folder = pathlib.Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    halves, singles = folder / "halves.tdsl", folder / "singles.tdsl"
    halves.write_text(model.source())
    singles.write_text(model.source().replace("fp16", "fp32"))
    ok = compare("double", *run(model, singles, folder / "double", 1), model,
                 wanted, DOUBLE)
    ok &= compare("fp16", *run(model, halves, folder / "half", LOSS_SCALE,
                               "--round"), model, wanted, model.HALF)
    Constants.rounded = True
    if Constants.inexact:
        wanted = derivatives(model)
    ok &= run_packages(model, halves, folder, wanted, kinds)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
