"""Random control flow of TorchScript: modules whose source is written from a tree of
statements as in _control_mil, scripted by PyTorch and converted by coremltools. What is
right is what the module computes in PyTorch. (coremltools converts no `torch.cond` and
`torch.while_loop` of exported programs.)"""
import importlib.util
import logging
import warnings

import numpy as np

import _control_mil
from _control_mil import smaller, text, loads  # noqa: F401 (this kind's, too)

MODULE = """import torch


class M(torch.nn.Module):
    def forward(self, x, flag, count{more}):
        turns = int(count)
        yes = bool(flag)
        zero = x - x
"""


def draw(seed):
    return {**_control_mil.draw(("script", seed)), "seed": seed}


class Source:
    """The lines of a module."""

    def __init__(self):
        self.lines, self.count = [], 0

    def name(self, letter="v"):
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, depth, line):
        self.lines.append("    " * depth + line)

    def run(self, depth, body, values):
        """Adds the lines of `body`; the name of its last value."""
        values = list(values)
        for statement in body:
            name = self.name()
            getattr(self, "do_" + statement[0])(depth, name, values, *statement[1:])
            values.append(name)
        return values[-1]

    def at(self, values, place):
        return values[-1 - place % len(values)]

    def do_unary(self, depth, name, values, op, x):
        self.line(depth, f"{name} = torch.{op}({self.at(values, x)})")

    def do_binary(self, depth, name, values, op, x, y):
        self.line(depth, f"{name} = torch.{op}({self.at(values, x)}, {self.at(values, y)})")

    def do_constant(self, depth, name, values, numbers):
        # coremltools takes no constant as what a turn gives.
        self.line(depth, f"{name} = zero + torch.tensor({numbers})")

    def do_if(self, depth, name, values, kind, x, yes, no):
        condition = {"sum": f"bool({self.at(values, x)}.sum() > 0)", "flag": "yes",
                     "true": "True", "false": "False"}[kind]
        for head, body in ((f"if {condition}:", yes), ("else:", no)):
            self.line(depth, head)
            last = self.run(depth + 1, body, values)
            self.line(depth + 1, f"{name} = {last}")

    def do_loop(self, depth, name, values, kind, turns, x, body):
        self.line(depth, f"{name} = {self.at(values, x)}")
        self.line(depth, f"for _ in range({turns if kind == 'known' else 'turns'}):")
        last = self.run(depth + 1, body, values + [name])
        self.line(depth + 1, f"{name} = {last}")

    def do_while(self, depth, name, values, turns, x, body):
        turn = self.name("i")
        self.line(depth, f"{name} = {self.at(values, x)}")
        self.line(depth, f"{turn} = 0")
        self.line(depth, f"while {turn} < {turns} and bool({name}.abs().sum() < 20.0):")
        last = self.run(depth + 1, body, values + [name])
        self.line(depth + 1, f"{name} = {last}")
        self.line(depth + 1, f"{turn} += 1")

    def do_pair(self, depth, name, values, x, y, z, body):
        """Two tensors change places while one of the values stays as it is."""
        a, b = self.name("a"), self.name("b")
        self.line(depth, f"{a} = {self.at(values, x)}")
        self.line(depth, f"{b} = {self.at(values, y)}")
        self.line(depth, "for _ in range(turns):")
        last = self.run(depth + 1, body, values + [a, self.at(values, z)])
        self.line(depth + 1, f"{a}, {b} = {b}, {last}")
        self.line(depth, f"{name} = {a} + {b}")


def module(program, folder, kind=Source, more=()):
    """The module; inputs `more` have results of their own."""
    source = kind()
    last = source.run(2, program["body"], ["x"])
    path = folder / f"module_{program['seed']}_{source.count}.py"
    results = ", ".join([f"{last} + 0.0"] + [f"{name} + 1.0" for name in more])
    path.write_text(MODULE.replace("{more}", "".join(f", {name}" for name in more))
                    + "\n".join(source.lines) + f"\n        return {results}\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.M().eval()


def arrays(program):
    return {"x": np.array(program["x"], np.float32),
            "flag": np.array([program["flag"]], np.int32),
            "count": np.array([program["count"]], np.int32)}


def others(inputs):
    return [name for name in inputs if name not in ("x", "flag", "count")]


def write(program, folder, kind=Source, inputs=None):
    """(path, inputs, no inputs to fix: values decide as they are)"""
    import coremltools as ct
    import torch
    logging.disable(logging.CRITICAL)
    inputs = inputs or arrays(program)
    more = others(inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scripted = torch.jit.script(module(program, folder, kind, more))
        package = ct.convert(
            scripted, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS17,
            inputs=[ct.TensorType(name, shape=array.shape, dtype=array.dtype.type)
                    for name, array in inputs.items()],
            outputs=[ct.TensorType(name) for name in ["y", *(f"{one}1" for one in more)]],
            compute_precision=ct.precision.FLOAT32, skip_model_load=True)
    path = folder / "m.mlpackage"
    package.save(str(path))
    return path, inputs, []


def reference(program, path, inputs, kind=Source):
    import torch
    torch.set_num_threads(1)
    more = others(inputs)
    found = module(program, path.parent, kind, more)(*(torch.tensor(x) for x in inputs.values()))
    names = ["y", *(f"{one}1" for one in more)]
    return {name: one.numpy() for name, one in zip(names, found if more else [found])}
