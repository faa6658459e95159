"""What `anec check` finds in packages that are sound: those that coremltools made of the
architectures, each in the form whose turn it is, and those of test/CoreML.

Steps: read; sound, no finding is an error; findings, the number for the chip that has the
most, of m1 to m4, which may only become less; few, if at most three of them name no recorded
trial in which the engine's compiler refused the ops; repaired, of one with errors, if the
package that anec writes of it has none."""
import functools
import json
import pathlib

import architectures
import harness
from harness import RIGHT, Item, wrong

CHIPS = ("m1", "m2", "m3", "m4")
MOST = 3
MODELS = pathlib.Path(__file__).resolve().parents[1] / "CoreML" / "Inputs" / "models"


def items():
    rows = [(row, door) for row, door in architectures.drawn_turns() if not door.is_onnx]
    sample = {(item.name, item.variant) for item in architectures.items() if item.sample}
    found = [Item(row.name, door.name, functools.partial(check, row, door),
                  sample=(row.name, door.name) in sample and place % 4 == 0, seconds=240)
             for place, (row, door) in enumerate(rows)]
    return found + [Item("converted", folder.name,
                         functools.partial(judge, folder / "model.mlpackage"))
                    for folder in sorted(MODELS.iterdir())
                    if folder.is_dir() and not folder.name.startswith("bad_")]


def check(row, door, ctx):
    arrays = architectures.reference(ctx, row)
    try:
        folder = architectures.written_by_peer(ctx, row, door,
                                               len(architectures.part(arrays, "out")))
    except architectures.Unavailable as error:
        return {"peer": harness.absent(str(error))}
    return judge(folder / "m.mlpackage", ctx)


def checked(package, ctx):
    """The result, and the outcome of what failed."""
    result = ctx.run("anec", "check", package, "--target=" + ",".join(CHIPS),
                     "--format=json", "--fail-on=never")
    return result, ctx.step(result)


def errors_of(findings):
    return sorted({one["rule"] for one in findings if one["severity"] == "error"})


def names(findings):
    return [one["rule"] for one in findings]


def repaired(package, ctx):
    """Whether the package that anec writes of one with errors has none."""
    fixed = ctx.folder / "fixed.mlpackage"
    outcome = ctx.step(ctx.run("anec", package, "--passes=canonicalize,dce", "-o", fixed))
    if outcome:
        return outcome
    result, outcome = checked(fixed, ctx)
    if outcome:
        return outcome
    errors = errors_of(json.loads(result.stdout)["findings"])
    return wrong(" ".join(errors)) if errors else RIGHT


def judge(package, ctx):
    result, outcome = checked(package, ctx)
    if outcome:
        return {"read": outcome}
    findings = json.loads(result.stdout)["findings"]
    errors = errors_of(findings)
    of_chip = [[one for one in findings if chip in one["targets"]] for chip in CHIPS]
    most = names(max(of_chip, key=len))
    rest = max((names(one for one in found if "trial" not in one) for found in of_chip), key=len)
    steps = {"read": RIGHT, "sound": wrong(" ".join(errors)) if errors else RIGHT,
             "findings": harness.counted(len(most), " ".join(most)),
             "few": RIGHT if len(rest) <= MOST else wrong(" ".join(rest))}
    return steps | ({"repaired": repaired(package, ctx)} if errors else {})
