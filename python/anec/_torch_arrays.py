# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors as arrays, and back. On the CPU both share their memory."""
import torch
from torch.export.graph_signature import InputKind


def input_names(program):
    """The names of what an ExportedProgram is called with, in order; its own parameters
    and buffers are not among them."""
    return [spec.arg.name for spec in program.graph_signature.input_specs
            if spec.kind == InputKind.USER_INPUT]


def is_dense(tensor):
    """Whether each element has a place of its own, as in none that was expanded."""
    return all(step > 0 for extent, step in zip(tensor.shape, tensor.stride()) if extent > 1)


def as_array(value):
    """A tensor, or a number, as an array. What numpy lacks becomes float32."""
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value)
    value = value.detach().cpu()
    if value.dtype == torch.bfloat16:
        value = value.float()
    return value.resolve_conj().resolve_neg().numpy()


def as_tensor(array, like):
    """An array as what `like` is: a tensor with its element type and, if it has the same
    shape, its strides, on which what comes after may rely; or a number."""
    if not isinstance(like, torch.Tensor):
        return array.item()
    tensor = torch.from_numpy(array).to(like.dtype)
    if (tuple(like.shape) != tuple(tensor.shape) or like.stride() == tensor.stride()
            or not is_dense(like)):
        return tensor
    return torch.empty_strided(tensor.shape, like.stride(), dtype=tensor.dtype).copy_(tensor)
