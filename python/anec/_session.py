# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs with numpy arrays by name."""
import os
import typing

import numpy

from . import _anec, _arrays
from ._arguments import as_choice, as_path, as_shapes
from ._compiler import Program
from ._text import Tokenizer

NUMERICS = ("fp16", "fp32", "m1", "m3", "m4", "m2")  # as in anec-c.h


class Port(typing.NamedTuple):
    """An input or output."""
    name: str
    dtype: numpy.dtype
    shape: tuple
    role: str  #: `input`, `target`, `loss-scale` (1 unless it is given),
               #: `output`, `loss`, `logits`, ...


class Evaluation(typing.NamedTuple):
    """Means over all predicted tokens, in nats, with their standard errors. The
    last six compare with a baseline, and are None without one."""
    windows: int
    tokens: int
    loss: float
    loss_error: float
    perplexity: float
    seconds: float
    baseline_loss: typing.Optional[float] = None
    loss_change: typing.Optional[float] = None  #: the loss less the baseline's
    loss_change_error: typing.Optional[float] = None
    divergence: typing.Optional[float] = None  #: KL(baseline || model)
    divergence_error: typing.Optional[float] = None
    agreements: typing.Optional[int] = None  #: tokens where both have the same
                                             #: most likely one


class Session:
    """A program that is loaded, with its weights and gradients.

    program     a Program, or the path of a package, a MIL program or a source
    backend     "cpu"; "ane" on a Mac
    numerics    how the cpu backend computes: "fp16" rounds after each op, "fp32"
                never; "m1" to "m4" emulate what is published of an engine
    threads     0: one per processor
    weights     values for the weights of a package, as for compile; what is not
                there its own file has
    shapes      of inputs with unknown extents: {"x": (1, 3, 64)}
    """

    def __init__(self, program, *, backend=None, numerics="fp16", threads=0,
                 weights=None, weight_map=None, seed=None, shapes=None):
        options = {
            "backend": backend,
            "numerics": as_choice(numerics, NUMERICS, "numerics"),
            "threads": threads,
            "weights": weights and as_path(weights),
            "weight_map": weight_map and as_path(weight_map),
            "seed": seed,
            "shapes": as_shapes(shapes),
        }
        self._handle = (_anec.open_session(program._handle, options)
                        if isinstance(program, Program)
                        else _anec.open_session_file(as_path(program), options))
        self._ports = {}

    @property
    def entries(self):
        """What can be run: the entries of a package, the functions of a
        program."""
        return [name for name, _, _ in self._handle.entries()]

    def role(self, entry):
        """What `entry` is for: `train`, `forward`, `infer`, ...; empty for the
        function of a program."""
        return next(role for name, role, _ in self._handle.entries()
                    if name == entry)

    def trains(self, entry):
        """Whether running `entry` computes gradients."""
        return any(trains for name, _, trains in self._handle.entries()
                   if name == entry)

    def _get_ports(self, entry):
        if entry not in self._ports:
            self._ports[entry] = tuple(
                {row[0]: Port(row[0], numpy.dtype(row[1]), *row[2:])
                 for row in rows} for rows in self._handle.ports(entry))
        return self._ports[entry]

    def inputs(self, entry=None):
        """What `entry` takes: a list of Port. None, here and below, is the only
        entry, or the only one that does not train."""
        return list(self._get_ports(entry)[0].values())

    def outputs(self, entry=None):
        """What `entry` gives: a list of Port."""
        return list(self._get_ports(entry)[1].values())

    def _as_inputs(self, inputs, entry):
        return _arrays.as_inputs(inputs, self._get_ports(entry)[0])

    def run(self, inputs, entry=None):
        """Runs `entry` once with a dict of arrays; gives a dict of arrays. A
        training entry leaves its gradients in the session."""
        arrays = self._as_inputs(inputs, entry)
        outputs = {port.name: numpy.empty(port.shape, port.dtype)
                   for port in self.outputs(entry)}
        self._handle.run(entry, arrays, outputs)
        return outputs

    def interrupt(self):
        """Ends what another thread computes with the session, after the op that it
        is at: it raises an Error, and what it would have written is not complete."""
        self._handle.interrupt()

    @property
    def gradients(self):
        """What the last run of a training entry left, by name: views of fp32
        arrays, which the next run changes."""
        return _arrays.views(self._handle.gradients(self._handle))

    @property
    def weights(self):
        """The master weights of a package, by name: views of fp32 arrays, to be
        changed in place and then announced by weights_changed."""
        return _arrays.views(self._handle.weights(self._handle))

    def weights_changed(self):
        """Brings changed weights to the programs that read them."""
        self._handle.weights_changed()

    def take_adapter(self, path=None):
        """Takes the adapters of a package from a .safetensors file or the folder of a
        checkpoint, without loading the package again; None takes them off."""
        self._handle.take_adapter(None if path is None else as_path(path))

    def save_weights(self, path):
        """Writes the weights to a .safetensors file, or to a folder of .npy."""
        self._handle.save_weights(as_path(path))

    def set_state(self, name, value):
        """Fills memory of a MIL program that keeps its elements from run to
        run. Its elements have to be of its own type."""
        self._handle.set_state(name, _arrays.as_given(value, name))

    def get_state(self, name, array):
        """Copies such memory to `array`, and returns it."""
        return _arrays.fill(array,
                            lambda memory: self._handle.get_state(name, memory))

    def generate(self, prompt, *, tokens=100, temperature=1.0, top_p=0.9, seed=0,
                 mark_beginning=False, tokenizer=None, callback=None, top_k=0,
                 min_p=0.0, repeat_penalty=1.0, repeat_window=64, stop=(),
                 keep=None, echo=True, draft=None, draft_tokens=4,
                 token_callback=None):
        """Continues `prompt`, a text or a list of token ids, with a package that
        was compiled forward_only and gives logits. Returns the whole text, which
        is empty for ids without a tokenizer.

        tokens          new ones, at most
        temperature     0: always the most likely token
        top_k           draws among as many of the most likely tokens; 0: all
        top_p           draws among the tokens with this much of the probability
        min_p           draws among tokens at least this share as likely as the
                        most likely one
        repeat_penalty  divides positive logits of the last repeat_window tokens,
                        and multiplies others
        stop            a text, or several, that end the text
        keep            first tokens to keep when the text is longer than the
                        model's positions; None: the beginning-of-text id
        echo            whether the text begins with the prompt
        draft           another Session that guesses tokens, or "lookup", which
                        guesses what followed the last tokens before
        draft_tokens    guesses in each step
        tokenizer       a Tokenizer; None: bytes are tokens
        callback        gets each piece of text as it comes out; what it raises
                        ends the text
        token_callback  gets each new id and its log-probability
        """
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer(tokenizer)
        pieces = []

        def collect(piece):
            pieces.append(piece)
            if callback:
                callback(piece)

        if not isinstance(prompt, str):
            prompt = [int(id) for id in prompt]
            if not all(0 <= id < 1 << 31 for id in prompt):
                raise ValueError("token ids are from 0 to 2147483647")
        lookup = isinstance(draft, str)
        if lookup and draft != "lookup":
            raise ValueError('draft is a Session or "lookup"')
        self._handle.generate(
            tokenizer and tokenizer._handle, prompt,
            {"tokens": tokens, "temperature": temperature, "top_k": top_k,
             "top_p": top_p, "min_p": min_p, "repeat_penalty": repeat_penalty,
             "repeat_window": repeat_window, "seed": seed,
             "mark_beginning": bool(mark_beginning), "echo": bool(echo),
             "keep": -1 if keep is None else keep, "lookup": lookup,
             "draft_tokens": draft_tokens,
             "stop": [stop] if isinstance(stop, str) else list(stop)},
            None if draft is None or lookup else draft._handle, collect,
            token_callback)
        return "".join(pieces)

    def evaluate(self, data, *, tokenizer=None, window=0, stride=0, tokens=0,
                 mark_beginning=False, baseline=None, callback=None):
        """Measures how well a model of logits predicts a text; returns an
        Evaluation.

        data            a path, or several: .bin files have token ids, all others
                        text
        tokenizer       a Tokenizer; None: bytes are tokens
        window          tokens that the model is given at once; 0: as many as it
                        has positions
        stride          tokens between the begins of windows; 0: window
        tokens          predicted ones, at most; 0: all
        mark_beginning  whether windows start with the beginning-of-text id
        baseline        another Session that reads the same windows
        callback        gets the number of predicted tokens, that of all, and the
                        perplexity so far; what it raises ends the evaluation
        """
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer(tokenizer)
        if isinstance(data, (str, os.PathLike)):
            data = [data]
        return Evaluation(**self._handle.evaluate(
            tokenizer and tokenizer._handle, [as_path(path) for path in data],
            {"window": window, "stride": stride, "tokens": tokens,
             "mark_beginning": bool(mark_beginning)},
            baseline and baseline._handle, callback))
