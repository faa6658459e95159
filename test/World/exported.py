"""Architectures by torch.export, without another format between.

Each row of the _zoo files is exported as `torch.export.export` gives it (`default`), and
after `run_decompositions()` (`decomposed`), saved, and read as a `.pt2` archive; each form
also by the oldest version that anec.torch takes. Steps:
read, as MIL; run, as PyTorch; written, as a package in fp32 that gives its numbers; program, as a program
in .tdsl, with its weights beside it, that compiles to its numbers."""
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
OLDER, PACKAGES = "2.6", "torch-2.6.txt"


def items():
    for place, row in enumerate(ROWS):
        for form in FORMS:
            sample = row.name in SAMPLE and place % len(FORMS) == FORMS.index(form)
            yield Item(row.name, form, functools.partial(check, row, form, archive),
                       sample=sample, turn=sample, seconds=400)
    for row in ROWS:
        for form in FORMS:
            yield Item(row.name, f"{OLDER}-{form}",
                       functools.partial(check, row, form, older_archive),
                       sample=False, turn=False, seconds=400)


class Unavailable(Exception):
    """PyTorch does not export it: nothing to compare."""


def save(row, form, folder):
    """Writes `m.pt2` and the names of its inputs, or why PyTorch does not."""
    import torch
    model, inputs = copy.deepcopy(architectures.built(row))
    try:
        try:
            program = torch.export.export(model, inputs)
        except Exception:  # Version 2.6 traces bytecode unless it is told not to.
            program = torch.export.export(model, inputs, strict=False)
        if form == "decomposed":
            program = program.run_decompositions()
        torch.export.save(program, folder / "m.pt2")
    except Exception as error:  # Whatever PyTorch raises.
        (folder / "failed").write_text(f"{type(error).__name__}: {error}")
        return
    (folder / "inputs").write_text("\n".join(program.graph_signature.user_inputs))


def archive(ctx, row, form):
    """(the archive, the names of its inputs, the arrays of `architectures.reference`)."""
    folder = ctx.computed(lambda folder: save(row, form, folder), "torch.export", row.key(),
                          form, save)
    return *saved(folder), architectures.reference(ctx, row)


def older_archive(ctx, row, form):
    """The same by PyTorch 2.6, with its own inputs and outputs."""
    def fill(folder):
        try:
            harness.ask("_older_torch.py", PACKAGES, "save", row.name, form, folder)
        except RuntimeError as error:  # It cannot build or run it.
            (folder / "failed").write_text(str(error))
    folder = ctx.computed(fill, "torch.export", harness.fetched(PACKAGES).name, row.key(), form,
                          save)
    return *saved(folder), harness.load_arrays(folder / "arrays.npz")


def saved(folder):
    """(the archive, the names of its inputs) that `save` wrote."""
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


def check(row, form, archive, ctx):
    try:
        path, names, arrays = archive(ctx, row, form)
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
    if form == "default":
        steps["program"] = program(ctx, path, inputs, in_order(ctx, path, outputs))
    return steps


def program(ctx, path, inputs, right):
    """The outcome of the model as a program, whose inputs and outputs are in its order."""
    import json
    for words in ((path, "-o", "program.tdsl"),
                  ("program.tdsl", "--weights=program.safetensors", "-o", "program.mil")):
        if outcome := ctx.step(ctx.run("anec", *words)):
            return outcome
    said = json.loads(ctx.run("ane-run", "info", "program.mil", "--json").stdout)
    # Arrays of other names, in the same order.
    of_path = json.loads(ctx.run("ane-run", "info", path, "--json").stdout)
    renamed = {entry["name"]: inputs[own["name"]]
               for entry, own in zip(said["inputs"], of_path["inputs"], strict=True)}
    outputs, outcome = ctx.outputs("program.mil", renamed, "--numerics=fp32", name="text")
    if outcome:
        return outcome
    arrays = [outputs[entry["name"]] for entry in said["outputs"]]
    return near(worst([got.reshape(one.shape) for got, one in zip(arrays, right)], right), EXACT)
