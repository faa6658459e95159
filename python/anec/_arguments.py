# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments as _anec takes them, or an error that names them."""
from __future__ import annotations

import difflib
import operator
import os
import typing

StrPath = typing.Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
Shapes = typing.Mapping[str, typing.Sequence[typing.SupportsIndex]]


def as_path(value: StrPath) -> typing.Union[str, bytes]:
    """A path. C ends it at a null character, which would name another file."""
    path = os.fspath(value)
    if ("\0" in path) if isinstance(path, str) else (b"\0" in path):
        raise ValueError("a path has a null character")
    return path


def as_path_or_none(value: typing.Optional[StrPath]
                    ) -> typing.Union[str, bytes, None]:
    """A path; None for none, and for an empty text."""
    return None if value is None or value == "" else as_path(value)


def as_paths(values: typing.Union[StrPath, typing.Iterable[StrPath]]
             ) -> typing.List[typing.Union[str, bytes]]:
    """One path, or several."""
    if isinstance(values, (str, bytes, os.PathLike)):
        return [as_path(values)]
    return [as_path(value) for value in values]


def as_texts(values: typing.Union[str, typing.Iterable[str]]) -> typing.List[str]:
    """One text, or several."""
    return [values] if isinstance(values, str) else list(values)


def _meant(given: object, known: typing.Iterable[object]) -> str:
    """The end of an error about `given`: which of `known` was meant, if one is close."""
    names = [name for name in known if isinstance(name, str)]
    close = difflib.get_close_matches(str(given).lower(), names, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def as_choice(value: object, choices: typing.Sequence[object], name: str) -> int:
    """The index of `value` in `choices`, which are texts or None."""
    if value is None or isinstance(value, str):
        if value in choices:
            return choices.index(value)
    known = ", ".join(map(repr, choices))
    raise ValueError(f"`{name}` is one of {known}, not {value!r}{_meant(value, choices)}")


def check_names(given: typing.Iterable[str], known: typing.Iterable[str], what: str) -> None:
    """Raises TypeError when a name in `given` is none of `known`, of which each is a
    `what`."""
    known = list(known)
    for name in given:
        if name not in known:
            raise TypeError(f"there is no {what} `{name}`{_meant(name, known)} "
                            f"({', '.join(known)})")


def as_shapes(shapes: typing.Optional[Shapes]) -> typing.List[str]:
    """A dict of shapes by the names of inputs, in words."""
    if shapes and not hasattr(shapes, "items"):
        raise TypeError("shapes are a dict of tuples by name, not "
                        f"{type(shapes).__name__}")
    return [f"{name}=" + "x".join(str(operator.index(extent)) for extent in shape)
            for name, shape in (shapes or {}).items()]
