"""Random single-node models of ONNX, by operator and version of the operator set."""
import dataclasses
import typing
import zlib

import numpy as np

from _onnx_schemas import NEWEST  # noqa: F401 (others read it here)

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]


@dataclasses.dataclass
class Case:
    """A node: its inputs (None for one that is left out), attributes, and the number
    of its outputs, of which the first `compared` say something. Inputs whose index is in
    `fixed` are initializers. `right` computes the outputs of a node that onnxruntime has
    no kernel for, by its definition. `graph` makes the nodes that lead from the inputs'
    names to y0, where the node takes or gives a sequence or an optional value."""
    inputs: list
    attributes: dict = dataclasses.field(default_factory=dict)
    outputs: int = 1
    fixed: tuple = ()
    compared: int = 99
    right: typing.Callable | None = None
    graph: typing.Callable | None = None


class Draw:
    def __init__(self, *seed):
        self.random = np.random.default_rng(zlib.crc32(repr(seed).encode()))

    def int(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, share):
        return self.random.random() < share

    def pick(self, items):
        return items[self.int(0, len(items) - 1)]

    def shape(self, low=1, high=4, most=6):
        return [self.int(1, most) for _ in range(self.int(low, high))]

    def axis(self, rank):
        return self.int(-rank, rank - 1)

    def float_type(self, share=0.15):
        return np.float16 if self.chance(share) else np.float32

    def floats(self, shape, dtype=None, low=None, high=None, special=0.0):
        dtype = dtype or self.float_type()
        if low is None:
            values = self.random.standard_normal(shape)
        else:
            values = self.random.uniform(low, high, shape)
        values = np.asarray(values).astype(dtype)
        if self.chance(special) and values.size:
            flat = values.reshape(-1)
            for _ in range(self.int(1, max(1, values.size // 3))):
                flat[self.int(0, values.size - 1)] = self.pick(SPECIAL)
        return values

    def ints(self, shape, dtype=np.int64, low=-10, high=10):
        return self.random.integers(low, high + 1, shape).astype(dtype)

    def bools(self, shape):
        return self.random.random(shape) < 0.5

    def some(self, **attributes):
        """Each attribute with a chance of one half."""
        return {name: value for name, value in attributes.items() if self.chance(0.5)}

    def broadcast(self, shape):
        """A shape that broadcasts to `shape`."""
        kept = shape[self.int(0, len(shape)):]
        return [1 if self.chance(0.25) else extent for extent in kept]


MAKERS = {}


def of(*names):
    def add(maker):
        for name in names:
            MAKERS[name] = maker
        return maker
    return add
