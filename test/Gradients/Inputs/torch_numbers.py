"""Numbers of the IR in PyTorch: floats of all types are Floats.dtype, and integers
are int64."""
import torch
import torch.nn.functional as F


class Floats:
    """The element type, and how far results are moved, which `random` decides."""
    dtype = torch.float64
    nudge = 0.0
    random = torch.Generator()


class Unknown(Exception):
    """What is not covered: an op, or a case of it."""


def nudged(x):
    if not Floats.nudge or not x.is_floating_point():
        return x
    noise = torch.rand(x.shape, generator=Floats.random, dtype=Floats.dtype)
    return x * (1 + Floats.nudge * (2 * noise - 1))


def axes_of(x, axes):
    return list(range(x.dim())) if axes is None else [a % x.dim() for a in axes]


def take(x, axis, positions):
    return x.index_select(axis, torch.tensor(positions, dtype=torch.int64))


def cast(x, dtype):
    if dtype == "bool":
        return x != 0
    return x.to(Floats.dtype) if dtype.startswith("fp") else x.long()


def pad_spatial(x, amounts, value=0.0):
    flat = [amount for pair in reversed(amounts) for amount in pair]
    return F.pad(x, flat, value=value)
