# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running programs with numpy arrays by name."""
from __future__ import annotations

import typing

import numpy
import numpy.typing

from . import _anec, _arrays
from ._arguments import Shapes, StrPath, as_choice, as_path, as_path_or_none, as_paths, as_shapes, as_texts
from ._compiler import Program
from ._text import Tokenizer

Numerics = typing.Literal["fp16", "fp32", "m1", "m2", "m3", "m4"]
NUMERICS = ("fp16", "fp32", "m1", "m3", "m4", "m2")  # as in anec-c.h

Array = numpy.typing.NDArray[typing.Any]
Arrays = typing.Mapping[str, numpy.typing.ArrayLike]
Floats = typing.Dict[str, numpy.typing.NDArray[numpy.float32]]


class Port(typing.NamedTuple):
    """An input or output."""
    name: str
    dtype: numpy.dtype[typing.Any]
    shape: typing.Tuple[int, ...]
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

    def __init__(self, program: typing.Union[Program, StrPath], *,
                 backend: typing.Optional[str] = None, numerics: Numerics = "fp16",
                 threads: int = 0, weights: typing.Optional[StrPath] = None,
                 weight_map: typing.Optional[StrPath] = None,
                 seed: typing.Optional[int] = None,
                 shapes: typing.Optional[Shapes] = None) -> None:
        """Loads `program`. Raises anec.Error when it cannot be read, a weight has no
        value or the backend is not there, ValueError for other numerics, and TypeError
        for an option of another type."""
        options = {
            "backend": backend,
            "numerics": as_choice(numerics, NUMERICS, "numerics"),
            "threads": threads,
            "weights": as_path_or_none(weights),
            "weight_map": as_path_or_none(weight_map),
            "seed": seed,
            "shapes": as_shapes(shapes),
        }
        self._handle = (_anec.open_session(program._handle, options)
                        if isinstance(program, Program)
                        else _anec.open_session_file(as_path(program), options))
        self._ports: typing.Dict[typing.Optional[str],
                                 typing.Tuple[typing.Dict[str, Port], ...]] = {}

    @property
    def entries(self) -> typing.List[str]:
        """What can be run: the entries of a package, the functions of a
        program."""
        return [name for name, _, _ in self._handle.entries()]

    def _entry(self, entry: str) -> typing.Tuple[str, bool]:
        """The role of `entry`, and whether it trains."""
        rows = self._handle.entries()
        index = as_choice(entry, [name for name, _, _ in rows], "entry")
        return rows[index][1:]

    def role(self, entry: str) -> str:
        """What `entry` is for: `train`, `forward`, `infer`, ...; empty for the
        function of a program. Raises ValueError for what is none of `entries`."""
        return self._entry(entry)[0]

    def trains(self, entry: str) -> bool:
        """Whether running `entry` computes gradients. Raises ValueError for what is
        none of `entries`."""
        return self._entry(entry)[1]

    def _get_ports(self, entry: typing.Optional[str]
                   ) -> typing.Tuple[typing.Dict[str, Port], ...]:
        if entry not in self._ports:
            self._ports[entry] = tuple(
                {row[0]: Port(row[0], numpy.dtype(row[1]), *row[2:])
                 for row in rows} for rows in self._handle.ports(entry))
        return self._ports[entry]

    def inputs(self, entry: typing.Optional[str] = None) -> typing.List[Port]:
        """What `entry` takes: a list of Port. None, here and below, is the only
        entry, or the only one that does not train. Raises anec.Error when there is no
        such entry, or it cannot be loaded."""
        return list(self._get_ports(entry)[0].values())

    def outputs(self, entry: typing.Optional[str] = None) -> typing.List[Port]:
        """What `entry` gives: a list of Port. Raises what `inputs` raises."""
        return list(self._get_ports(entry)[1].values())

    def _as_inputs(self, inputs: Arrays,
                   entry: typing.Optional[str]) -> typing.Dict[str, Array]:
        return _arrays.as_inputs(inputs, self._get_ports(entry)[0])

    def run(self, inputs: Arrays,
            entry: typing.Optional[str] = None) -> typing.Dict[str, Array]:
        """Runs `entry` once with a dict of arrays; gives a dict of arrays, of the types
        and shapes of `outputs`. Inputs have the shapes of `inputs`, where axes of one
        element can be added or removed. A training entry leaves its gradients in the
        session. Raises anec.Error when an input is missing or has another shape, or
        the machine failed, TypeError for elements that the input cannot have, and
        ValueError for integers out of its range."""
        arrays = self._as_inputs(inputs, entry)
        outputs = {port.name: numpy.empty(port.shape, port.dtype)
                   for port in self.outputs(entry)}
        self._handle.run(entry, arrays, outputs)
        return outputs

    def interrupt(self) -> None:
        """Ends what another thread computes with the session, after the op that it
        is at: it raises an Error, and what it would have written is not complete."""
        self._handle.interrupt()

    @property
    def gradients(self) -> Floats:
        """What the last run of a training entry left, by name: views of fp32
        arrays, which the next run changes."""
        return _arrays.views(self._handle.gradients(self._handle))

    @property
    def weights(self) -> Floats:
        """The master weights of a package, by name: views of fp32 arrays, to be
        changed in place and then announced by weights_changed."""
        return _arrays.views(self._handle.weights(self._handle))

    def weights_changed(self) -> None:
        """Brings changed weights to the programs that read them. Raises anec.Error when
        the machine failed."""
        self._handle.weights_changed()

    def take_adapter(self, path: typing.Optional[StrPath] = None) -> None:
        """Takes the adapters of a package from a .safetensors file or the folder of a
        checkpoint, without loading the package again; None takes them off. Raises
        anec.Error when they do not fit; the session stays as it was."""
        self._handle.take_adapter(None if path is None else as_path(path))

    def save_weights(self, path: StrPath) -> None:
        """Writes the weights to a .safetensors file, or to a folder of .npy. Raises
        anec.Error when it cannot be written."""
        self._handle.save_weights(as_path(path))

    def set_state(self, name: str, value: numpy.typing.ArrayLike) -> None:
        """Fills memory of a MIL program that keeps its elements from run to
        run. Its elements have to be of its own type, and of its shape. Raises
        anec.Error when there is no such state, or `value` does not fit."""
        self._handle.set_state(name, _arrays.as_given(value, name))

    def get_state(self, name: str, array: Array) -> Array:
        """Copies such memory to `array`, which has its shape, and returns it. Raises
        anec.Error when there is no such state, or `array` does not fit, TypeError for
        what is no array, and ValueError for one that is read-only."""
        return _arrays.fill(array,
                            lambda memory: self._handle.get_state(name, memory))

    def generate(self, prompt: typing.Union[str, typing.Iterable[int]], *,
                 tokens: int = 100, temperature: float = 1.0, top_p: float = 0.9,
                 seed: int = 0, mark_beginning: bool = False,
                 tokenizer: typing.Union[Tokenizer, StrPath, None] = None,
                 callback: typing.Optional[typing.Callable[[str], object]] = None,
                 top_k: int = 0, min_p: float = 0.0, repeat_penalty: float = 1.0,
                 repeat_window: int = 64,
                 stop: typing.Union[str, typing.Iterable[str]] = (),
                 keep: typing.Optional[int] = None, echo: bool = True,
                 draft: typing.Union[Session, typing.Literal["lookup"], None] = None,
                 draft_tokens: int = 4,
                 token_callback: typing.Optional[typing.Callable[[int, float], object]]
                 = None) -> str:
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
        tokenizer       a Tokenizer, or its path; None: bytes are tokens
        callback        gets each piece of text as it comes out; what it raises
                        ends the text
        token_callback  gets each new id and its log-probability

        Raises anec.Error when the package gives no logits, or an option is out of its
        range, and ValueError for another `draft` and for ids that are out of theirs.
        """
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer(tokenizer)
        pieces: typing.List[str] = []

        def collect(piece: str) -> None:
            pieces.append(piece)
            if callback:
                callback(piece)

        if not isinstance(prompt, str):
            prompt = [int(id) for id in prompt]
            if not all(0 <= id < 1 << 31 for id in prompt):
                raise ValueError("token ids are from 0 to 2147483647")
        if draft is not None and not isinstance(draft, Session):
            as_choice(draft, ("lookup",), "draft")
        self._handle.generate(
            None if tokenizer is None else tokenizer._handle, prompt,
            {"tokens": tokens, "temperature": temperature, "top_k": top_k,
             "top_p": top_p, "min_p": min_p, "repeat_penalty": repeat_penalty,
             "repeat_window": repeat_window, "seed": seed,
             "mark_beginning": bool(mark_beginning), "echo": bool(echo),
             "keep": -1 if keep is None else keep,
             "lookup": isinstance(draft, str),
             "draft_tokens": draft_tokens,
             "stop": as_texts(stop)},
            draft._handle if isinstance(draft, Session) else None, collect,
            token_callback)
        return "".join(pieces)

    def evaluate(self, data: typing.Union[StrPath, typing.Iterable[StrPath]], *,
                 tokenizer: typing.Union[Tokenizer, StrPath, None] = None,
                 window: int = 0, stride: int = 0, tokens: int = 0,
                 mark_beginning: bool = False,
                 baseline: typing.Optional[Session] = None,
                 callback: typing.Optional[typing.Callable[[int, int, float], object]]
                 = None) -> Evaluation:
        """Measures how well a model of logits predicts a text; returns an
        Evaluation.

        data            a path, or several: .bin files have token ids, all others
                        text
        tokenizer       a Tokenizer, or its path; None: bytes are tokens
        window          tokens that the model is given at once; 0: as many as it
                        has positions
        stride          tokens between the begins of windows; 0: window
        tokens          predicted ones, at most; 0: all
        mark_beginning  whether windows start with the beginning-of-text id
        baseline        another Session that reads the same windows
        callback        gets the number of predicted tokens, that of all, and the
                        perplexity so far; what it raises ends the evaluation

        Raises anec.Error when a text cannot be read, the package gives no logits, or an
        option is out of its range.
        """
        if tokenizer is not None and not isinstance(tokenizer, Tokenizer):
            tokenizer = Tokenizer(tokenizer)
        return Evaluation(**self._handle.evaluate(
            None if tokenizer is None else tokenizer._handle, as_paths(data),
            {"window": window, "stride": stride, "tokens": tokens,
             "mark_beginning": bool(mark_beginning)},
            None if baseline is None else baseline._handle, callback))
