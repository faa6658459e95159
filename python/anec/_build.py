# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling to files, as the tool does it."""
from __future__ import annotations

import json
import os
import sys
import typing

from . import _anec
from ._arguments import StrPath, as_choice, as_path, as_path_or_none, as_texts
from ._options import CompileOptions, Floats, compiling

if sys.version_info >= (3, 11):
    from typing import Unpack
elif typing.TYPE_CHECKING:
    from typing_extensions import Unpack

Describe = typing.Union[StrPath, typing.Mapping[str, typing.Any], None]
Emit = typing.Literal["mil", "coreml", "compiled-coreml", "ir", "tdsl", "dot", "report",
                      "json", "html", "package"]
Cache = typing.Literal["io", "state"]


def as_coreml(describe: Describe, deployment: typing.Optional[str],
              interface: typing.Optional[Floats]) -> typing.Dict[str, typing.Any]:
    """Options of Core ML packages, as _anec takes them."""
    as_choice(interface, (None, *typing.get_args(Floats)), "interface")
    is_text = isinstance(describe, typing.Mapping)
    return {
        "deployment": deployment,
        "floats": interface,
        "describe": (None if describe is None or isinstance(describe, typing.Mapping)
                     else as_path(describe)),
        "describe_text": json.dumps(describe) if is_text else None,
    }


def build(path: StrPath, output: StrPath, *, emit: typing.Optional[Emit] = None,
          describe: Describe = None, deployment: typing.Optional[str] = None,
          interface: typing.Optional[Floats] = None,
          quantize_report: typing.Optional[StrPath] = None, cache: Cache = "io",
          passes: typing.Union[str, typing.Iterable[str], None] = None,
          skip_passes: typing.Union[str, typing.Iterable[str]] = (),
          canonical: bool = False,
          **options: Unpack[CompileOptions]) -> None:
    """Compiles the source or package at `path` and writes it to `output`, as
    `anec PATH -o OUTPUT` does: of a model, a package (.anepkg), or a whole program
    for Core ML (.mlpackage, .mlmodelc).

    emit             what is written: "mil", "coreml", "compiled-coreml", "ir",
                     "tdsl", "dot", "report", "json", "html" or "package"; None:
                     what the ending of `output` says
    describe, deployment, interface   of Core ML packages, as for Program.write
    quantize_report  a JSON file that gets what `quantize` changed of each weight
    cache            with `decode`: "io" in a package, or "state" in a program
                     for Core ML
    passes           the passes that run, in their order, instead of the usual ones:
                     "decompose,cse", or a list of their names
    skip_passes      passes that do not run
    canonical        of MIL: values by position and shared constants, so that texts
                     can be compared
    options          those of `compile`, but `folder`

    Raises what `compile` raises, and anec.Error when an option would change nothing
    of this output. An error leaves no part of `output`.
    """
    as_choice(emit, (None, *typing.get_args(Emit)), "emit")
    is_state = as_choice(cache, typing.get_args(Cache), "cache")
    with compiling(options) as given:
        _anec.build(as_path(path), os.fsdecode(as_path(output)), given, {
            "emit": emit,
            "quantize_report": as_path_or_none(quantize_report),
            "cache_states": is_state,
            "passes": None if passes is None else ",".join(as_texts(passes)),
            "skip_passes": ",".join(as_texts(skip_passes)) or None,
            "canonical": bool(canonical),
            **as_coreml(describe, deployment, interface)})
