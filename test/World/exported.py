"""Architectures by torch.export, without another format between.

Each row of the _zoo files is exported as `torch.export.export` gives it (`default`), and
after `run_decompositions()` (`decomposed`), saved, and read as a `.pt2` archive. Steps:
read, as MIL; run, as PyTorch; written, as a package in fp32 that gives its numbers."""
import copy
import functools

import _zoo
import _zoo_plain
import _zoo_text
import _zoo_vision
import architectures
import harness
from harness import RIGHT, Item, near

FORMS = ("default", "decomposed")
ROWS = architectures.ROWS
# Small ones of every kind, and the usual names.
SAMPLE = ("mlp", "lenet", "lstm-deep", "gru-both", "attention", "encoder-gelu", "unet-bilinear",
          "wavenet", "grid-sample", "einsum", "resnet", "mobilenet-v2", "vit-torchvision", "bert", "gpt2")
EXACT = 1e-4  # Of the largest element, in fp32.


def items():
    return [Item(row.name, form, functools.partial(check, row, form),
                 sample=row.name in SAMPLE and place % len(FORMS) == FORMS.index(form),
                 turn=row.name in SAMPLE and place % len(FORMS) == FORMS.index(form),
                 seconds=400)
            for place, row in enumerate(ROWS) for form in FORMS]


class Unavailable(Exception):
    """PyTorch does not export it: nothing to compare."""


def save(row, form, folder):
    """Writes `m.pt2` and the names of its inputs, or why PyTorch does not."""
    import torch
    model, inputs = copy.deepcopy(architectures.built(row))
    try:
        program = torch.export.export(model, inputs)
        if form == "decomposed":
            program = program.run_decompositions()
        torch.export.save(program, folder / "m.pt2")
    except Exception as error:  # Whatever PyTorch raises.
        (folder / "failed").write_text(f"{type(error).__name__}: {error}")
        return
    (folder / "inputs").write_text("\n".join(program.graph_signature.user_inputs))


def archive(ctx, row, form):
    """(the archive, the names of its inputs)."""
    folder = ctx.computed(lambda folder: save(row, form, folder), "torch.export", row.key(),
                          form, save)
    if (folder / "failed").exists():
        raise Unavailable((folder / "failed").read_text())
    return folder / "m.pt2", (folder / "inputs").read_text().split()


def in_order(ctx, program, outputs):
    """Outputs by name in the order of the program."""
    import json
    said = json.loads(ctx.run("ane-run", "info", program, "--json").stdout)
    return [outputs[entry["name"]] for entry in said["outputs"]]


def worst(outputs, expected):
    if len(outputs) != len(expected):
        raise KeyError(f"{len(outputs)} outputs, expected {len(expected)}")
    return max(map(harness.relative_error, outputs, expected))


def check(row, form, ctx):
    arrays = architectures.reference(ctx, row)
    try:
        path, names = archive(ctx, row, form)
    except Unavailable as error:
        return {"peer": harness.absent(str(error))}
    inputs = dict(zip(names, architectures.part(arrays, "in").values()))
    exact = list(architectures.part(arrays, "out").values())
    steps = {"read": ctx.step(ctx.run("anec", path, "-o", "read.mil")) or RIGHT}
    if steps["read"] != RIGHT:
        return steps
    outputs, outcome = ctx.outputs(path, inputs, "--numerics=fp32")
    steps["run"] = outcome or near(worst(in_order(ctx, path, outputs), exact), EXACT)
    if steps["run"] != RIGHT:
        return steps
    package = ctx.folder / "m.mlpackage"
    outcome = ctx.step(ctx.run("anec", path, "--precision=fp32", "-o", package))
    if not outcome:
        again, outcome = ctx.outputs(package, inputs, "--numerics=fp32", name="again")
    steps["written"] = outcome or near(
        worst([again[name] for name in outputs], list(outputs.values())), EXACT)
    return steps
