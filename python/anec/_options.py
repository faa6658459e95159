# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of compiling, of checking and of predicting."""
from __future__ import annotations

import contextlib
import os
import tempfile
import typing

import numpy
import numpy.typing

from . import _arrays
from ._arguments import (Shapes, StrPath, as_choice, as_path, as_path_or_none, as_paths,
                         as_shapes, as_texts, check_names)

WeightMode = typing.Literal["auto", "packed", "baked"]
IO = typing.Literal["packed", "separate"]
Fuse = typing.Literal["default", "max"]
Floats = typing.Literal["fp16", "fp32"]
Framework = typing.Literal["in-memory", "coreml", "e5"]
MilVersion = typing.Literal["1.0", "1.3"]
Scales = typing.Literal["per-channel", "per-tensor"]

# Arrays by name, or the texts of a language model.
Examples = typing.Union[
    typing.Mapping[str, typing.Union[numpy.typing.ArrayLike, os.PathLike[str]]],
    StrPath, typing.Iterable[StrPath]]


# Numbers of inputs by name, and numbers of positions.
Fixed = typing.Mapping[str, typing.Union[float, typing.Iterable[float]]]
Positions = typing.Union[int, typing.Iterable[int], None]


class InspectOptions(typing.TypedDict, total=False):
    """The options of `check` and `predict`, by name; the documentation of `compile` says
    what they do. None is the default, as if an option was not given."""
    kernel: typing.Optional[str]
    defines: typing.Optional[typing.Mapping[str, object]]
    assume: typing.Union[str, typing.Iterable[str]]
    weights: typing.Optional[StrPath]
    weight_map: typing.Optional[StrPath]
    seed: typing.Optional[int]
    mil_version: typing.Optional[MilVersion]
    folder: typing.Optional[StrPath]
    forward_only: bool
    weight_mode: WeightMode
    io: IO
    fuse: Fuse
    precision: typing.Optional[Floats]
    calibrate: typing.Optional[Examples]
    shapes: typing.Optional[Shapes]
    framework: typing.Optional[Framework]
    macos: typing.Optional[str]
    loss: typing.Optional[str]
    train_weights: typing.Union[str, typing.Iterable[str]]
    quantize: typing.Optional[str]
    quantize_skip: typing.Union[str, typing.Iterable[str]]
    calibrate_tokenizer: typing.Optional[StrPath]
    calibrate_tokens: typing.Optional[int]
    activation_scales: typing.Optional[Scales]
    activation_margin: typing.Optional[float]
    lora: typing.Optional[str]
    decode: bool
    context: int
    batch: int
    function: typing.Optional[str]
    part: typing.Optional[int]
    fix: typing.Optional[Fixed]
    block: Positions
    prefill: Positions
    ladder: Positions
    remarks: bool


class CompileOptions(InspectOptions, total=False):
    """The options of `compile`."""
    target: typing.Optional[str]


def _choices(literal: typing.Any) -> typing.Tuple[str, ...]:
    return typing.get_args(literal)


def _choice_or_none(value: object, literal: typing.Any, name: str) -> typing.Any:
    as_choice(value, (None, *_choices(literal)), name)
    return value


def as_fixes(fixed: typing.Optional[Fixed]) -> typing.List[str]:
    """A dict of numbers by the names of inputs, in words."""
    if fixed and not hasattr(fixed, "items"):
        raise TypeError(f"numbers are a dict by name, not {type(fixed).__name__}")
    return [f"{name}=" + ",".join(repr(number) for number in
                                  numpy.ravel(numpy.asarray(value, float)).tolist())
            for name, value in (fixed or {}).items()]


def as_positions(given: Positions) -> typing.List[int]:
    """One number, or several."""
    if given is None:
        return []
    return [given] if isinstance(given, int) else list(given)


def as_options(options: typing.Mapping[str, typing.Any]) -> typing.Dict[str, typing.Any]:
    """The options of `compile` as _anec takes them."""
    get = options.get
    return {
        "kernel": get("kernel"),
        "defines": [f"{name}={value}" for name, value in (get("defines") or {}).items()],
        "target": get("target"),
        "assumptions": as_texts(get("assume") or ()),
        "weights": as_path_or_none(get("weights")),
        "weight_map": as_path_or_none(get("weight_map")),
        "seed": get("seed"),
        "mil_version": _choice_or_none(get("mil_version"), MilVersion, "mil_version"),
        "folder": as_path_or_none(get("folder")),
        "forward_only": bool(get("forward_only")),
        "weight_mode": as_choice(get("weight_mode", "auto"), _choices(WeightMode),
                                 "weight_mode"),
        "io": as_choice(get("io", "packed"), _choices(IO), "io"),
        "fusion": as_choice(get("fuse", "default"), _choices(Fuse), "fuse"),
        "precision": as_choice(get("precision"), (None, *_choices(Floats)), "precision"),
        "calibration": list(get("calibrate") or ()),
        "calibration_texts": list(get("calibrate_texts") or ()),
        "shapes": as_shapes(get("shapes")),
        "framework": _choice_or_none(get("framework"), Framework, "framework"),
        "macos": get("macos"),
        "loss": get("loss"),
        "train_weights": as_texts(get("train_weights") or ()),
        "quantize": get("quantize"),
        "quantize_skip": as_texts(get("quantize_skip") or ()),
        "calibration_tokenizer": as_path_or_none(get("calibrate_tokenizer")),
        "calibration_tokens": get("calibrate_tokens"),
        "activation_scales": _choice_or_none(get("activation_scales"), Scales,
                                             "activation_scales"),
        "activation_margin": get("activation_margin"),
        "lora": get("lora"),
        "decode": bool(get("decode")),
        "context": get("context", 0),
        "batch": get("batch", 0),
        "function": get("function"),
        "part": get("part"),
        "fixes": as_fixes(get("fix")),
        "blocks": as_positions(get("block")),
        "prefills": as_positions(get("prefill")),
        "ladder": as_positions(get("ladder")),
        "remarks": bool(get("remarks")),
    }


def as_files(examples: typing.Mapping[str, typing.Any],
             folders: contextlib.ExitStack) -> typing.List[str]:
    """`NAME=FILE.npy` for each array; those that are no files are written to temporary
    folders, which `folders` removes."""
    if not isinstance(examples, typing.Mapping):
        raise TypeError("arrays are a dict by name, not " + type(examples).__name__)
    files = []
    for name, value in examples.items():
        if not isinstance(value, (str, os.PathLike)):
            array = _arrays.as_given(value, name)
            folder = folders.enter_context(tempfile.TemporaryDirectory(prefix="anec-"))
            value = os.path.join(folder, "example.npy")
            numpy.save(value, array)
        files.append(f"{name}={os.fsdecode(as_path(value))}")
    return files


@contextlib.contextmanager
def compiling(options: typing.Mapping[str, typing.Any]
              ) -> typing.Iterator[typing.Dict[str, typing.Any]]:
    """The options while they are used: examples that are arrays are files for so
    long."""
    check_names(options, sorted(CompileOptions.__optional_keys__), "option")
    with contextlib.ExitStack() as folders:
        examples = options.get("calibrate")
        files: typing.List[str] = []
        texts: typing.List[typing.Union[str, bytes]] = []
        if isinstance(examples, typing.Mapping):
            files = as_files(examples, folders)
        elif examples is not None:
            texts = as_paths(examples)
        yield as_options({**options, "calibrate": files, "calibrate_texts": texts})
