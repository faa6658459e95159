# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What differs between two programs."""
from __future__ import annotations

import typing

from . import _anec
from ._arguments import Shapes, StrPath, as_path, as_shapes


class Difference(typing.NamedTuple):
    """A difference between two programs."""
    kind: str      #: `function`, `op`: in one program; `signature`, `type`,
                   #: `argument`, `weights`: in both
    function: str
    op: str        #: `conv`; empty without one
    part: str      #: of the function or the op: `input 0`, `strides`
    left: str      #: the part in each program; empty where it is missing, and of
    right: str     #: weights
    elements: int  #: of weights
    differing: int
    absolute: float  #: of weights: the largest |left - right|
    relative: float  #: of weights: the largest |left - right| / max(|left|, |right|)
    text: str      #: the line that `anec diff` prints


class Differences(typing.List[Difference]):
    """The differences between two programs: a list, which is empty when they are equal.
    Its text is what `anec diff` prints."""

    counts: str  #: what `anec diff --stat` prints: how many ops of each kind differ

    def __init__(self, rows: typing.Iterable[Difference], text: str, counts: str) -> None:
        """For `diff`. Raises nothing."""
        super().__init__(rows)
        self._text = text
        self.counts = counts

    def __str__(self) -> str:
        return self._text


def diff(left: StrPath, right: StrPath, *, ignore_weights: bool = False,
         shapes: typing.Optional[Shapes] = None,
         part: typing.Optional[int] = None) -> Differences:
    """Compares the programs at two paths, as `anec diff` does: MIL, Core ML packages, ONNX
    models and other programs, but no packages of models.

    ignore_weights  compares only the types of weights, whose files can be missing
    shapes          of inputs with unknown extents, in both: {"x": (1, 3, 64)}
    part            of pipelines of Core ML models, only this program, from 0

    Raises anec.Error when a program cannot be read; a difference is not an error.
    """
    rows, text, counts = _anec.diff(as_path(left), as_path(right), {
        "ignore_weights": bool(ignore_weights), "shapes": as_shapes(shapes), "part": part})
    return Differences((Difference(*row) for row in rows), text, counts)
