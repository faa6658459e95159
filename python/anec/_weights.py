# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models and weights of others."""
from __future__ import annotations

import typing

from . import _anec
from ._arguments import StrPath, as_choice, as_path, as_path_or_none, as_texts
from ._options import Floats

WeightFormat = typing.Literal["anec", "hf", "llama2c"]
SourceFormat = typing.Literal["anec", "hf", "llama2c", "gguf"]


def import_model(source: StrPath, program: StrPath, *, seq: typing.Optional[int] = None,
                 float: Floats = "fp16",
                 ignore_key: typing.Union[str, typing.Iterable[str]] = (),
                 write_tokenizer: typing.Optional[StrPath] = None) -> None:
    """Writes the program of a language model that others trained, and a map of the names
    of its weights beside it, as `anec import` does.

    source           a folder with config.json and the weights, a GGUF file, or a
                     checkpoint of llama2.c (.bin)
    program          the .tdsl file
    seq              positions of the program; None: 256, or all of the model
    float            its element type: "fp16" or "fp32"
    ignore_key       keys of config.json, or of the metadata, that are not looked at
    write_tokenizer  a folder that gets the tokenizer of a GGUF file

    Raises anec.Error when the model has parts that anec does not know, or a file cannot
    be read or written, and ValueError for another `float`.
    """
    as_choice(float, typing.get_args(Floats), "float")
    if seq is not None and seq < 1:
        raise ValueError(f"`seq` is a number of positions, at least 1, not {seq}")
    _anec.import_model(as_path(source), as_path(program), {
        "positions": seq or 0, "floats": float, "ignored_keys": as_texts(ignore_key),
        "tokenizer": as_path_or_none(write_tokenizer)})


def convert(weights: StrPath, output: StrPath, *,
            from_format: typing.Optional[SourceFormat] = None,
            to_format: typing.Optional[WeightFormat] = None,
            config: typing.Optional[StrPath] = None,
            model: typing.Optional[str] = None,
            defines: typing.Optional[typing.Mapping[str, object]] = None,
            weight_map: typing.Optional[StrPath] = None,
            like: typing.Optional[StrPath] = None,
            tokenizer: typing.Optional[StrPath] = None, shard_size: int = 0) -> None:
    """Writes weights in another format, as `anec convert` does.

    weights      a .safetensors, .bin or .gguf file, a folder, a checkpoint or a run
    output       a .safetensors file, a .bin file for llama2.c, a folder for Hugging
                 Face, or with `like` a .gguf file
    from_format, to_format   "anec", "hf" or "llama2c", and "gguf" for the first; None:
                 what the files say
    config       the .tdsl program or the package of the weights, which gives the
                 number of heads, with `model`, if it has several, and `defines`
    weight_map   the map that `import_model` wrote: the output has the names, and the
                 config.json, that were imported
    like         with `weight_map`, the GGUF file that was imported, whose metadata
                 and tokenizer the output gets
    tokenizer, shard_size   for a folder: that of the files for text to copy, and the
                 bytes that one file has at most (0: 5 GB)

    Raises anec.Error when files do not belong together, cannot be read or written, and
    ValueError for another format. An error leaves no part of `output`.
    """
    as_choice(from_format, (None, *typing.get_args(SourceFormat)), "from_format")
    as_choice(to_format, (None, *typing.get_args(WeightFormat)), "to_format")
    _anec.convert(as_path(weights), as_path(output), {
        "from": from_format, "to": to_format, "config": as_path_or_none(config),
        "model": model,
        "defines": [f"{name}={value}" for name, value in (defines or {}).items()],
        "weight_map": as_path_or_none(weight_map), "like": as_path_or_none(like),
        "tokenizer": as_path_or_none(tokenizer), "shard_size": shard_size})


def merge(package: StrPath, adapter: StrPath, output: StrPath, *,
          weights: typing.Optional[StrPath] = None,
          weight_map: typing.Optional[StrPath] = None,
          tokenizer: typing.Optional[StrPath] = None, shard_size: int = 0) -> None:
    """Adds trained adapters to the weights that they belong to, as `anec merge` does.

    package      the package with the adapters, compiled with `lora`
    adapter      a .safetensors file, or a checkpoint
    output       a folder like that of `weights`, a .gguf file like `weights`, or a
                 .safetensors file with the arrays alone
    weights      those that the adapters belong to; None: those in the package
    weight_map   a JSON file: names of weights -> names in `weights`
    tokenizer, shard_size   for a folder, as for `convert`

    Raises anec.Error when these do not belong together, or cannot be read or written. An
    error leaves no part of `output`.
    """
    _anec.merge(as_path(package), as_path(adapter), as_path(output), {
        "weights": as_path_or_none(weights), "weight_map": as_path_or_none(weight_map),
        "tokenizer": as_path_or_none(tokenizer), "shard_size": shard_size})
