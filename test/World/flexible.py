"""Packages whose inputs can have several shapes, as coremltools writes them and anec writes
them again.

The packages are converted here from small PyTorch models: ranges, lists of shapes, images of
several sizes. anec copies them, and changes their weights. Steps: written by anec; shapes,
the types of all inputs and outputs bit by bit those of the source; loaded by coremltools,
whose inference finds ranks and types for unknown extents; ops, those of the source but for
what unpacks weights; weights, packed as in the package of one shape (`--shape`); run, with the smallest, the largest and the default shape, the numbers
of the source by the rounding of weights; decompressed, where coremltools unpacks the weights
and the package still runs with other shapes; refused, a shape that the source does not
have."""
import collections
import functools

import _packages
from harness import RIGHT, Item, near, relative_error, wrong

# Of the largest element: rounding of weights, of which the models have few.
CHANGES = {"copy": ([], 0), "int8": (["--quantize=int8"], 0.05),
           "int4": (["--quantize=int4:group=8"], 0.5), "lut4": (["--quantize=lut4"], 0.5),
           "lut6": (["--quantize=lut6"], 0.15)}
TARGETS = {"ios16": "iOS16", "ios18": "iOS18"}


def models():
    """{name: (its shapes from the smallest, the default second, one that it cannot have)}"""
    return {
        "rows": ([(1, 1, 48), (1, 6, 48), (1, 64, 48)], (1, 65, 48)),
        "adapters": ([(1, 2, 48), (1, 6, 48), (1, 24, 48)], (1, 25, 48)),
        "tokens": ([(1, 1), (1, 8), (1, 20)], (1, 21)),
        "waves": ([(1, 4, 16), (1, 4, 40), (1, 4, 120)], (1, 4, 121)),
        "pixels": ([(1, 3, 16, 16), (1, 3, 16, 24), (1, 3, 64, 48)], (1, 3, 65, 48)),
    }


# Of `range`, every model is copied and changed; of other forms, these are.
OTHERS = [("rows", "range", "int4"), ("rows", "range", "lut6"),
          ("rows", "enumerated", "copy"), ("rows", "enumerated", "lut4"),
          ("tokens", "enumerated", "copy"), ("pixels", "image", "copy"),
          ("pixels", "image", "int8"), ("rows", "palette", "copy"),
          ("adapters", "palette", "lut4")]


def items():
    rows = [(name, "range", change) for name in models() for change in ("copy", "int8", "lut4")]
    return [Item(name, f"{form}-{change}",
                 functools.partial(check, name, form, change,
                                   "ios18" if change == "int4" else "ios16"),
                 sample=(name, form) in (("tokens", "range"), ("rows", "enumerated"),
                                         ("pixels", "image"), ("rows", "palette")),
                 seconds=200)
            for name, form, change in rows + OTHERS]


def module(name):
    import torch
    from torch import nn
    torch.manual_seed(3)

    class Rows(nn.Module):
        """A reshape by the number of rows, and products between rows."""
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(48, 144), nn.Linear(48, 32)

        def forward(self, x):
            rows = x.shape[1]
            q, k, v = self.qkv(x).reshape(1, rows, 3, 4, 12).permute(2, 0, 3, 1, 4).unbind(0)
            weights = torch.softmax(q @ k.transpose(-1, -2) / 12 ** 0.5, -1)
            return self.out((weights @ v).transpose(1, 2).reshape(1, rows, 48))

    class Adapters(nn.Module):
        """A matrix with trained adapters of rank 4, one merged and one beside it."""
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(48, 64), nn.Linear(64, 40)
            self.a, self.b = nn.Linear(48, 4, bias=False), nn.Linear(4, 64, bias=False)
            merged = torch.randn(40, 4) @ torch.randn(4, 64) * 0.05
            self.second.weight.data += merged

        def forward(self, x):
            return self.second(torch.relu(self.first(x) + self.b(self.a(x)) * 0.5))

    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.out = nn.Embedding(96, 48), nn.Linear(48, 96)
            self.norm = nn.LayerNorm(48)

        def forward(self, x):
            return self.out(self.norm(self.table(x)) + self.table(x).mean(1, keepdim=True))

    class Waves(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Conv1d(4, 24, 5, stride=2, padding=2)
            self.middle = nn.Conv1d(24, 24, 3, padding=2, dilation=2)
            self.up = nn.ConvTranspose1d(24, 4, 4, stride=2, padding=1)

        def forward(self, x):
            return self.up(torch.relu(self.middle(torch.relu(self.down(x)))))

    class Pixels(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 24, 3, 2, 1)
            self.out = nn.Linear(24, 10)

        def forward(self, x):
            h = torch.relu(self.second(torch.relu(self.first(x))))
            return self.out(h.mean((2, 3)))

    return {"rows": Rows, "adapters": Adapters, "tokens": Tokens, "waves": Waves,
            "pixels": Pixels}[name]().eval()


def draw(shape, name, seed=1):
    import numpy
    random = numpy.random.default_rng(seed)
    if name == "tokens":
        return random.integers(0, 96, shape).astype(numpy.int32)
    if name == "pixels":
        return random.integers(0, 256, shape).astype(numpy.float32)
    return random.standard_normal(shape).astype(numpy.float32)


def flexible(name, form):
    """The type of `x` for coremltools; of `palette`, it is a range."""
    import coremltools as ct
    import numpy
    shapes, _ = models()[name]
    if form == "enumerated":
        shape = ct.EnumeratedShapes(shapes, default=shapes[1])
    else:
        shape = ct.Shape(tuple(
            low if low == high else ct.RangeDim(low, high, default=default)
            for low, default, high in zip(*shapes)))
    if form == "image":
        return ct.ImageType(name="x", shape=shape, scale=1 / 128, bias=[-1] * 3)
    return ct.TensorType(name="x", shape=shape,
                         dtype=numpy.int32 if name == "tokens" else numpy.float32)


def convert(name, form, target):
    import coremltools as ct
    import coremltools.optimize.coreml as cto
    import torch
    example = torch.from_numpy(draw(models()[name][0][1], name))
    with torch.no_grad():
        traced = torch.jit.trace(module(name), example, check_trace=False)
    package = ct.convert(traced, inputs=[flexible(name, form)], outputs=[ct.TensorType(name="y")],
                         minimum_deployment_target=getattr(ct.target, TARGETS[target]),
                         skip_model_load=True)
    if form == "palette":
        package = cto.palettize_weights(package, cto.OptimizationConfig(
            cto.OpPalettizerConfig(nbits=6, mode="kmeans", weight_threshold=64)))
    return package


def check(name, form, change, target, ctx):
    def fill(folder):
        _packages.save(convert(name, form, target), folder / "source.mlpackage")

    source = ctx.computed(fill, "flexible", name, form, target, convert, flexible, module,
                          models, draw) / "source.mlpackage"
    flags, limit = CHANGES[change]
    package = ctx.folder / "m.mlpackage"
    outcome = ctx.step(ctx.run("anec", source, *flags, "-o", package))
    steps = {"written": outcome or RIGHT}
    if outcome:
        return steps
    steps["shapes"] = same_types(package, source)
    try:
        ours, theirs = _packages.load_program(package), _packages.load_program(source)
    except Exception as error:  # Whatever coremltools raises.
        steps["loaded"] = wrong(f"coremltools: {type(error).__name__}: {error}")
        return steps
    steps["loaded"] = RIGHT
    steps["ops"] = same_ops(ours, theirs)
    steps["weights"] = same_packing(ctx, source, flags, name, form, package)
    shapes, other = models()[name]
    inputs = [draw(shape, name) for shape in shapes]
    right, outcome = results(ctx, source, inputs, form)
    if outcome:
        return steps | {"run": outcome}
    got, outcome = results(ctx, package, inputs, form)
    steps["run"] = outcome or near(furthest(got, right), limit)
    if outcome:
        return steps
    if compressed(ours):
        steps["decompressed"] = decompressed(ctx, package, inputs, form, got)
    _, outcome = results(ctx, package, [draw(other, name)], form)
    steps["refused"] = RIGHT if outcome and outcome.kind == "refused" else wrong(
        f"runs with the shape {other}")
    return steps


def types_of(path):
    """The serialized type of each input and output."""
    import coremltools as ct
    description = ct.utils.load_spec(str(path)).description
    return [(one.name, one.type.SerializeToString(deterministic=True))
            for one in (*description.input, *description.output)]


def same_types(package, source):
    for ours, theirs in zip(types_of(package), types_of(source)):
        if ours != theirs:
            return wrong(f"the type of `{theirs[0]}` is another")
    return RIGHT if len(types_of(package)) == len(types_of(source)) else wrong("others")


def compressed(program):
    return any(op.op_type.startswith("constexpr_")
               for op in program.functions["main"].operations)


def same_ops(ours, theirs):
    """Ops by name: what unpacks weights is not compared, nor what is constant."""
    lists = [[(op.op_type, op.outputs[0].name, op.outputs[0].rank)
              for op in program.functions["main"].operations
              if op.op_type != "const" and not op.op_type.startswith("constexpr_")]
             for program in (ours, theirs)]
    for one, other in zip(*lists):
        if one != other:
            return wrong(f"{one} for {other}")
    return RIGHT if len(lists[0]) == len(lists[1]) else wrong(
        f"{len(lists[0])} ops for {len(lists[1])}")


def same_packing(ctx, source, flags, name, form, package):
    """What unpacks weights is that of the package of one shape."""
    fixed = ctx.folder / "fixed.mlpackage"
    shape = "x".join(map(str, models()[name][0][1]))
    outcome = ctx.step(ctx.run("anec", source, *flags, f"--shape=x={shape}", "-o", fixed))
    if outcome:
        return outcome
    counts = [collections.Counter(op.op_type
                                  for op in _packages.load_program(one).functions["main"].operations
                                  if op.op_type.startswith("constexpr_"))
              for one in (package, fixed)]
    return RIGHT if counts[0] == counts[1] else wrong(f"{dict(counts[0])} for {dict(counts[1])}")


def results(ctx, package, inputs, form):
    """(y for each input, None) or (None, outcome)."""
    found = []
    for place, array in enumerate(inputs):
        if form == "image":  # Pixels as they are in files.
            array = array[0].transpose(1, 2, 0)
        outputs, outcome = ctx.outputs(package, {"x": array}, "--numerics=fp32",
                                       name=f"{package.stem}-{place}")
        if outcome:
            return None, outcome
        found.append(outputs["y"])
    return found, None


def furthest(got, right):
    return max(map(relative_error, got, right))


def decompressed(ctx, package, inputs, form, right):
    """What coremltools makes of the package, with weights as plain constants."""
    import coremltools as ct
    import coremltools.optimize.coreml as cto
    model = ct.models.MLModel(str(package), skip_model_load=True)
    try:
        plain = cto.decompress_weights(model)
    except Exception as error:  # Whatever coremltools raises.
        return wrong(f"coremltools: {type(error).__name__}: {error}")
    path = _packages.save(plain, ctx.folder / "plain.mlpackage")
    got, outcome = results(ctx, path, inputs, form)
    # coremltools rounds what it unpacks to fp16.
    return outcome or near(furthest(got, right), 4e-3)
