# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments as _anec takes them, or an error that names them."""
import operator
import os


def as_path(value):
    """A path. C ends it at a null character, which would name another file."""
    path = os.fspath(value)
    if ("\0" if isinstance(path, str) else b"\0") in path:
        raise ValueError("a path has a null character")
    return path


def as_choice(value, choices, name):
    """The index of `value` in `choices`."""
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` is one of {known}, not {value!r}")
    return choices.index(value)


def as_shapes(shapes):
    """A dict of shapes by the names of inputs, in words."""
    if shapes and not hasattr(shapes, "items"):
        raise TypeError("shapes are a dict of tuples by name, not "
                        f"{type(shapes).__name__}")
    return [f"{name}=" + "x".join(str(operator.index(extent)) for extent in shape)
            for name, shape in (shapes or {}).items()]
