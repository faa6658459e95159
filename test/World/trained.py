"""Architectures that are trained as they were imported.

Each row of the _zoo files is exported by `torch.export` or, the smaller ones, to ONNX, and
made a model by --loss=mse, beside a random target. Steps: gradients, of all parameters by
their names in PyTorch, in fp32; engine, the same of the kernels in fp16, computed in fp32,
beside PyTorch's error with weights rounded to fp16; steps, the losses of 20 steps of
AdamW; back, what the trained weights give in the program that they came from; joint, the
gradients that PyTorch derives in the archive, as `torch.export` can write forward and
backward as one program, which anec runs.

The gradient of a `relu` jumps where its input is 0. Where the weights come near such a place,
rounding decides at which step they pass it, and from there on two runs go different ways. A
run whose losses leave PyTorch's is right if both are so:

- up to each step, it is no further away than WORSE times PyTorch itself, in fp64 beginning
  with weights that differ by what rounding to fp32 does to them, DRAWS times, and in fp32 with
  and without oneDNN, which adds up in another order; of these, the run that is furthest;
- each of its losses is that of PyTorch, in fp64, for the weights that it had then.

Its weights are then beside PyTorch's output for them in the step back."""
import collections
import copy
import functools
import json
import shutil

import _doors
import _zoo
import architectures
import exported
import harness
from harness import RIGHT, Item, near, wrong

ROWS = architectures.ROWS
ONNX = "dynamo-24"
EXACT = 1e-4     # Of the largest gradient of a parameter, and of a loss.
ROUNDED = 1e-2   # The same in fp16.
WORSE = 2        # Times PyTorch's own errors, in fp32 and of rounding, where those are larger.
LEAST = 1e-2     # Gradients that are smaller than the largest by this are differences.
DRAWS = 8        # Of roundings of the weights.
# Whose gradients in PyTorch are not those of its own finite differences, as anec's are.
NO_PEER = {"xcit": "PyTorch's gradients of its first layers are not its finite differences"}
STEPS, RATE = 20, 1e-5
# Large enough that a gradient of 0, which is never quite that, changes nothing.
EPSILON = 1e-4


def items():
    door = next(door for door in _doors.ALL if door.name == ONNX)
    found = []
    for place, row in enumerate(ROWS):
        form = exported.FORMS[place % 2]
        in_sample = row.name in exported.SAMPLE
        found.append(Item(row.name, form, functools.partial(check, row, form),
                          sample=in_sample and place % 2 == 1, turn=in_sample, seconds=400))
        if in_sample and door.takes(row):
            found.append(Item(row.name, ONNX, functools.partial(check, row, door),
                              sample=place % 4 == 0, turn=True, seconds=400))
    return found


def gradients_of(loss_of, parameters):
    for parameter in parameters.values():
        parameter.grad = None
    loss_of().backward()
    return {name: parameter.grad.double().numpy().copy()
            for name, parameter in parameters.items() if parameter.grad is not None}


def learned(model, inputs, target):
    """({name: gradient}, losses, the output after them) of a model with its loss."""
    import torch
    parameters = dict(model.named_parameters())

    def output():
        return _zoo.flatten(model(*copy.deepcopy(inputs)))[0]

    def loss_of():
        return torch.nn.functional.mse_loss(output(), target)
    gradients = gradients_of(loss_of, parameters)
    optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, betas=(0.9, 0.95),
                                  eps=EPSILON, weight_decay=0.0)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        return gradients, losses, output()


def rounded(model):
    """The model with parameters and buffers rounded to fp16."""
    model = copy.deepcopy(model)
    model.load_state_dict({name: array.half() if array.is_floating_point() else array
                           for name, array in model.state_dict().items()})
    return model


def learn(row, folder):
    """Writes what PyTorch computes in fp64, and the errors of its fp32 and of rounding to
    fp16; or why there is nothing to compare."""
    import numpy
    import torch
    model, inputs = copy.deepcopy(architectures.built(row))
    model.eval()
    for parameter in model.parameters():
        parameter.requires_grad_(True)

    def cast(values, *types):
        for type in types:
            values = [one.to(type) if one.is_floating_point() else one for one in values]
        return values
    try:
        first = _zoo.flatten(model(*copy.deepcopy(inputs)))[0]
        if not first.is_floating_point() or not first.requires_grad:
            raise ValueError("nothing of the first output is trained")
        target = torch.from_numpy(numpy.random.default_rng(7).standard_normal(
            tuple(first.shape)).astype("float32"))
        halves = learned(rounded(model), cast(inputs, torch.half, torch.float), target)
        single = learned(copy.deepcopy(model), inputs, target)
        try:
            exact = learned(copy.deepcopy(model).double(), cast(inputs, torch.double),
                            target.double())
        except RuntimeError:  # Its code has numbers in fp32.
            exact = single
    except Exception as error:  # Whatever PyTorch raises.
        (folder / "failed").write_text(f"{type(error).__name__}: {error}")
        return
    harness.save_arrays(folder / "arrays.npz", {
        "target": target.numpy(), "losses": numpy.float64(exact[1]),
        "after": exact[2].float().numpy(),
        "errors": numpy.float64([
            worst(single[0], exact[0])[0], worst(halves[0], exact[0])[0],
            loss_error(single[1], exact[1]),
            harness.relative_error(single[2].numpy(), exact[2].numpy())]),
        **{f"gradient:{name}": array.astype("float32") for name, array in exact[0].items()}})


def in_double(row):
    """The model and its inputs in fp64, to be trained."""
    import torch
    model, inputs = copy.deepcopy(architectures.built(row))
    for parameter in model.eval().double().parameters():
        parameter.requires_grad_(True)
    return model, [one.double() if one.is_floating_point() else one for one in inputs]


def rounding_draws(row, target, folder):
    """Writes the losses of PyTorch in fp64 from weights that are off by at most half a unit
    in the last place of fp32, and in fp32 by two orders of sums: none where its code has
    numbers in fp32."""
    import numpy
    import torch
    target, draws = torch.from_numpy(target), []
    for seed in range(DRAWS):
        generator = torch.Generator().manual_seed(seed)
        model, inputs = in_double(row)
        with torch.no_grad():
            for parameter in model.parameters():
                unit = torch.exp2(torch.frexp(parameter).exponent.double() - 24)
                unit *= parameter != 0  # Which rounding does not move.
                parameter += (torch.rand(parameter.shape, generator=generator,
                                         dtype=torch.double) - 0.5) * unit
        try:
            draws.append(learned(model, inputs, target.double())[1])
        except RuntimeError:  # As in `learn`.
            break
    for enabled in (True, False) if draws else ():
        model, inputs = in_double(row)
        inputs = [one.float() if one.is_floating_point() else one for one in inputs]
        with torch.backends.mkldnn.flags(enabled=enabled):
            draws.append(learned(model.float(), inputs, target)[1])
    harness.save_arrays(folder / "arrays.npz", {"losses": numpy.float64(draws)})


def outputs_of_weights(row, paths):
    """What PyTorch computes in fp64 of each file of weights."""
    import safetensors.torch
    import torch
    model, inputs = in_double(row)
    outputs = []
    for path in paths:
        weights = safetensors.torch.load_file(path)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name in weights:  # Others are not trained.
                    parameter.copy_(weights[name].reshape(parameter.shape))
            outputs.append(_zoo.flatten(model(*copy.deepcopy(inputs)))[0].numpy())
    return outputs


def save_joint(row, folder):
    """Writes `m.pt2`, a program of the loss and its gradients, and the parameters that these
    are of; or why PyTorch does not."""
    import torch
    from torch.export.experimental import _export_forward_backward
    model, inputs = copy.deepcopy(architectures.built(row))
    for parameter in model.parameters():
        parameter.requires_grad_(True)

    class Loss(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, target, *inputs):
            return torch.nn.functional.mse_loss(_zoo.flatten(self.model(*inputs))[0], target)
    try:
        target = torch.zeros_like(_zoo.flatten(model(*copy.deepcopy(inputs)))[0])
        program = torch.export.export(Loss().eval(), (target.detach(), *inputs))
        program = _export_forward_backward(program.run_decompositions())
        torch.export.save(program, folder / "m.pt2")
    except Exception as error:  # Whatever PyTorch raises.
        (folder / "failed").write_text(f"{type(error).__name__}: {error}")
        return
    gradients = program.graph_signature.backward_signature.gradients_to_parameters
    (folder / "names.json").write_text(json.dumps({
        "inputs": program.graph_signature.user_inputs,
        "gradients": [gradients[spec.arg.name].removeprefix("model.")
                      for spec in program.graph_signature.output_specs
                      if spec.arg.name in gradients]}))


def joint(ctx, row, given, target, expected, bound):
    folder = ctx.computed(lambda folder: save_joint(row, folder), "joint", row.key(), save_joint)
    if (folder / "failed").exists():
        return harness.absent((folder / "failed").read_text())
    names = json.loads((folder / "names.json").read_text())
    inputs = dict(zip(names["inputs"], [target, *given]))
    outputs, outcome = ctx.outputs(folder / "m.pt2", inputs, "--numerics=fp32", name="joint")
    if outcome:
        return outcome
    _, *arrays = exported.in_order(ctx, folder / "m.pt2", outputs)
    error, name = worst(dict(zip(names["gradients"], arrays, strict=True)), expected)
    return RIGHT if error <= bound else wrong(f"the gradient of `{name}` is off by {error:.2g}")


def loss_error(got, expected):
    return max(abs(a - b) for a, b in zip(got, expected, strict=True)) / max(expected)


def source(ctx, row, door):
    """(the file, the names of its inputs)."""
    if isinstance(door, str):
        return exported.archive(ctx, row, door)[:2]
    arrays = architectures.reference(ctx, row)
    folder = architectures.written_by_peer(ctx, row, door,
                                           len(architectures.part(arrays, "out")))
    return folder / "m.onnx", [one.name for one in row.inputs]


def unchanged(row, path):
    """The names of parameters that an ONNX file has as they are: exporters compute with the
    values of some, as in a convolution before `batch_norm`."""
    import numpy
    import onnx.numpy_helper
    parameters = dict(architectures.built(row)[0].named_parameters())
    # Equal ones become one.
    alike = collections.Counter(array.detach().numpy().tobytes()
                                for array in parameters.values())
    parameters = {name: array for name, array in parameters.items()
                  if alike[array.detach().numpy().tobytes()] == 1}
    return {tensor.name for tensor in onnx.load(path).graph.initializer
            if tensor.name in parameters and numpy.array_equal(
                onnx.numpy_helper.to_array(tensor), parameters[tensor.name].detach().numpy())}


def worst(got, expected):
    """(the largest error of a gradient, its name). Those that are much smaller than the
    largest one are differences of others."""
    largest = max(float(abs(array).max()) for array in expected.values())
    return max((float(abs(got[name] - array).max())
                / max(float(abs(array).max()), LEAST * largest, 1e-30), name)
               for name, array in expected.items())


def gradients(ctx, package, inputs, expected, bound):
    import numpy
    import safetensors.numpy
    words = []
    for place, (name, array) in enumerate(inputs.items()):
        path = ctx.folder / f"in-{place}.npy"
        numpy.save(path, array)
        numpy.save(ctx.folder / f"one-{place}.npy", array[None])
        words += ["--input", f"{name}={path}"]
    outcome = ctx.step(ctx.run("ane-run", package, *words, "--numerics=fp32",
                               "--gradients=g.safetensors"))
    if outcome:
        return outcome
    got = safetensors.numpy.load_file(ctx.folder / "g.safetensors")
    missing = [name for name in expected if name not in got]
    if missing:
        return wrong(f"no gradient of `{missing[0]}`")
    error, name = worst(got, expected)
    return RIGHT if error <= bound else wrong(f"the gradient of `{name}` is off by {error:.2g}")


def train(ctx, package, inputs, *flags):
    """(the outcome if it fails, the losses, the files of weights of the steps kept)."""
    words = []
    for place, name in enumerate(inputs):
        # An axis in front counts examples: there is one.
        words += ["--input", f"{name}={ctx.folder / f'one-{place}.npy'}"]
    outcome = ctx.step(ctx.run(
        "ane-run", "train", package, *words, f"--steps={STEPS}", f"--lr={RATE}",
        f"--epsilon={EPSILON}", "--warmup=0",
        "--weight-decay=0", "--clip=0", "--numerics=fp32", "--validation=0",
        "--checkpoint=run", *flags))
    if outcome:
        return outcome, None, None
    seen = [json.loads(line)["loss"]
            for line in (ctx.folder / "run/train.jsonl").read_text().splitlines()
            if "loss" in line]
    return None, seen, sorted((ctx.folder / "run").glob("step-*/weights.safetensors"))


def near_as_rounded(ctx, row, package, inputs, losses):
    """(the outcome of a run whose losses leave PyTorch's, PyTorch's output of its weights),
    or None where PyTorch does not compute in fp64."""
    import numpy
    target = inputs["target"]
    draws = harness.load_arrays(ctx.computed(
        lambda folder: rounding_draws(row, target, folder), "roundings", row.key(), learned,
        in_double, rounding_draws, str((STEPS, RATE, EPSILON, DRAWS))) / "arrays.npz")["losses"]
    if not len(draws):
        return None
    shutil.rmtree(ctx.folder / "run")
    outcome, seen, weights = train(ctx, package, inputs, "--keep=0", "--save-every=1")
    if outcome:
        return outcome, None
    errors = abs(numpy.array(seen) - losses) / max(losses)
    furthest = numpy.maximum.accumulate(abs(draws - losses).max(axis=0)) / max(losses)
    for step, (error, most) in enumerate(zip(errors, furthest), 1):
        if error > max(EXACT, WORSE * most):
            return wrong(f"off by {error:.2g} in step {step}, PyTorch rounded in other ways "
                         f"by {most:.2g}"), None
    # Each file has the weights after its step.
    outputs = outputs_of_weights(row, weights)
    own = loss_error(seen[1:], [((output - target) ** 2).mean() for output in outputs[:-1]])
    return near(own, EXACT), outputs[-1]


def check(row, door, ctx):
    if row.name in NO_PEER:
        return {"peer": harness.absent(NO_PEER[row.name])}
    folder = ctx.computed(lambda folder: learn(row, folder), "trained", row.key(), learn,
                          learned, rounded, str((STEPS, RATE, EPSILON)))
    if (folder / "failed").exists():
        return {"peer": harness.absent((folder / "failed").read_text())}
    right = harness.load_arrays(folder / "arrays.npz")
    try:
        path, names = source(ctx, row, door)
    except (exported.Unavailable, architectures.Unavailable) as error:
        return {"peer": harness.absent(str(error))}
    given = architectures.part(architectures.reference(ctx, row), "in")
    inputs = dict(zip(names, given.values()))
    inputs["target"] = right["target"]
    expected = architectures.part(right, "gradient")
    single, half, losses, after = (WORSE * error for error in right["errors"])
    flags = [path, "--loss=mse"]
    trains_all = True
    if not isinstance(door, str):
        names = unchanged(row, path)
        trains_all = names >= set(expected)
        expected = {name: array for name, array in expected.items() if name in names}
    steps = {"gradients": ctx.step(ctx.run("anec", *flags, "--precision=fp32", "-o",
                                           "exact.anepkg"))}
    steps["gradients"] = steps["gradients"] or gradients(ctx, "exact.anepkg", inputs, expected,
                                                         max(EXACT, single))
    if steps["gradients"] != RIGHT:
        return steps
    outcome = ctx.step(ctx.run("anec", *flags, "-o", "half.anepkg"))
    steps["engine"] = outcome or gradients(
        ctx, "half.anepkg", inputs, expected, max(ROUNDED, half))
    if not trains_all:
        return steps
    outcome, seen, weights = train(ctx, "exact.anepkg", inputs, "--keep=1")
    steps["steps"] = outcome or near(loss_error(seen, right["losses"]), max(EXACT, losses))
    if not outcome and steps["steps"] != RIGHT:
        found = near_as_rounded(ctx, row, "exact.anepkg", inputs, right["losses"])
        steps["steps"], right["after"] = found or (steps["steps"], None)
        after = 0  # It is the output of these weights.
    if steps["steps"] != RIGHT:
        return steps
    del inputs["target"]
    outcome = ctx.step(ctx.run("anec", path, f"--weights={weights[-1]}", "--precision=fp32", "-o",
                               "after.mil"))
    if not outcome:
        outputs, outcome = ctx.outputs("after.mil", inputs, "--numerics=fp32")
    steps["back"] = outcome or near(
        harness.relative_error(exported.in_order(ctx, "after.mil", outputs)[0], right["after"]),
        max(1e-3, after))
    if row.name in exported.SAMPLE:
        steps["joint"] = joint(ctx, row, given.values(), right["target"], expected,
                               max(EXACT, single))
    return steps
