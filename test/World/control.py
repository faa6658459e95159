"""Random control flow: ONNX models of branches, loops, scans and sequences in each other,
against onnxruntime; packages of coremltools with branches and loops, which its builder
makes or it converts from TorchScript, against PyTorch; loops of TorchScript whose values
change shape from turn to turn. Random shape arithmetic: packages
whose shapes are computed from extents and values, against numpy and coremltools.

Steps: run, with inputs that decide branches and turns, which ane-run reads first (of ONNX);
fixed, where no other input decides, the package of a model with those inputs given by
`--fix`; written, the package that anec writes of a package with blocks, which coremltools
loads with its checks.

A program that goes wrong becomes smaller as long as it stays wrong; its note has the seed,
and `python3 test/World/control.py KIND SEED [BUILD]` shows it."""
import functools
import os
import sys
import tempfile

import _control_growing
import _control_mil
import _control_onnx
import _control_script
import _control_shapes
import harness
from harness import Item

BATCH = 50
EXACT = 1e-5
KINDS = {"growing": _control_growing, "mil": _control_mil, "onnx": _control_onnx,
         "script": _control_script, "shapes": _control_shapes}


# How many batches of each kind the table has; any program is drawn by main().
BATCHES = {"growing": 4, "mil": 20, "onnx": 20, "script": 2, "shapes": 8}


def items():
    for kind, batches in BATCHES.items():
        for batch in range(batches):
            yield Item(kind, f"batch-{batch}", functools.partial(check, kind, batch),
                       sample=batch == 0, turn=batch == 0, seconds=600)


def check(kind, batch, ctx):
    steps = {}
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        for step, outcome in one(kind, seed, ctx).items():
            if outcome.kind != "right":
                outcome = harness.Outcome(outcome.kind, f"{kind} {seed}: {outcome.note}")
            worst = steps.get(step, harness.RIGHT)
            if harness.OUTCOMES.index(outcome.kind) > harness.OUTCOMES.index(worst.kind):
                steps[step] = outcome
            steps.setdefault(step, harness.RIGHT)
    return steps


def one(kind, seed, ctx):
    """The outcomes of a program; of a smaller one where it is wrong."""
    program = KINDS[kind].draw(seed)
    steps = compare(kind, program, ctx)
    if any(outcome.kind == "wrong" for outcome in steps.values()):
        program = shrink(kind, program, ctx)
        steps = compare(kind, program, ctx)
    return steps


def shrink(kind, program, ctx):
    """Leaves out parts as long as a step stays wrong."""
    found = True
    while found:
        found = False
        for smaller in KINDS[kind].smaller(program):
            try:
                steps = compare(kind, smaller, ctx)
            except Exception:  # The peer's: it is no program without the part.
                continue
            if any(outcome.kind == "wrong" for outcome in steps.values()):
                program, found = smaller, True
                break
    return program


def compare(kind, program, ctx):
    module = KINDS[kind]
    path, inputs, deciding = module.write(program, ctx.folder)
    right = module.reference(program, path, inputs)
    steps = {}
    outputs, outcome = ctx.outputs(path, inputs, "--numerics=fp32")
    steps["run"] = outcome or agree(outputs, right)
    shapes = module.flags(program) if hasattr(module, "flags") else []
    if hasattr(module, "loads") and not (deciding and getattr(module, "FIXED_ONLY", False)):
        steps["written"] = written(module, path, inputs, right, shapes, ctx)
    if not deciding:
        return steps
    flags = shapes + [f"--fix={name}=" + ",".join(repr(float(x)) for x in inputs[name].ravel())
             for name in deciding]
    outcome = ctx.step(ctx.run("anec", path, *flags, "--precision=fp32", "-o", "fixed.mlpackage"))
    if outcome:
        steps["fixed"] = outcome
        return steps
    others = {name: array for name, array in inputs.items() if name not in deciding}
    outputs, outcome = ctx.outputs("fixed.mlpackage", others, "--numerics=fp32", name="again")
    steps["fixed"] = outcome or agree(outputs, right)
    return steps


def written(module, path, inputs, right, shapes, ctx):
    outcome = ctx.step(ctx.run("anec", path, *shapes, "--precision=fp32", "-o", "written.mlpackage"))
    if outcome:
        return outcome
    outputs, outcome = ctx.outputs("written.mlpackage", inputs, "--numerics=fp32",
                                   name="again")
    if outcome:
        return outcome
    try:
        module.loads(ctx.folder / "written.mlpackage")
    except Exception as error:
        return harness.wrong(f"coremltools: {type(error).__name__}: {error}")
    return agree(outputs, right)


def agree(outputs, right):
    for name, array in right.items():
        if name not in outputs:
            return harness.wrong(f"no output `{name}`")
        error = harness.relative_error(outputs[name], array)
        if error > EXACT:
            return harness.wrong(f"`{name}` is off by {error:.2g}")
    return harness.RIGHT


def main():
    kind, seed = sys.argv[1], int(sys.argv[2])
    build = sys.argv[3] if len(sys.argv) > 3 else "build"
    ctx = harness.Context(os.path.abspath(build), tempfile.mkdtemp())
    program = KINDS[kind].draw(seed)
    steps = compare(kind, program, ctx)
    if any(outcome.kind == "wrong" for outcome in steps.values()):
        program = shrink(kind, program, ctx)
        steps = compare(kind, program, ctx)
    print(KINDS[kind].text(program))
    print(steps)


if __name__ == "__main__":
    main()
