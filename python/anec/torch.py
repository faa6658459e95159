# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch models, by torch.export: one call from a module to what anec does with it.

    import torch, anec.torch

    model, args = torchvision.models.resnet18().eval(), (torch.rand(1, 3, 224, 224),)
    anec.torch.to_mlpackage(model, args, "resnet.mlpackage")
    for finding in anec.torch.check(model, args, "m1"):
        print(f"{finding.file}:{finding.line}: {finding.message}")
    session = anec.torch.Session(model, args)
    print(session(torch.rand(1, 3, 224, 224)))

    compiled = torch.compile(model, backend="anec")
    compiled(*args)
    print(anec.torch.report())

PyTorch 2.6 or newer. A model is a torch.nn.Module with example arguments, or the
ExportedProgram of torch.export.export, which needs none. Modules are exported as they
are: call `eval()` first, unless dropout and batch statistics are wanted.
docs/formats/pytorch.md says what is read."""
from __future__ import annotations

import inspect
import os
import sys
import tempfile
import typing

try:
    import torch
except ImportError as error:
    raise ImportError("anec.torch needs PyTorch 2.6 or newer: pip install torch") from error
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6):
    raise ImportError(f"anec.torch needs PyTorch 2.6 or newer, and this is "
                      f"{torch.__version__}")
import torch.utils._pytree as pytree
from torch._dynamo.backends.common import aot_autograd
from torch.export._tree_utils import reorder_kwargs
from torch.export.graph_signature import ConstantArgument, OutputKind

from . import _compiler, _session
from ._arguments import StrPath
from ._options import CompileOptions, Floats, InspectOptions
from ._torch_arrays import as_array, as_tensor, input_names
from ._torch_backend import Graph, compile_graph, report
from ._torch_decompositions import TABLE
from ._torch_lines import moved

if sys.version_info >= (3, 11):
    from typing import Unpack
elif typing.TYPE_CHECKING:
    from typing_extensions import Unpack

Model = typing.Union[torch.nn.Module, torch.export.ExportedProgram, "Exported"]
Arguments = typing.Tuple[typing.Any, ...]
Named = typing.Optional[typing.Dict[str, typing.Any]]

__all__ = ["Exported", "Graph", "Session", "check", "compile", "export", "report",
           "to_mlpackage"]


class Exported:
    """A model as torch.export gives it, saved for anec.

    program  the torch.export.ExportedProgram
    path     the .pt2 archive: in a temporary folder that goes with this object, unless
             another was given"""

    def __init__(self, program: torch.export.ExportedProgram,
                 path: typing.Optional[StrPath] = None) -> None:
        """Saves `program`. Raises OSError when `path` cannot be written."""
        self.program = program
        self._folder: typing.Optional[tempfile.TemporaryDirectory[str]] = None
        if path is None:
            self._folder = tempfile.TemporaryDirectory(prefix="anec-")
            path = os.path.join(self._folder.name, "model.pt2")
        self.path: str = os.fsdecode(path)
        torch.export.save(program, self.path)


def export(model: Model, args: Arguments = (), kwargs: Named = None, *,
           dynamic_shapes: typing.Any = None,
           path: typing.Optional[StrPath] = None) -> Exported:
    """Exports `model` with example arguments, as torch.export.export does; gives an
    Exported. With `path`, the archive stays there. Raises TypeError when `args` is no
    tuple, and what torch.export.export raises."""
    if isinstance(model, Exported):
        return model
    if isinstance(args, torch.Tensor):
        raise TypeError("args is a tuple of the example's arguments: (x,)")
    program = model
    if not isinstance(program, torch.export.ExportedProgram):
        with torch.no_grad():
            program = torch.export.export(model, tuple(args), kwargs,
                                          dynamic_shapes=dynamic_shapes)
    return Exported(program, path)


def compile(model: Model, args: Arguments = (), kwargs: Named = None, *,
            dynamic_shapes: typing.Any = None,
            **options: Unpack[CompileOptions]) -> _compiler.Program:
    """The anec.Program of a model; `options` are those of anec.compile. Raises what
    `export` and anec.compile raise."""
    exported = export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    compiled = _compiler.compile(exported.path, **_with_shapes(exported, options))
    compiled._exported = exported  # type: ignore[attr-defined]  # whose weights it may read later
    return compiled


def to_mlpackage(model: Model, args: Arguments, path: StrPath, kwargs: Named = None, *,
                 dynamic_shapes: typing.Any = None,
                 describe: typing.Union[StrPath, typing.Mapping[str, typing.Any],
                                        None] = None,
                 deployment: typing.Optional[str] = None,
                 interface: typing.Optional[Floats] = None,
                 **options: Unpack[CompileOptions]) -> None:
    """Writes a model as a Core ML package to `path`, which ends in .mlpackage (or
    .mlmodelc). It computes in fp16, which the engine needs; precision="fp32" keeps the
    model's. `describe`, `deployment` and `interface` are those of anec.Program.write,
    other options those of anec.compile. Raises ValueError when `path` has another ending,
    and what `compile` and anec.Program.write raise."""
    if not os.fsdecode(path).endswith((".mlpackage", ".mlmodelc")):
        raise ValueError(f"path ends in .mlpackage or .mlmodelc, and is {path!r}")
    options.setdefault("precision", "fp16")
    program = compile(model, args, kwargs, dynamic_shapes=dynamic_shapes, **options)
    program.write(path, describe=describe, deployment=deployment, interface=interface)


def check(model: Model, args: Arguments, target: str, kwargs: Named = None, *,
          dynamic_shapes: typing.Any = None,
          **options: Unpack[InspectOptions]) -> typing.List[_compiler.Finding]:
    """What breaks the rules of the chip `target`: a list of anec.Finding, whose file and
    line are those of the Python that called the operator, where it is known. The
    `framework` is "coreml" unless another is given. Raises what `export` and anec.check
    raise."""
    options.setdefault("framework", "coreml")
    exported = export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    found = _compiler.check(exported.path, target, **_with_shapes(exported, options))
    return moved(exported.program, found)


class Session:
    """A model that anec runs: called as the module is, with tensors, it gives what the
    module gives, in new tensors on the CPU.

    model, args, kwargs, dynamic_shapes   as for export
    numerics   "fp32" as PyTorch computes; "fp16" rounds after each operator, as the
               engine does; "m1" to "m4" as published of a chip
    options    others of anec.Session: backend, threads, shapes. Extents that
               dynamic_shapes leaves open are those of the example, unless shapes says
               others: {"x": (5, 3)}

    Buffers that the model writes are states of the session. Inputs that it writes are
    written in place, as by the module."""

    def __init__(self, model: Model, args: Arguments = (), kwargs: Named = None, *,
                 dynamic_shapes: typing.Any = None,
                 numerics: _session.Numerics = "fp32", **options: typing.Any) -> None:
        """Exports and loads `model`. Raises what `export` and anec.Session raise."""
        exported = export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
        self.program = exported.program
        self.session = _session.Session(exported.path, numerics=numerics,
                                        **_with_shapes(exported, options))
        self._form = _Form(model, self.program)
        self._exported = exported  # whose weights it may read later
        nodes = {node.name: node for node in self.program.graph.nodes}
        signature = self.program.graph_signature
        self._inputs = input_names(self.program)
        self._outputs = [spec.arg for spec in signature.output_specs
                         if spec.kind == OutputKind.USER_OUTPUT]
        self._values = {arg.name: nodes[arg.name].meta["val"] for arg in self._outputs
                        if not isinstance(arg, ConstantArgument)}

    def __call__(self, *args: typing.Any, **kwargs: typing.Any) -> typing.Any:
        """Runs the model. Raises TypeError when the arguments are not nested like those of
        the example, and what anec.Session.run raises."""
        given = self._form.leaves(args, kwargs)
        ports = {port.name for port in self.session.inputs()}
        tensors = {name: value for name, value in zip(self._inputs, given)
                   if name in ports}
        outputs = self.session.run({name: as_array(value)
                                    for name, value in tensors.items()})
        for name, value in tensors.items():
            if f"{name}_after" in outputs and isinstance(value, torch.Tensor):
                value.copy_(as_tensor(outputs[f"{name}_after"], value))
        arrays = iter(outputs.values())
        leaves = [self._leaf(arg, arrays) for arg in self._outputs]
        return pytree.tree_unflatten(leaves, self.program.call_spec.out_spec)

    def _leaf(self, arg: typing.Any, arrays: typing.Iterator[typing.Any]) -> typing.Any:
        if isinstance(arg, ConstantArgument):
            if arg.value is not None:
                next(arrays)  # anec has numbers as tensors without axes
            return arg.value
        return as_tensor(next(arrays), self._values[arg.name])


def _with_shapes(exported: Exported, options: typing.Any) -> typing.Any:
    """The options with the shapes of the example, where the export leaves some open."""
    program = exported.program
    if "shapes" in options or program.example_inputs is None:
        return options
    nodes = {node.name: node for node in program.graph.nodes}
    shapes = {}
    for name, value in zip(input_names(program), pytree.tree_leaves(program.example_inputs)):
        symbolic = getattr(nodes[name].meta.get("val"), "shape", ())
        if any(isinstance(extent, torch.SymInt) for extent in symbolic):
            shapes[name] = tuple(value.shape)
    return dict(options, shapes=shapes) if shapes else options


class _Form:
    """The form in which a model takes its arguments: that of its export's example."""

    def __init__(self, model: Model, program: torch.export.ExportedProgram) -> None:
        self._wanted = program.call_spec.in_spec
        forward = getattr(model, "forward", None)
        self._parameters = inspect.signature(forward) if forward else None

    def leaves(self, args: Arguments, kwargs: typing.Dict[str, typing.Any]
               ) -> typing.List[typing.Any]:
        """The tensors and numbers of arguments, which may be named where the example's
        were not, and the other way round."""
        args, kwargs = self._as_example(args, kwargs)
        try:
            leaves, given = pytree.tree_flatten((args, reorder_kwargs(kwargs, self._wanted)))
        except ValueError:  # Other names.
            leaves, given = [], None
        if given != self._wanted:
            positional, named = self._wanted.children_specs
            raise TypeError(f"the model takes {positional.num_children} arguments and "
                            f"{named.context} by name, nested as in the example of its "
                            "export")
        return leaves

    def _as_example(self, args: Arguments, kwargs: typing.Dict[str, typing.Any]
                    ) -> typing.Tuple[Arguments, typing.Dict[str, typing.Any]]:
        kinds = inspect.Parameter
        if not self._parameters or any(
                each.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
                for each in self._parameters.parameters.values()):
            return args, kwargs
        bound = self._parameters.bind(*args, **kwargs).arguments
        count = self._wanted.children_specs[0].num_children
        order = list(self._parameters.parameters)
        return (tuple(bound[name] for name in order[:count] if name in bound),
                {name: value for name, value in bound.items() if name not in order[:count]})


def backend(module: torch.fx.GraphModule, examples: typing.Sequence[typing.Any]
            ) -> typing.Callable[..., typing.Any]:
    """The backend "anec" of torch.compile: what anec refuses, PyTorch runs. Raises
    nothing of its own."""
    return aot_autograd(fw_compiler=compile_graph,
                        decompositions=TABLE)(module, examples)


torch._dynamo.register_backend(compiler_fn=backend, name="anec")
