# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What numpy has, as arrays that _anec takes: in the machine's byte order,
contiguous and aligned."""
from __future__ import annotations

import typing

import numpy
import numpy.typing

if typing.TYPE_CHECKING:
    from ._session import Port

Array = numpy.typing.NDArray[typing.Any]
DType = numpy.dtype[typing.Any]
_is_masked: typing.Callable[[object], bool] = numpy.ma.is_masked


def _native(array: Array) -> Array:
    return numpy.require(array, array.dtype.newbyteorder("="), ["C", "A"])


def _plain(value: numpy.typing.ArrayLike, name: str) -> Array:
    """`value` as an array of numbers or booleans."""
    if _is_masked(value):
        raise ValueError(f"`{name}` has masked elements; fill them first")
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` takes numbers, and the array has elements of "
                        f"{array.dtype}")
    return array


def as_given(value: numpy.typing.ArrayLike, name: str) -> Array:
    """`value` with the elements that it has."""
    return _native(_plain(value, name))


def _as_floats(array: Array, name: str, wanted: DType) -> Array:
    if array.dtype.kind != "f":
        # fp64 has every integer that is finite in fp16, so that it is rounded once.
        return array.astype(numpy.float64 if wanted.itemsize == 2 else wanted)
    if array.dtype.itemsize > 8:
        raise TypeError(f"`{name}` is {wanted}, and the array {array.dtype}, which is "
                        "longer than float64")
    return array


def _as_integers(array: Array, name: str, wanted: DType) -> Array:
    low, high = ((0, 1) if wanted.kind == "b" else
                 (numpy.iinfo(wanted).min, numpy.iinfo(wanted).max))
    if array.dtype != wanted and array.size:
        if array.dtype.kind == "f":
            raise TypeError(f"`{name}` is {wanted}, and the array {array.dtype}")
        # As integers of Python, which no comparison rounds.
        for extreme in int(array.min()), int(array.max()):
            if not low <= extreme <= high:
                raise ValueError(f"`{name}` is {wanted}, and has elements that do not "
                                 f"fit it: {extreme}")
    return array.astype(wanted)


def as_input(value: numpy.typing.ArrayLike, name: str, wanted: DType) -> Array:
    """`value` as an array that an input of the dtype `wanted` takes; raises when
    more than precision would be lost."""
    array = _plain(value, name)
    convert = _as_floats if wanted.kind == "f" else _as_integers
    return _native(convert(array, name, wanted))


def as_inputs(inputs: typing.Mapping[str, numpy.typing.ArrayLike],
              ports: typing.Mapping[str, Port]) -> typing.Dict[str, Array]:
    """A dict of arrays for `ports`, a dict of Port. Other names stay, for _anec to
    refuse."""
    if not hasattr(inputs, "items"):
        raise TypeError("inputs are a dict of arrays by name, not "
                        f"{type(inputs).__name__}")
    for name in inputs:
        if not isinstance(name, str):
            raise TypeError(f"inputs have names, and {name!r} is none")
    return {name: as_input(value, name, ports[name].dtype) if name in ports
            else numpy.zeros(1, numpy.uint8) for name, value in inputs.items()}


def fill(array: Array, write: typing.Callable[[Array], None]) -> Array:
    """Calls `write` with memory for `array`, and returns `array` with what was
    written."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"what is written to is an array, not {type(array).__name__}")
    if not array.flags.writeable:
        raise ValueError("the array is read-only")
    memory = numpy.empty(array.shape, array.dtype.newbyteorder("="))
    write(memory)
    array[...] = memory
    return array


def views(memory: typing.Mapping[str, typing.Any]
          ) -> typing.Dict[str, numpy.typing.NDArray[numpy.float32]]:
    """Arrays that share the memory in a dict."""
    return {name: numpy.asarray(part) for name, part in memory.items()}
