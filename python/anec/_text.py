# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens, and the windows of text that models are trained on."""
from __future__ import annotations

import typing

import numpy
import numpy.typing

from . import _anec, _arrays
from ._arguments import StrPath, as_path, as_paths

Ids = numpy.typing.NDArray[numpy.int32]


class Tokenizer:
    """A tokenizer.json or its folder, a SentencePiece .model, or llama2.c's
    tokenizer.bin; without a path, bytes are tokens. Raises anec.Error when it
    cannot be read."""

    def __init__(self, path: typing.Optional[StrPath] = None) -> None:
        """Opens the tokenizer at `path`. Raises anec.Error when it cannot be read."""
        self._handle = _anec.Tokenizer(as_path(path) if path else "")

    @property
    def vocabulary(self) -> int:
        """How many ids there are; they count from 0."""
        return self._handle.vocabulary()

    def encode(self, text: str) -> Ids:
        """The ids of a text, as an array [ids] of int32. Raises TypeError for what is
        no text."""
        return numpy.asarray(self._handle.encode(text))

    def decode(self, ids: numpy.typing.ArrayLike) -> bytes:
        """The bytes that ids stand for, which are an array [ids] of integers. Raises
        anec.Error for an id that the vocabulary lacks."""
        return self._handle.decode(
            _arrays.as_input(ids, "ids", numpy.dtype(numpy.int32)))


class Windows:
    """The windows of text that `ane-run train` trains on, in its order: an
    endless iterator over pairs of arrays, tokens and targets.

    paths       files and folders: .bin has token ids, all else is text
    length      tokens of a window
    tokenizer   a Tokenizer; None: bytes are tokens
    vocabulary  every id has to be below; 0: not checked
    validation  the share of the text, its end, that is not trained on
    seed        of the order
    """

    def __init__(self, paths: typing.Union[StrPath, typing.Iterable[StrPath]],
                 length: int, *, tokenizer: typing.Optional[Tokenizer] = None,
                 vocabulary: int = 0, validation: float = 0.05, seed: int = 0) -> None:
        """Reads the data. Raises anec.Error when a file cannot be read, has an id that
        is not below `vocabulary`, or has less than one window."""
        self._handle = _anec.Windows(
            as_paths(paths), length,
            None if tokenizer is None else tokenizer._handle, vocabulary, validation, seed)

    @property
    def count(self) -> int:
        """Windows of an epoch."""
        return self._handle.count()

    def __iter__(self) -> Windows:
        return self

    def __next__(self) -> typing.Tuple[Ids, Ids]:
        """Tokens and targets, [length] each, of int32."""
        tokens, targets = self._handle.next()
        return numpy.asarray(tokens), numpy.asarray(targets)
