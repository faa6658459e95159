#!/usr/bin/env python3
"""Compares the gradients that packages compute, on the CPU in fp32, with PyTorch's.
The forward of a program's IR is computed with PyTorch in float64, and its own
automatic differentiation gives the gradients: no rule of anec takes part.

usage: torch_models.py [--seed=S] [--models=N] [--examples=FOLDER] WORK_FOLDER

Programs are random models of fuzz-models, and the examples in the configurations
of models.py. In both, fp32 takes the place of fp16.

Results of a model may be off by 2e-4 of the largest element of a gradient, or of
1e-3 of the largest of all. A model is ill-conditioned, and not compared, if
PyTorch's own results move as much when inputs, weights and results of ops change
by 1e-6, or half as much in float32: it amplifies rounding, or it is close to a
kink. A model with an op that torch_ops.py lacks is not compared either.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import numpy
import torch

sys.dont_write_bytecode = True
import ir_text
from models import MODELS
from torch_numbers import Floats, Unknown, cast, nudged
from torch_ops import COPIES, OPS

TOLERANCE = 2e-4
FLOOR = 1e-3
NUDGE = 1e-6
TRIALS = 2
HUGE, TINY = 1e15, 1e-30  # where products of fp32 may overflow or underflow


def instance_name(weight, instance):
    """`layer.3.weight` of `layer.weight`."""
    first, dot, rest = weight.partition(".")
    return weight if instance is None else f"{first}.{instance}{dot}{rest}"


class Model:
    """A program, and values for its inputs and weights."""

    def __init__(self, text, seed):
        self.functions = ir_text.read(text)
        self.entry = next(f for f in self.functions.values()
                          if f.kind == "host" and f.owner is None)
        self.random = numpy.random.default_rng(seed)
        self.weights, self.frozen = {}, set()
        self.inputs = {name: self.draw_input(type, role)
                       for name, type, role in self.entry.parameters}

    def classes(self):
        """The fewest rows or classes that an op looks up."""
        counts = [2**31 - 1]
        for function in self.functions.values():
            types = {name: type for name, type, _ in function.parameters}
            for op in function.ops:
                types.update(zip(op.results, op.types))
                if op.name in ("embed", "cross_entropy"):
                    counts.append(types[op.operands[0]].shape[-2])
        return min(counts)

    def draw_input(self, type, role):
        if type.dtype.startswith("fp"):
            return self.random.standard_normal(type.shape).astype(numpy.float32)
        numbers = self.random.integers(0, self.classes(), type.shape)
        numbers = numbers.astype(numpy.int32)
        if role == "target" and numbers.size > 1 and self.random.random() < 0.3:
            numbers.flat[1] = -1  # ignored
        return numbers

    def weight(self, op, instance):
        name = instance_name(op.attrs["name"], instance)
        if name not in self.weights:
            self.weights[name] = self.draw_weight(name, op.attrs["shape"])
            if op.attrs.get("frozen"):
                self.frozen.add(name)
        return name

    def draw_weight(self, name, shape):
        values = self.random.standard_normal(shape)
        member = name.rpartition(".")[2]
        if member.startswith("variance"):
            values = 0.5 + 0.5 * abs(values)
        elif member.startswith("table"):
            values = 0.7 * values
        elif sum(n != 1 for n in shape) <= 1:
            values = (1 + 0.3 * values if self.random.random() < 0.6 else
                      0.4 * values)
        else:
            values = values / numpy.sqrt(numpy.prod(shape[1:]))
        return values.astype(numpy.float32)


class Run:
    """One computation of a model's loss and gradients."""

    def __init__(self, model, dtype=torch.float64, nudge=0, seed=0):
        Floats.dtype, Floats.nudge = dtype, nudge
        Floats.random.manual_seed(seed)
        self.model, self.leaves, self.largest = model, {}, 0
        inputs = [nudged(cast(torch.tensor(value), kind))
                  for value in model.inputs.values()
                  for kind in ["fp32" if value.dtype.kind == "f" else "int32"]]
        self.loss = self.call(model.entry, inputs, None)[0]
        if self.loss.requires_grad:
            self.loss.backward()
        self.gradients = {
            name: numpy.zeros(leaf.shape) if leaf.grad is None else
            leaf.grad.double().numpy()
            for name, (leaf, _) in self.leaves.items() if name not in model.frozen}
        self.loss = float(self.loss.detach())

    def is_finite(self):
        return (self.largest < HUGE and numpy.isfinite(self.loss)
                and all(numpy.isfinite(g).all() for g in self.gradients.values()))

    def weight(self, op, instance):
        name = self.model.weight(op, instance)
        if name not in self.leaves:
            leaf = torch.tensor(self.model.weights[name], dtype=Floats.dtype,
                                requires_grad=name not in self.model.frozen)
            self.leaves[name] = leaf, nudged(leaf)
        if "view" in op.attrs:
            raise Unknown("weight with a view")
        return self.leaves[name][1]

    @staticmethod
    def constant(value, type):
        kind = {"bool": torch.bool, "fp16": torch.float16, "fp32": torch.float32}
        value = torch.tensor(value, dtype=kind.get(type.dtype, torch.int64))
        return value.to(Floats.dtype) if value.is_floating_point() else value

    def repeat(self, op, operands):
        attrs = op.attrs
        if attrs.get("sliced") or attrs.get("collected") or attrs.get("reverse"):
            raise Unknown("repeat with sliced values")
        values, carried = list(operands), attrs["carried"]
        body = self.model.functions[attrs["body"]]
        for i in range(attrs["from"], attrs["to"]):
            values[:carried] = self.call(body, [torch.tensor(i), *values], None)
        return values[:carried]

    def results(self, op, values, instance):
        operands = [name if name is None else values[name] for name in op.operands]
        if op.name == "weight":
            if operands:
                instance = int(operands[0])
            return [self.weight(op, instance)]
        if op.name == "const":
            return [self.constant(op.attrs["val"], op.types[0])
                    .reshape(op.types[0].shape)]
        if op.name in ("fill", "random_mask"):
            value = op.attrs.get("value", op.attrs.get("keep", 0.0))
            return [self.constant(value, op.types[0]).expand(op.types[0].shape)]
        if op.name == "call":
            index = None if op.index is None else int(values[op.index])
            return self.call(self.model.functions[op.callee], operands, index)
        if op.name == "repeat":
            return self.repeat(op, operands)
        if op.name not in OPS:
            raise Unknown(op.name)
        results = OPS[op.name](*operands, **op.attrs)
        return results if isinstance(results, (tuple, list)) else [results]

    def call(self, function, arguments, instance):
        values = {name: value for (name, _, _), value
                  in zip(function.parameters, arguments)}
        for op in function.ops:
            results = self.results(op, values, instance)
            for name, type, value in zip(op.results, op.types, results):
                if tuple(value.shape) != type.shape:
                    sys.exit(f"{op.name} in {function.name}: {tuple(value.shape)}, "
                             f"not {type.shape}")
                if value.is_floating_point():
                    top = float(value.detach().abs().max())
                    self.largest = max(self.largest, top) if top == top else HUGE
                values[name] = value if op.name in COPIES else nudged(value)
        return [values[name] for name in function.returned]


def write_safetensors(arrays, path):
    header, data = {}, b""
    for name, array in arrays.items():
        start = len(data)
        data += array.astype("<f4").tobytes()
        header[name] = dict(dtype="F32", shape=array.shape,
                            data_offsets=[start, len(data)])
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    arrays = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        first, last = entry["data_offsets"]
        arrays[name] = numpy.frombuffer(
            data[8 + size + first:8 + size + last], "<f4").reshape(entry["shape"])
    return arrays


class Comparison:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.models = self.compared = self.gradients = self.ill = self.failed = 0
        self.unknown = collections.Counter()

    def anec(self, *arguments):
        done = subprocess.run(["anec", self.folder / "model.tdsl", *arguments],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("anec: " + done.stderr)
        return done.stdout

    def package(self, model, flags):
        """The loss and the gradients that a package computes. If no weight reaches the
        loss, it computes none."""
        package, weights = self.folder / "model.anepkg", self.folder / "w.safetensors"
        gradients, output = self.folder / "g.safetensors", self.folder / "output"
        self.anec("-o", package, *flags)
        write_safetensors(model.weights, weights)
        inputs = {**model.inputs, "loss_scale": numpy.float32(1)}
        for name, value in inputs.items():
            numpy.save(self.folder / f"{name}.npy", value)
        command = ["ane-run", package, "--numerics=fp32", f"--weights={weights}",
                   *(f"--input={name}={self.folder / name}.npy" for name in inputs),
                   f"--output-dir={output}"]
        done = subprocess.run([*command, f"--gradients={gradients}"],
                              capture_output=True, text=True)
        trains = "[no-gradients]" not in done.stderr
        if not trains:
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError("ane-run: " + done.stderr)
        loss = next(name for name, _, role in model.entry.results if role == "loss")
        loss = float(numpy.load(output / f"{loss}.npy"))
        return loss, read_safetensors(gradients) if trains else {}

    @staticmethod
    def allowed(wanted):
        """How far the loss and each gradient may be off."""
        tops = {name: abs(g).max() for name, g in wanted.gradients.items()}
        floor = FLOOR * max(tops.values(), default=0)
        return (TOLERANCE * max(abs(wanted.loss), FLOOR),
                {name: max(TOLERANCE * max(top, floor), TINY)
                 for name, top in tops.items()})

    @staticmethod
    def is_close(wanted, run, allowed, part):
        return (run.is_finite()
                and abs(run.loss - wanted.loss) <= part * allowed[0]
                and all(abs(run.gradients[name] - g).max() <= part * allowed[1][name]
                        for name, g in wanted.gradients.items()))

    def is_well_conditioned(self, model, wanted, allowed):
        return (wanted.is_finite()
                and self.is_close(wanted, Run(model, torch.float32), allowed, 0.5)
                and all(self.is_close(wanted, Run(model, nudge=NUDGE, seed=trial),
                                      allowed, 1) for trial in range(TRIALS)))

    def differences(self, wanted, loss, gradients, allowed):
        """What is wrong, in words."""
        if not abs(loss - wanted.loss) <= allowed[0]:
            yield f"the loss is {loss}, not {wanted.loss}"
        for name, g in wanted.gradients.items():
            # A gradient that is not written is zero.
            result = gradients.get(name, numpy.zeros_like(g))
            off = abs(result - g)
            if not off.max() <= allowed[1][name]:
                at = off.argmax()
                yield (f"the gradient of {name} at element {at} of {g.size} is "
                       f"{result.flat[at]}, not {g.flat[at]}; {allowed[1][name]:.1e} "
                       "is allowed")
        for name in sorted(gradients.keys() - wanted.gradients.keys()):
            if abs(gradients[name]).max() > 0:
                yield f"{name} has a gradient, and no op reads it"

    def compare(self, what, source, seed, flags=()):
        """Whether the model was compared and is right."""
        self.models += 1
        (self.folder / "model.tdsl").write_text(source)
        try:
            text = self.anec("--emit=ir", "--passes=", *flags)
            model = Model(text, seed)
            wanted = Run(model)
            allowed = self.allowed(wanted)
            if not self.is_well_conditioned(model, wanted, allowed):
                self.ill += 1
                return False
            loss, gradients = self.package(model, flags)
            problems = list(self.differences(wanted, loss, gradients, allowed))
        except Unknown as op:
            self.unknown[str(op)] += 1
            return False
        except RuntimeError as error:
            problems = [str(error)]
        if problems:
            self.failed += 1
            print(f"{what}:", *problems, sep="\n  ")
            print(source, flush=True)
            return False
        self.compared += 1
        self.gradients += len(wanted.gradients)
        return True

    def summary(self):
        for op, count in self.unknown.most_common():
            print(f"not known: {op} ({count} models)")
        print(f"{self.models} models against PyTorch: {self.compared} compared "
              f"({self.gradients} gradients), {self.ill} ill-conditioned, "
              f"{self.unknown.total()} with unknown ops, {self.failed} failed")


def random_models(seed, count):
    """The programs by seed."""
    text = subprocess.run(["fuzz-models", f"--seed={seed}", f"--models={count}",
                           "--jobs=1", "--verbose"], capture_output=True,
                          text=True).stdout
    # What fuzz-models finds wrong itself, and its summary, are after programs.
    programs = {int(p.split()[2]): re.split(r"^(?:seed \d+:|\d+ models of)", p,
                                            flags=re.M)[0].replace("fp16", "fp32")
                for p in re.split(r"^(?=// seed )", text, flags=re.M)[1:]}
    if len(programs) != count:
        sys.exit(f"{len(programs)} models of {count} were printed")
    return programs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=0)
    parser.add_argument("--examples", type=pathlib.Path)
    parser.add_argument("folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    comparison = Comparison(options.folder)
    if options.models:
        for seed, program in random_models(options.seed,
                                           options.models).items():
            comparison.compare(f"seed {seed}", program, seed)
    if options.examples:
        for name, example in MODELS.items():
            source = example(options.examples, [], {}).source()
            flags = [f"--define={n}={v}" for n, v in example.CONFIG.items()]
            if comparison.compare(name, source.replace("fp16", "fp32"), options.seed,
                                  flags):
                print(f"{name} agrees")
    comparison.summary()
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
