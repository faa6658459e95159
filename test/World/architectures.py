"""Architectures by the exporters of PyTorch and of coremltools.

Each row of the _zoo files can go through each door of _doors.py. In the sample each
architecture goes through one door of each kind, so that each door has its turns. Steps
of an ONNX file: read; run, as PyTorch; fp16, not worse than PyTorch's and coremltools';
written as a package that coremltools takes; again, that package's numbers. Of a Core ML
package: read; run; rewritten; again."""
import copy
import dataclasses
import functools
import math

import _doors
import _packages
import _zoo
import _zoo_plain
import _zoo_text
import _zoo_vision
import harness
from harness import RIGHT, Item, near, refused, relative_error, wrong

# The first row's turn: each list can grow at its end without a change to other rows.
LISTS = ((0, _zoo_plain.ROWS), (45, _zoo_vision.ROWS), (138, _zoo_text.ROWS))
ROWS = [row for _, rows in LISTS for row in rows]
# Small ones that nearly every door takes.
LATE = ("lenet", "encoder", "autoencoder", "mlp")

EXACT = 1e-4  # Of the largest element, in fp32.
# What rounding each element of an output to fp16 explains, whatever the peers' errors are.
FLOOR = 2.0 ** -11
DRAWS = 4    # Of inputs.
WEIGHTS = 5  # Draws of them, where the first are not enough.
WORSE = 1.5


def items():
    turns = {(row.name, door.name) for row, door in drawn_turns()}
    sample = {(row, door) for row, door in turns if row not in _zoo_vision.MORE}
    sample |= late_turns({door for _, door in sample})
    return [Item(row.name, door.name, functools.partial(check, row, door),
                 sample=(row.name, door.name) in sample,
                 turn=(row.name, door.name) in turns | sample, seconds=400)
            for row in ROWS for door in _doors.ALL if door.takes(row)]


def drawn_turns():
    """(row, door) of each row's turns: a door to ONNX, and one to Core ML."""
    for place, row in (one for start, rows in LISTS for one in enumerate(rows, start)):
        onnx = _doors.ONNX_RANGES if row.flexible else _doors.ONNX
        for door in turn(onnx, row, place), turn(_doors.COREML, row, place):
            if door:
                yield row, door


def late_turns(taken):
    """{(row, door)} by name: doors that no row of the sample took go to those of LATE."""
    found = set()
    left = [door for door in _doors.ALL if door.name not in taken]
    rows = [row for row in _zoo_plain.ROWS if row.name in LATE]
    for place, door in enumerate(left):
        row = next((row for row in rows[place % len(rows):] + rows if door.takes(row)), None)
        if not row:
            raise LookupError(f"no architecture of the sample takes the door {door.name}")
        found.add((row.name, door.name))
    return found


def turn(doors, row, place):
    """The door that a row goes through in the sample: the one whose turn it is, or the
    next that the row can take. What is special about a row is tried with it."""
    if row.flexible:
        forms = [door for door in doors if door.form in ("range", "enumerated")]
    else:  # A number that has no factor in common with that of the doors.
        forms = [door for door in doors if door.form and (row.states or place % 5 == 0)]
    doors = [door for door in forms if door.takes(row)] or doors
    first = place % len(doors)
    return next((door for door in doors[first:] + doors[:first] if door.takes(row)), None)


class Unavailable(Exception):
    """A peer does not make the file: nothing to compare."""


@functools.lru_cache(maxsize=2)
def built(row):
    import torch
    torch.backends.mha.set_fastpath_enabled(False)  # Ops that no exporter has.
    return _zoo.build(row)


def reference(ctx, row):
    """{in:NAME, out:I, half:I, auto:I} of PyTorch."""
    def fill(folder):
        harness.save_arrays(folder / "arrays.npz", compute_arrays(row, *built(row)))
    return harness.load_arrays(
        ctx.computed(fill, "reference", row.key(), _zoo.COMPUTE) / "arrays.npz")


def compute_arrays(row, model, inputs):
    arrays = {f"in:{one.name}": to_numpy(value) for one, value in zip(row.inputs, inputs)}
    for kind, outputs in _zoo.compute(model, inputs).items():
        arrays |= {f"{kind}:{i}": value for i, value in enumerate(outputs)}
    return arrays


def to_numpy(value):
    import numpy
    value = value.numpy()
    return value if value.dtype == numpy.float32 else value.astype(numpy.int32)


def part(arrays, kind):
    """The arrays of a kind, in order, by the rest of their names."""
    return {key.split(":", 1)[1]: value for key, value in arrays.items()
            if key.startswith(kind + ":")}


def written_by_peer(ctx, row, door, count):
    """The folder with the exporter's file. A failure is remembered as well."""
    def fill(folder):
        # Exporters may leave things behind in a module.
        model, inputs = copy.deepcopy(built(row))
        try:
            if door.is_onnx:
                write = _doors.write_flexible_onnx if door.form else _doors.write_onnx
                write(door, row, model, inputs, count, folder / "m.onnx")
            else:
                _doors.write_package(door, row, model, inputs, folder / "m.mlpackage")
        except Exception as error:  # Whatever a peer raises.
            (folder / "failed").write_text(f"{type(error).__name__}: {error}")
    folder = ctx.computed(fill, "export", row.key(), repr(door), *_doors.sources(door))
    if (folder / "failed").exists():
        raise Unavailable((folder / "failed").read_text())
    return folder


def check(row, door, ctx):
    arrays = reference(ctx, row)
    try:
        folder = written_by_peer(ctx, row, door, len(part(arrays, "out")))
    except Unavailable as error:
        return {"peer": harness.absent(str(error))}
    if door.is_onnx:
        return check_onnx(ctx, row, door, folder / "m.onnx", arrays)
    return check_package(ctx, row, door, folder, arrays)


def error_of(outputs, expected, names=None):
    """The worst error of outputs by name, beside arrays in order."""
    expected = list(expected)
    names = names or [f"y{i}" for i in range(len(expected))]
    missing = [name for name in names if name not in outputs]
    if missing or len(names) != len(expected):
        raise KeyError(f"outputs {sorted(outputs)}, expected {names}")
    return max(float(outputs[name].tolist() != value.tolist()) if outputs[name].dtype.kind == "U"
               else relative_error(outputs[name], value) for name, value in zip(names, expected))


def check_onnx(ctx, row, door, path, arrays):
    """A file with extents that vary is run with several, and written with the row's."""
    flags = [f"--shape={one.name}=" + "x".join(map(str, one.shape)) for one in row.inputs
             if door.form]
    steps = {"read": ctx.step(ctx.run("anec", path, *flags, "-o", "read.mil")) or RIGHT}
    if steps["read"] != RIGHT:
        return steps
    for place, (_, inputs, exact) in reversed(list(enumerate(cases(row, door, arrays)))):
        outputs, outcome = ctx.outputs(path, inputs, "--numerics=fp32", name=f"run-{place}")
        steps["run"] = outcome or near(error_of(outputs, exact), EXACT)
        if steps["run"] != RIGHT:
            break
    steps["fp16"] = check_half(ctx, row, door, path, arrays, flags)
    steps["written"], again = check_written(ctx, path, "written.mlpackage", "--precision=fp32",
                                            *flags)
    if again and outputs:  # Of the last run, with the row's own inputs.
        back, outcome = ctx.outputs(again, inputs, "--numerics=fp32")
        steps["again"] = outcome or near(error_of(back, outputs.values(), list(outputs)), EXACT)
    return steps


def check_written(ctx, path, name, *flags):
    """(outcome, path or None) of writing a package that coremltools loads."""
    if not has_precision(ctx):
        flags = [flag for flag in flags if flag != "--precision=fp32"]
    outcome = ctx.step(ctx.run("anec", path, *flags, "-o", name))
    if outcome:
        return outcome, None
    try:
        _packages.load_program(ctx.folder / name)
    except Exception as error:  # Whatever coremltools raises.
        return wrong(f"coremltools: {type(error).__name__}: {error}"), ctx.folder / name
    return RIGHT, ctx.folder / name


@functools.lru_cache(maxsize=1)
def flags_of(anec):
    import subprocess
    return subprocess.run([anec, "--help"], capture_output=True, text=True).stdout


def has_precision(ctx):
    return "--precision" in flags_of(str(ctx.build / "bin" / "anec"))


def check_half(ctx, row, door, path, arrays, more):
    """anec's package in fp16, beside the better of PyTorch's .half() and coremltools'.
    Where it is worse with the row's weights, others are drawn too, for all of them, and
    the error is that of all draws, the row's included."""
    draws = draws_of(ctx, row, arrays)
    ours, outcome = half_norms(ctx, path, draws, more)
    if outcome:
        return outcome
    if harness.half_error(ours) <= FLOOR:  # Right whatever the peers' errors are.
        return RIGHT
    theirs = peer_norms(ctx, row, draws)
    others = iter(other_weights(row))
    while True:
        error, (best, peer) = harness.half_error(ours), best_of(theirs)
        if error <= WORSE * best and math.isfinite(error):
            return RIGHT
        other = next(others, None)
        if not other or not math.isfinite(error):
            return wrong(f"off by {error:.2g}, {peer} by {best:.2g}")
        arrays = reference(ctx, other)
        try:
            folder = written_by_peer(ctx, other, door, len(part(arrays, "out")))
        except Unavailable:
            continue
        draws = draws_of(ctx, other, arrays)
        norms, outcome = half_norms(ctx, folder / "m.onnx", draws, more)
        if outcome:
            return outcome
        ours += norms
        found = peer_norms(ctx, other, draws)
        theirs = {name: norms + found[name] for name, norms in theirs.items() if name in found}


def other_weights(row):
    """The row with other weights, which follow from its name."""
    return [dataclasses.replace(row, name=f"{row.name}, weights {n}")
            for n in range(2, WEIGHTS + 1)]


def draws_of(ctx, row, arrays):
    """In fp32; the first has the results in fp16 too."""
    return [arrays] + [another_draw(ctx, row, place, compute_exact)
                       for place in range(1, DRAWS)]


def half_norms(ctx, path, draws, more):
    """(the relative norms of anec's package in fp16, None): of each draw by output; or
    (None, outcome)."""
    flags = () if has_precision(ctx) else ("--passes=narrow", "--interface=fp32")
    outcome = ctx.step(ctx.run("anec", path, *flags, *more, "-o", "half.mlpackage"))
    if outcome:
        return None, outcome
    return norms_of(ctx, ctx.folder / "half.mlpackage", draws, lambda package, inputs: inputs,
                    lambda package, arrays: [f"y{i}" for i in range(len(arrays))])


def best_of(norms):
    """(the error, the name) of the better peer."""
    # Automatic casts keep much in fp32: they count where no peer is fp16 throughout.
    names = [name for name in norms if name != "autocast"] or list(norms)
    return min((harness.half_error(norms[name]), name) for name in names)


def norms_of(ctx, package, draws, inputs_of, names_of):
    """(the relative norms of each draw by output, None), or (None, outcome) of a run that
    fails."""
    norms = []
    for arrays in draws:
        exact = list(part(arrays, "out").values())
        outputs, outcome = ctx.outputs(package, inputs_of(package, part(arrays, "in")))
        if outcome:
            return None, outcome
        norms.append([harness.relative_norm(outputs[name], right)
                      for name, right in zip(names_of(package, exact), exact)])
    return norms, None


def peer_norms(ctx, row, draws):
    """{peer: the relative norms of its draws}, of those that compute in fp16."""
    norms = {}
    draws = draws[:1] + [another_draw(ctx, row, place, compute_arrays)
                         for place in range(1, len(draws))]
    for kind, name in ("half", "PyTorch"), ("auto", "autocast"):
        if all(part(arrays, kind) for arrays in draws):
            norms[name] = [list(map(harness.relative_norm, part(arrays, kind).values(),
                                    part(arrays, "out").values())) for arrays in draws]
    if package := coremltools_half(ctx, row, draws[0]):
        found, outcome = norms_of(ctx, package, draws, package_inputs,
                                  lambda package, _: _packages.features(package)[1])
        if not outcome:
            norms["coremltools"] = found
    return norms


def another_draw(ctx, row, place, compute):
    """What `compute` gives for other inputs, which follow from `place`."""
    def fill(folder):
        import torch
        generator = torch.Generator().manual_seed(place)
        inputs = tuple(one.draw(generator) for one in row.inputs)
        harness.save_arrays(folder / "arrays.npz", compute(row, built(row)[0], inputs))
    return harness.load_arrays(ctx.computed(fill, f"draw {place}", row.key(), compute,
                                            _zoo.COMPUTE) / "arrays.npz")


def compute_exact(row, model, inputs):
    """{in:NAME, out:I} in fp32."""
    arrays = {f"in:{one.name}": to_numpy(value) for one, value in zip(row.inputs, inputs)}
    return arrays | {f"out:{i}": value for i, value in enumerate(run_model(model, inputs))}


def coremltools_half(ctx, row, arrays):
    door = next(one for one in _doors.PLAIN if one.name == "trace-fp16-ios17")
    try:
        return written_by_peer(ctx, row, door, len(part(arrays, "out"))) / "m.mlpackage"
    except Unavailable:
        return None


def package_inputs(package, inputs, function=None):
    """Inputs by the package's names, which exporters choose: the order is the model's."""
    names, _ = _packages.features(package, function)
    return inputs if set(names) == set(inputs) else dict(zip(names, inputs.values()))


def check_package(ctx, row, door, folder, arrays):
    path = folder / "m.mlpackage"
    steps = {"read": ctx.step(ctx.run("anec", path, "-o", "read.mil")) or RIGHT}
    if steps["read"] != RIGHT:
        return steps
    runs = list(cases(row, door, arrays))
    got = []
    for place, (function, inputs, expected) in enumerate(runs):
        outputs, outcome = run_package(ctx, path, row, door, function, inputs, f"run-{place}")
        got.append(outputs)
        steps["run"] = outcome or judge_run(ctx, row, door, folder, inputs, outputs, expected,
                                            arrays)
        if steps["run"] != RIGHT:
            break
    steps["rewritten"], again = check_written(ctx, path, "again.mlpackage")
    if again and all(got):
        for (function, inputs, _), outputs in zip(runs, got):
            back, outcome = run_package(ctx, again, row, door, function, inputs, "again")
            steps["again"] = outcome or near(
                error_of(back, outputs.values(), list(outputs)), EXACT)
            if steps["again"] != RIGHT:
                break
    return steps


def run_package(ctx, path, row, door, function, inputs, name):
    flags = ["--numerics=fp32"] + ([f"--function={function}"] if function else [])
    return ctx.outputs(path, package_inputs(path, inputs, function), *flags, name=name)


def cases(row, door, arrays):
    """(function, inputs, expected outputs) of the runs of a package."""
    inputs, exact = part(arrays, "in"), list(part(arrays, "out").values())
    if door.form == "functions":
        yield "first", inputs, exact
        yield "second", inputs, exact
    elif door.form.startswith("image"):
        yield image_case(row, door)
    elif door.form in ("range", "enumerated"):
        yield None, inputs, exact
        for end in (0, 1):
            yield resized_case(row, end)
    elif row.states:
        yield None, inputs, exact
    else:
        yield None, inputs, exact


def computed(row, inputs):
    return run_model(built(row)[0], inputs)


def run_model(model, inputs):
    import torch
    with torch.no_grad():
        return [one.float().numpy() for one in
                copy.deepcopy(model)(*copy.deepcopy(inputs))]


def resized_case(row, end):
    import torch
    generator = torch.Generator().manual_seed(end)
    values = [one.draw(generator, _doors.other_shape(row, one, end)) for one in row.inputs]
    return None, {one.name: to_numpy(value) for one, value in zip(row.inputs, values)}, \
        computed(row, values)


def image_case(row, door):
    """Pixels as bytes: [height, width, 3] of red, green and blue."""
    import numpy
    import torch
    one = row.inputs[0]
    pixels = numpy.random.default_rng(1).integers(0, 256, one.shape[2:] + (3,)).astype(numpy.uint8)
    planes = pixels[..., ::-1] if "bgr" in door.form else pixels
    value = torch.tensor(planes.copy()).permute(2, 0, 1)[None].float()
    value = value * _doors.IMAGE_SCALE + _doors.IMAGE_BIAS
    return None, {one.name: pixels.astype(numpy.float32)}, computed(row, [value])


def judge_run(ctx, row, door, folder, inputs, outputs, expected, arrays):
    if door.compression:  # Beside the same weights, decompressed by coremltools.
        dense = folder / "dense.mlpackage"
        plain, outcome = ctx.outputs(dense, package_inputs(dense, inputs), "--numerics=fp32",
                                     name="dense")
        # coremltools rounds to fp16 what it computes of compressed weights.
        limit = half_limit(arrays) if _doors.computes_weights(door) else EXACT
        return outcome or near(error_of(outputs, plain.values(), list(plain)), limit)
    _, names = _packages.features(folder / "m.mlpackage", "first" if door.form == "functions"
                                  else None)
    if door.form == "classifier":
        return judge_classifier(outputs, names, expected[0], half_limit(arrays))
    limit = EXACT if door.precision == "fp32" else half_limit(arrays)
    return near(error_of(outputs, expected, names), limit)


def half_limit(arrays):
    """What rounding a model's weights to fp16 explains: the packages' weights are, and
    are run in fp32."""
    exact, half = part(arrays, "out"), part(arrays, "half")
    own = max(map(relative_error, half.values(), exact.values())) if half else 1e-2
    return max(8 * FLOOR, 2 * own)


def judge_classifier(outputs, names, expected, limit):
    import numpy
    label = str(outputs[names[0]].reshape(-1)[0])
    scores = outputs[names[1]].reshape(-1)
    error = relative_error(scores, expected.reshape(-1))
    if error > limit:
        return near(error, limit)
    best = int(numpy.argmax(scores))
    return RIGHT if label == f"class {best}" else wrong(f"label {label}, the best is {best}")
