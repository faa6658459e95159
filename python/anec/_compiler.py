# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling, and what a chip does with a program."""
from __future__ import annotations

import sys
import typing

from . import _anec
from ._arguments import StrPath, as_path
from ._build import Describe, as_coreml
from ._options import (CompileOptions, Floats, Framework, InspectOptions, as_options,
                       compiling)

if sys.version_info >= (3, 11):
    from typing import Unpack
elif typing.TYPE_CHECKING:
    from typing_extensions import Unpack


class Finding(typing.NamedTuple):
    """A place where a program breaks a rule of a chip."""
    rule: str       #: its id, for explain
    message: str
    impact: str     #: `error`, `silent-corruption`, `warning`, `performance`
    is_error: bool  #: whether it counts as one, assumptions regarded
    file: str
    line: int       #: from 1 on; 0 when it has no place
    column: int
    end_line: int
    end_column: int


class Rule(typing.NamedTuple):
    """What is known of a rule."""
    id: str
    summary: str
    impact: str
    source: str
    confidence: str
    advice: str
    text: str  #: all of it, as `anec explain` prints it


class LoggedError(typing.NamedTuple):
    """An error of the engine or of Core ML in a log."""
    id: str       #: empty when it is not known, as are the texts after it
    summary: str  #: what happened
    cause: str
    remedy: str
    rules: typing.Tuple[str, ...]  #: the ids of rules whose breach can cause it
    source: str
    confidence: str
    text: str       #: the part of the first line that says it
    lines: int      #: the number of lines that say it
    first_line: int  #: from 1 on
    last_line: int
    is_vague: bool  #: whether another error has to say what failed


class Cost(typing.NamedTuple):
    """What a run costs on a chip: predicted, never measured."""
    name: str
    dispatches: int
    host_ops: int
    flops: int
    bytes: int
    microseconds: float
    least: float
    most: float
    bound: str  #: `dispatch`, `compute`, `bandwidth` or `elements`
    element_bytes: int
    tasks: int


def _findings(rows: typing.Iterable[typing.Tuple[typing.Any, ...]]
              ) -> typing.List[Finding]:
    return [Finding(*row) for row in rows]


class Program:
    """A compiled kernel or model; `compile` makes one."""

    def __init__(self, handle: _anec.Program) -> None:
        """For `compile`, which has the handle. Raises nothing."""
        self._handle = handle

    @property
    def is_model(self) -> bool:
        """Whether it is a model's package, and no kernel."""
        return self._handle.is_model()

    @property
    def folder(self) -> typing.Optional[str]:
        """The package of a model as a folder; None for a kernel. A package that was
        compiled without a folder is in memory, and is written to a temporary one, which
        goes with this object and its sessions. Raises anec.Error when it cannot be."""
        return self._handle.folder()

    @property
    def mil(self) -> typing.Optional[str]:
        """The MIL text of a kernel; None for a model. Raises anec.Error when it cannot
        be printed."""
        return self._handle.mil()

    def write(self, path: StrPath, describe: Describe = None,
              deployment: typing.Optional[str] = None,
              interface: typing.Optional[Floats] = None) -> None:
        """Writes a kernel to `path`: as .mil with its weights in `weights/`
        beside it, as .mlpackage or as .mlmodelc. Copies the package of a model
        to the folder `path`, which ends in .anepkg. Other endings are errors.
        Inputs of a .mlpackage keep the shapes that they can have in the one that
        was compiled, if at most weights have changed; a warning says otherwise.

        For .mlpackage and .mlmodelc:
        describe    which inputs are images, what the classes are, and who made
                    it: a JSON file, or a dict with the same (docs/formats/coreml.md)
        deployment  the oldest systems that load it: "macos13" or "ios16"
        interface   floats of inputs and outputs: "fp16" or "fp32"

        Raises anec.Error when the file cannot be written, or has another ending,
        and ValueError for another `interface`. An error leaves no part of `path`.
        """
        if describe is None and deployment is None and interface is None:
            return self._handle.write(as_path(path))
        self._handle.write_coreml(as_path(path),
                                  as_coreml(describe, deployment, interface))

    def check(self, target: str, assume: typing.Union[str, typing.Iterable[str]] = (),
              framework: typing.Optional[Framework] = None,
              macos: typing.Optional[str] = None) -> typing.List[Finding]:
        """What breaks the rules of the chip `target`: a list of Finding. The options
        are those of `compile`. Raises anec.Error for an unknown chip or rule, and
        ValueError for another `framework`."""
        return _findings(self._handle.check(as_options(
            {"target": target, "assume": assume, "framework": framework, "macos": macos})))

    def predict(self, target: str) -> typing.List[Cost]:
        """What each entry, or the kernel, costs on `target`: a list of Cost. Raises
        anec.Error for an unknown chip."""
        rows = self._handle.predict(as_options({"target": target}))
        return [Cost(*row) for row in rows]

    def __repr__(self) -> str:
        return f"<anec.Program of a {'model' if self.is_model else 'kernel'}>"


def compile(path: StrPath, **options: Unpack[CompileOptions]) -> Program:
    """Compiles a .tdsl, .ir or .mil file: its model where it has one and no
    `kernel` is named, its kernel otherwise.

    kernel        the kernel or layer to compile
    defines       overrides of `config` entries: a dict
    target        the chip: "m1" to "m6", or as "h16" or "a17-pro", or the .json
                  file with the results of `ane-run probe`; None: legal for all
    assume        "RULE=allow" or "RULE=deny", to know better than the rules
    weights       values of weights: a .safetensors file or a folder of .npy
    weight_map    a JSON file: names of weights -> names there
    seed          draws the weights that `weights` lacks
    mil_version   "1.0" or "1.3"
    folder        where the package of a model goes; None: it stays in memory
    forward_only  do not train the model
    weight_mode   "packed": inputs of the kernels; "baked": constants;
                  "auto": baked where nothing trains and values are given
    io            "packed" or "separate" inputs and outputs of kernels
    fuse          "default" or "max"
    precision     "fp16": fp32 becomes fp16 in a kernel, or in a program that
                  others wrote, except where that gives other results; "fp32":
                  as the source computes; None: "fp16" with `loss`, else "fp32"
    calibrate     with "fp16", examples by which that is decided: a dict of
                  arrays or .npy files for all inputs. A first axis that the
                  input does not have counts examples. With `quantize`, weights
                  are rounded by them too; a language model takes texts, or .bin
                  files of token ids: a path, or several
    shapes        of inputs with unknown extents: {"x": (1, 3, 64)}
    framework     what will compile it, for rules: "in-memory" (None), "coreml"
                  or "e5"
    macos         where it will run, for rules: "15" or "15.6"; None: anywhere
    loss          makes a model that trains of a program that others wrote:
                  "output": its first output is the loss; "mse" or
                  "cross-entropy": that is compared with an input, `target`
    train_weights patterns of the names of weights that are trained; all
                  without any

    quantize      stores the weights of products as "int8", "int4", "lut4" or
                  "lut6", with ":per-tensor", ":per-channel" or ":group=N", or as
                  "w8a8", which needs `calibrate`. Weights of models must be baked
    quantize_skip patterns of the names of weights that keep their type
    calibrate_tokenizer, calibrate_tokens   of texts: the tokenizer (None: bytes are
                  tokens), and how many tokens at most (None: 65536; 0: all)
    activation_scales, activation_margin    with "w8a8": "per-channel" or
                  "per-tensor", and what is not clipped, by the largest magnitude
    lora          "rank=8,alpha=16,targets=wq:wv": adds adapters to a model, and
                  freezes all other weights
    decode        compiles programs that prefill and decode texts
    context, batch   with `decode`: positions of a text, and texts at once
    block, prefill   with `decode`: positions that a program reads, with logits for
                  each, or for one of them: a number, or several
    ladder        with `decode`: cached positions of programs
    function      the function of a MIL program or a Core ML package; None: all
    part          of a pipeline of Core ML models, only this program, from 0
    fix           inputs that become constants, of a program that others wrote:
                  {"sr": 16000}: a number, or one for each element
    remarks       warn of what reading and passes decided

    Raises anec.Error when the source cannot be read or compiled, with the places
    in it, TypeError for an option that does not exist or has another type, and
    ValueError for one that has none of its values.
    """
    with compiling(options) as given:
        return Program(_anec.compile_file(as_path(path), given))


def compile_text(text: str, name: str = "program.tdsl",
                 **options: Unpack[CompileOptions]) -> Program:
    """The same for a text. The ending of `name` tells the language. Raises what
    `compile` raises."""
    with compiling(options) as given:
        return Program(_anec.compile_text(text, name, given))


def check(path: StrPath, target: str,
          **options: Unpack[InspectOptions]) -> typing.List[Finding]:
    """What breaks the rules of the chip `target` in the program at `path`: a list
    of Finding. MIL is checked as it is, a source as it would be compiled with
    `options`, a package with all its kernels. Raises what `compile` raises; a
    finding is not an error."""
    with compiling({**options, "target": target}) as given:
        return _findings(_anec.check_file(as_path(path), given))


def explain(rule: str) -> Rule:
    """What is known of a rule: a Rule. Raises anec.Error for an id that no rule
    has."""
    return Rule(*_anec.explain(rule))


def _errors(rows: typing.Iterable[typing.Tuple[typing.Any, ...]]
            ) -> typing.List[LoggedError]:
    return [LoggedError(*(*row[:4], tuple(row[4].split()), *row[5:]))
            for row in rows]


def explain_log(path: StrPath) -> typing.List[LoggedError]:
    """The errors of the engine and of Core ML in the log at `path`: a list of
    LoggedError. Raises anec.Error when the file cannot be read."""
    return _errors(_anec.explain_log_file(as_path(path)))


def explain_log_text(text: typing.Union[str, bytes]) -> typing.List[LoggedError]:
    """The same for `text`. Raises TypeError for what is no text."""
    return _errors(_anec.explain_log_text(text))


def predict(path: StrPath, target: str,
            **options: Unpack[InspectOptions]) -> typing.List[Cost]:
    """What each entry of the program at `path`, or its kernel, costs on `target`:
    a list of Cost. Raises what `compile` raises."""
    with compiling({**options, "target": target}) as given:
        return [Cost(*row) for row in _anec.predict_file(as_path(path), given)]
