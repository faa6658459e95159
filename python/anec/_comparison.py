# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program computes beside a reference."""
from __future__ import annotations

import contextlib
import typing

import numpy.typing

from . import _anec
from ._arguments import (Shapes, StrPath, as_choice, as_path, as_path_or_none, as_shapes)
from ._options import as_files
from ._session import NUMERICS, Numerics

Sources = typing.Mapping[str, typing.Union[numpy.typing.ArrayLike, StrPath]]


class Comparison(typing.NamedTuple):
    """An output, or the final value of a state, beside its reference."""
    name: str
    is_right: bool  #: no element is off by more than may be
    elements: int
    wrong: int      #: elements that are off by more
    relative_error: float  #: the norm of the difference by that of the reference
    largest_error: float
    allowed: float  #: how far the worst element may be off
    worst: str      #: the place of the worst element: `[0, 3]`
    value: float    #: the worst element
    reference: float  #: the same, of the reference


def compare(path: StrPath, inputs: Sources, *,
            reference: typing.Optional[StrPath] = None,
            states: typing.Optional[Sources] = None,
            atol: typing.Optional[float] = None, rtol: typing.Optional[float] = None,
            equal_nan: bool = False, function: typing.Optional[str] = None,
            defines: typing.Optional[typing.Mapping[str, object]] = None,
            shapes: typing.Optional[Shapes] = None,
            weights: typing.Optional[StrPath] = None,
            weight_map: typing.Optional[StrPath] = None,
            seed: typing.Optional[int] = None, backend: typing.Optional[str] = None,
            numerics: Numerics = "fp16", threads: int = 0) -> typing.List[Comparison]:
    """Runs the program at `path` and compares each output with that of a reference in
    double precision, as `ane-run --compare` does: a list of Comparison, of the outputs
    and then the states. A package of a model is none of these programs.

    inputs      arrays by name, of the shapes of the program's inputs; or texts:
                "x.npy", "random:1", "zeros", "ones"
    reference   the model that the program was made of, in any format; None: the
                program itself
    states      what states begin with, like `inputs`; zeros for others
    atol, rtol  an element may be off by atol + rtol * |reference|; None, both: by
                what the numerics explain (docs/use/numerics.md); None, one: 0
    equal_nan   whether NaN is right where the reference has NaN
    function    the function, if there are several; None: a package's default
    defines, weights, weight_map, seed   of a .tdsl `reference`
    shapes      of inputs with unknown extents: {"x": (1, 3, 64)}
    backend, numerics, threads   as for Session

    Raises anec.Error when a program cannot be read or run, and ValueError for other
    numerics. An output that is wrong is not an error: see `is_right`.
    """
    with contextlib.ExitStack() as folders:
        rows = _anec.compare(as_path(path), {
            "backend": backend,
            "numerics": as_choice(numerics, NUMERICS, "numerics"),
            "threads": threads,
            "weights": as_path_or_none(weights),
            "weight_map": as_path_or_none(weight_map),
            "seed": seed,
            "shapes": as_shapes(shapes),
        }, {
            "reference": as_path_or_none(reference),
            "inputs": as_files(inputs, folders),
            "states": as_files(states or {}, folders),
            "atol": atol,
            "rtol": rtol,
            "equal_nan": bool(equal_nan),
            "function": function,
            "defines": [f"{name}={value}" for name, value in (defines or {}).items()],
        })
    return [Comparison(*row) for row in rows]
