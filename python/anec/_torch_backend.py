# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of torch.compile: graphs of operators, forward or backward, of which anec
runs what it reads, and PyTorch the rest."""
from __future__ import annotations

import copy
import operator
import os
import re
import tempfile
import typing

import torch
import torch.utils._pytree as pytree
from functorch.compile import make_boxed_func
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from . import _session
from ._torch_arrays import as_array, as_tensor, input_names, is_dense
from ._torch_lines import line_of

OPERATOR = re.compile(r"node `[^`]+` \(([\w.]+)\)")


class Graph(typing.NamedTuple):
    """What became of a graph that torch.compile gave to anec."""
    anec: int      #: operators that anec runs
    torch: int     #: operators that PyTorch runs
    parts: int     #: programs of anec
    reasons: typing.List[str]  #: why PyTorch runs them: texts, with a line of Python where known

    def __str__(self) -> str:
        text = (f"{self.anec} operators in {self.parts} programs of anec, {self.torch} "
                "by PyTorch")
        return "\n".join([text, *(f"  {reason}" for reason in self.reasons)])


_graphs: typing.List[Graph] = []


def report(clear: bool = False) -> typing.List[Graph]:
    """What torch.compile(backend="anec") did so far: a list of Graph, one for each graph
    that it compiled, in order. More than one for a function are graph breaks, which
    torch._dynamo.explain explains."""
    graphs = list(_graphs)
    if clear:
        _graphs.clear()
    return graphs


def _is_operator(node):
    """Whether a node computes; `getitem` only takes one of several results."""
    return node.op == "call_function" and node.target is not operator.getitem


def _example(value):
    """Something of the shape, strides and type of a fake tensor."""
    if not isinstance(value, torch.Tensor):
        return value
    if is_dense(value):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).zero_()
    return torch.zeros(value.shape, dtype=value.dtype)


class _Part:
    """A part of a graph that anec runs."""

    def __init__(self, module, examples):
        with tempfile.TemporaryDirectory(prefix="anec-") as folder:
            path = os.path.join(folder, "part.pt2")
            with torch.no_grad():
                program = torch.export.export(module, tuple(map(_example, examples)))
            torch.export.save(program, path)
            self._session = _session.Session(path, numerics="fp32")
        self._names = input_names(program)
        self._ports = {port.name for port in self._session.inputs()}
        (result,) = (node for node in module.graph.nodes if node.op == "output")
        self._results = result.args[0]
        self._module = module

    def __call__(self, *args):
        try:
            outputs = iter(self._session.run({
                name: as_array(value) for name, value in zip(self._names, args)
                if name in self._ports}).values())
        except ValueError:  # Integers beyond 32 bits.
            return self._module(*args)

        def result(node):
            if isinstance(node, torch.fx.Node):
                return as_tensor(next(outputs), node.meta["val"])
            if node is not None:
                next(outputs)  # a number, which anec has as a tensor without axes
            return node
        if isinstance(self._results, torch.fx.Node):
            return result(self._results)
        return tuple(map(result, self._results))


class _Supported(OperatorSupportBase):
    def __init__(self, refused):
        self.refused = refused

    def is_node_supported(self, submodules, node):
        if node.target is operator.getitem:  # stays with what gives several results
            node = node.args[0]
        return (_is_operator(node) and node.target not in self.refused
                and _left(node) is None)


def _left(node):
    """Why a node is left to PyTorch before anec is asked, or None."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return f"`{node.target}` is no operator on tensors alone"
    near = [node, *node.all_input_nodes]
    values = [value for each in near for value in pytree.tree_leaves(each.meta.get("val"))
              if isinstance(value, torch.Tensor)]
    if any(value.device.type != "cpu" for value in values):
        return "its tensors are not on the CPU"
    if any(value.dtype == torch.float64 for value in values):
        return "it computes in float64, and anec in float32"
    return None


def _reason(error):
    """The first line of an error, without the name of the temporary archive."""
    first = next((found.message for found in getattr(error, "diagnostics", ())
                  if found.severity == "error"), str(error).strip().split("\n")[0])
    return first or type(error).__name__


def _said(error):
    """The reason without the name of a node, which the user's program does not have, and
    without what to do about an archive."""
    text = re.sub(r"^node `[^`]+` \([\w.]+\): ", "", _reason(error))
    return text.partition("; rewrite this line")[0]


def _at_line(node, reason):
    place = line_of(node)
    return f"{place[0]}:{place[1]}: {reason}" if place else reason


def _refused(part, error):
    """The nodes of a part that its error is about: those of the operator that it names,
    else all."""
    nodes = [node for node in part.graph.nodes if _is_operator(node)]
    named = OPERATOR.search(_reason(error))
    return [node for node in nodes if named and str(node.target) == named[1]] or nodes


def compile_graph(graph, examples):
    """The function that runs `graph`, a torch.fx.GraphModule of operators, whose inputs
    are like `examples`. One with symbolic extents is compiled for each shape that comes."""
    if any(isinstance(extent, torch.SymInt) for value in examples
           for extent in getattr(value, "shape", [value])):
        return make_boxed_func(_for_each_shape(graph))
    return make_boxed_func(_compile(graph))


def _for_each_shape(graph):
    compiled = {}

    def run(*args):
        shapes = tuple((value.shape, value.stride()) if isinstance(value, torch.Tensor)
                       else value for value in args)
        if shapes not in compiled:
            with torch.no_grad():
                compiled[shapes] = _compile(make_fx(graph, tracing_mode="fake")(*args))
        return compiled[shapes](*args)
    return run


def _compile(graph):
    refused, reasons = set(), []
    for node in filter(_is_operator, graph.graph.nodes):
        why = _left(node)
        if why and not any(why in each for each in reasons):
            reasons.append(_at_line(node, why))
    while True:
        whole = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
        partitioner = CapabilityBasedPartitioner(whole, _Supported(refused),
                                                 allows_single_node_partition=True)
        fused = partitioner.fuse_partitions(partitioner.propose_partitions())
        calls = [node for node in fused.graph.nodes
                 if node.op == "call_module" and node.target.startswith("fused_")]
        wrong = None
        for call in calls:
            part = getattr(fused, call.target)
            try:
                runs = _Part(part, [node.meta["val"] for node in call.args])
            except Exception as error:  # of anec, or of PyTorch's export
                wrong = _refused(part, error)
                refused |= {node.target for node in wrong}
                reasons.append(_at_line(wrong[0], _said(error)))
                break
            setattr(fused, call.target, _Call(runs))
        if wrong is None:
            break
    left = sum(map(_is_operator, fused.graph.nodes))
    _graphs.append(Graph(sum(map(_is_operator, graph.graph.nodes)) - left, left, len(calls),
                         reasons))
    return fused.forward


class _Call(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, *args):
        return self.part(*args)
