# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokens, and the windows of text that models are trained on."""
import os

import numpy

from . import _anec, _arrays
from ._arguments import as_path


class Tokenizer:
    """A tokenizer.json or its folder, a SentencePiece .model, or llama2.c's
    tokenizer.bin; without a path, bytes are tokens."""

    def __init__(self, path=None):
        self._handle = _anec.Tokenizer(as_path(path) if path else "")

    @property
    def vocabulary(self):
        """How many ids there are; they count from 0."""
        return self._handle.vocabulary()

    def encode(self, text):
        """The ids of a text, as an array of int32."""
        return numpy.asarray(self._handle.encode(text))

    def decode(self, ids):
        """The bytes that ids stand for."""
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

    def __init__(self, paths, length, *, tokenizer=None, vocabulary=0,
                 validation=0.05, seed=0):
        if isinstance(paths, (str, os.PathLike)):
            paths = [paths]
        self._handle = _anec.Windows(
            [as_path(path) for path in paths], length,
            tokenizer and tokenizer._handle, vocabulary, validation, seed)

    @property
    def count(self):
        """Windows of an epoch."""
        return self._handle.count()

    def __iter__(self):
        return self

    def __next__(self):
        tokens, targets = self._handle.next()
        return numpy.asarray(tokens), numpy.asarray(targets)
