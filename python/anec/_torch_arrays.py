# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors as arrays, and back. On the CPU both share their memory."""
import torch


def as_array(value):
    """A tensor, or a number, as an array. What numpy lacks becomes float32."""
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value)
    value = value.detach().cpu()
    if value.dtype == torch.bfloat16:
        value = value.float()
    return value.resolve_conj().resolve_neg().numpy()


def as_tensor(array, like):
    """An array as what `like` is: a tensor, of which the element type counts, or a
    number."""
    if not isinstance(like, torch.Tensor):
        return array.item()
    return torch.from_numpy(array).to(like.dtype)
