"""Operators of PyTorch by torch.export: small functions of `_aten_cases.py`, as they are
exported (`default`) and after `run_decompositions()` (`decomposed`).

Steps: read, as MIL; run, as PyTorch: integers exactly, floats within 1e-4 of the largest
element, NaN where PyTorch has it."""
import functools
import zlib

import _aten_cases
import harness
from harness import RIGHT, Item, near, wrong

FORMS = ("default", "decomposed")
EXACT = 1e-4


def items():
    return [Item(case[0], form, functools.partial(check, case, form),
                 sample=place % 9 == 0 and form == FORMS[place % 2],
                 turn=form == FORMS[place % 2])
            for place, case in enumerate(_aten_cases.CASES) for form in FORMS]


def inputs_of(name, kinds):
    import torch
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return [_aten_cases.draw(kind, shape, generator) for kind, shape in kinds]


def tensors(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def save(case, form, folder):
    """Writes `m.pt2`, and returns its inputs by name and PyTorch's outputs."""
    import torch

    class Model(torch.nn.Module):
        def forward(self, *arguments):
            return case[1](*arguments)
    torch.set_num_threads(1)
    inputs = inputs_of(case[0], case[2])
    outputs = tensors(case[1](*[one.clone() for one in inputs]))
    program = torch.export.export(Model(), tuple(inputs))
    if form == "decomposed":
        program = program.run_decompositions()
    torch.export.save(program, folder / "m.pt2")
    named = dict(zip(program.graph_signature.user_inputs, (one.numpy() for one in inputs)))
    return named, [one.detach().numpy() for one in outputs]


def difference(got, right):
    """The outcome of an output."""
    import numpy
    if got.shape != right.shape:
        return wrong(f"shape {got.shape}, expected {right.shape}")
    if right.dtype.kind in "iub":
        same = (got.astype(numpy.int64) == right.astype(numpy.int64)).all()
        return RIGHT if same else wrong("other integers")
    if (numpy.isnan(got) != numpy.isnan(right)).any():
        return wrong("NaN at other places")
    both = numpy.isfinite(got) & numpy.isfinite(right)
    if (got[~both & ~numpy.isnan(got)] != right[~both & ~numpy.isnan(right)]).any():
        return wrong("infinite at other places")
    return near(harness.relative_error(got[both], right[both]) if both.any() else 0, EXACT)


def check(case, form, ctx):
    import json
    try:
        inputs, right = save(case, form, ctx.folder)
    except Exception as error:  # Whatever PyTorch raises.
        return {"peer": harness.absent(f"{type(error).__name__}: {error}")}
    path = ctx.folder / "m.pt2"
    steps = {"read": ctx.step(ctx.run("anec", path, "-o", "read.mil")) or RIGHT}
    if steps["read"] != RIGHT:
        return steps
    outputs, outcome = ctx.outputs(path, inputs, "--numerics=fp32")
    if outcome:
        return steps | {"run": outcome}
    said = json.loads(ctx.run("ane-run", "info", path, "--json").stdout)
    got = [outputs[entry["name"]] for entry in said["outputs"]]
    if len(got) != len(right):
        return steps | {"run": wrong(f"{len(got)} outputs, expected {len(right)}")}
    found = [difference(one, exact) for one, exact in zip(got, right)]
    return steps | {"run": next((one for one in found if one != RIGHT), RIGHT)}
