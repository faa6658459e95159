"""The architectures that are exported: their rows, and what PyTorch computes for them.

A row's model is an expression in the names of its library, so that it is data: the
cache's key, and all that adding a model takes. Weights are random, from a seed that
follows from the name."""
import ast
import copy
import dataclasses
import importlib
import inspect
import zlib


@dataclasses.dataclass(frozen=True)
class Input:
    """`kind` says what values there are: those of a normal distribution, pixels of an
    image, ids below `high`, or a mask whose last elements are 0."""
    name: str
    kind: str
    shape: tuple
    high: int = 0

    def draw(self, generator, shape=None):
        import torch
        shape = shape or self.shape
        if self.kind == "ids":
            return torch.randint(self.high, shape, generator=generator)
        if self.kind == "mask":
            mask = torch.ones(shape, dtype=torch.int64)
            mask[..., shape[-1] - shape[-1] // 4:] = 0
            return mask
        if self.kind == "uniform":
            return torch.rand(shape, generator=generator) * 2 - 1
        return torch.randn(shape, generator=generator)


@dataclasses.dataclass(frozen=True)
class Architecture:
    """`flexible` is (input, axis, low, high): an extent that may vary. `states` are
    buffers that the model writes. `without` are patterns of variants that a peer does
    not make of this model, with no need to try it."""
    name: str
    library: str
    make: str
    inputs: tuple
    flexible: tuple = ()
    states: tuple = ()
    without: tuple = ()

    @property
    def is_classifier(self):
        return self.is_image and self.library in ("timm", "torchvision", "_zoo_modules") \
            and "num_classes=" in self.make

    @property
    def is_image(self):
        return len(self.inputs) == 1 and self.inputs[0].kind == "pixels"

    def key(self):
        """What the model depends on, as text."""
        text = repr(dataclasses.replace(self, without=()))
        if self.library == "_zoo_modules":
            module = importlib.import_module(self.library)
            names = [node.id for node in ast.walk(ast.parse(self.make))
                     if isinstance(node, ast.Name)]
            text += "".join(inspect.getsource(getattr(module, name)) for name in names)
        return text + SOURCES


def pixels(extent, batch=1, channels=3):
    return (Input("image", "pixels", (batch, channels, extent, extent)),)


def ids(length=16, high=100, batch=1, name="input_ids"):
    return (Input(name, "ids", (batch, length), high),)


class _Names(dict):
    """The names of a library, found when an expression uses them."""

    def __init__(self, library):
        super().__init__()
        self.module = importlib.import_module(library)

    def __missing__(self, name):
        import builtins
        if hasattr(self.module, name):
            return getattr(self.module, name)
        return getattr(builtins, name)


def flatten(value):
    """The tensors of a model's result, in order."""
    import torch
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "to_tuple"):
        value = value.to_tuple()
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for one in value for tensor in flatten(one)]
    return []


def Outputs(model, names):
    """A module whose positional arguments are the model's `names`, and whose result is
    a tuple of tensors."""
    import torch

    class Flat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *arguments):
            if names[0].startswith("_"):
                return tuple(flatten(self.model(*arguments)))
            return tuple(flatten(self.model(**dict(zip(names, arguments)))))
    return Flat()


def build(row):
    """(module, tuple of inputs) of a row, in fp32."""
    import torch
    torch.set_num_threads(1)
    seed = zlib.crc32(row.name.encode())
    torch.manual_seed(seed)
    names = [("_" if row.library in ("timm", "torchvision.models", "_zoo_modules") else "")
             + one.name for one in row.inputs]
    model = eval(row.make, {"__builtins__": {}}, _Names(row.library))  # Ours: a row.
    model = Outputs(model, names).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        settle(model, row, generator)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return model, tuple(one.draw(generator) for one in row.inputs)


def settle(model, row, generator):
    """Gives a model what training would: no parameters that are all alike, and the
    statistics of its activations in BatchNorm."""
    import torch
    for parameter in model.parameters():
        if parameter.numel() and (parameter == parameter.flatten()[0]).all():
            scale = abs(float(parameter.flatten()[0])) * 0.1 or 0.02
            parameter.add_(torch.randn(parameter.shape, generator=generator) * scale)
    norms = [one for one in model.modules()
             if isinstance(one, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return
    momenta = [one.momentum for one in norms]
    for one in norms:
        one.momentum = None
        one.train()
    try:
        model(*(one.draw(generator, (4 * one.shape[0],) + one.shape[1:]) for one in row.inputs))
    except (RuntimeError, ValueError):  # A batch that the model does not take.
        pass
    for one, momentum in zip(norms, momenta):
        one.momentum = momentum
        one.running_var.add_(one.running_var.mean() * 0.1)  # No channel is without variance.
        one.eval()


def compute(model, inputs):
    """{kind: outputs} of PyTorch: `out` in fp32, and `half` of its own `.half()` or, where
    it cannot compute that, `auto` of its automatic casts to fp16."""
    import torch

    def run(module, values):
        return [one.float().numpy() for one in
                copy.deepcopy(module)(*copy.deepcopy(values))]

    with torch.no_grad():
        results = {"out": run(model, inputs)}
        halves = [one.half() if one.is_floating_point() else one for one in inputs]
        try:
            results["half"] = run(copy.deepcopy(model).half(), halves)
        except (RuntimeError, NotImplementedError):
            try:
                with torch.autocast("cpu", torch.float16):
                    results["auto"] = run(model, inputs)
            except (RuntimeError, NotImplementedError):
                pass
        return results


# Taken at once, for keys of the cache: the file may be edited during a run.
COMPUTE = inspect.getsource(compute)
SOURCES = "".join(inspect.getsource(one) for one in (Input, build, settle, Outputs, flatten))
