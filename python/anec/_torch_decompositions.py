# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators of forward and backward graphs by operators that anec reads: those of
PyTorch's table, and here those that it lacks, or whose results do not fit the operator of
the other direction.

A function that returns NotImplemented leaves its operator as it is."""
import math

import torch
from torch._decomp import core_aten_decompositions

aten = torch.ops.aten
TABLE = core_aten_decompositions()


def _decomposes(*operators):
    def register(function):
        for each in operators:
            TABLE[each] = function
        return function
    return register


# ---------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------

def _weights(scores, logsumexp):
    """The softmax of scores; 0 in a row that sees nothing, whose sum is 0."""
    finite = torch.where(logsumexp == -math.inf, 0.0, logsumexp)
    return (scores - finite.unsqueeze(-1)).exp()


def _scores(query, key, is_causal, mask, scale):
    """query key^T * scale + mask."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = torch.matmul(query, key.transpose(-2, -1)) * scale
    if mask is not None:
        return scores + mask, scale
    if is_causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = torch.where(seen, scores, torch.finfo(scores.dtype).min)
    return scores, scale


# PyTorch's own gives the weights in place of the logarithm of their sum, with which its
# backward is wrong.
@_decomposes(aten._scaled_dot_product_flash_attention_for_cpu.default)
def attention(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None,
              scale=None):
    if dropout_p or key.shape[1] != query.shape[1]:  # Heads that several queries share.
        return NotImplemented
    scores, _ = _scores(query, key, is_causal, attn_mask, scale)
    sums = scores.logsumexp(-1)
    return torch.matmul(_weights(scores, sums), value), sums


@_decomposes(aten._scaled_dot_product_flash_attention_for_cpu_backward.default)
def attention_backward(grad, query, key, value, out, logsumexp, dropout_p, is_causal, *,
                       attn_mask=None, scale=None):
    if dropout_p or key.shape[1] != query.shape[1]:
        return NotImplemented
    scores, scale = _scores(query, key, is_causal, attn_mask, scale)
    weights = _weights(scores, logsumexp)
    of_weights = torch.matmul(grad, value.transpose(-2, -1))
    of_scores = weights * (of_weights - (grad * out).sum(-1, keepdim=True)) * scale
    return (torch.matmul(of_scores, key), torch.matmul(of_scores.transpose(-2, -1), query),
            torch.matmul(weights.transpose(-2, -1), grad))


# ---------------------------------------------------------------------------
# Convolutions and poolings
# ---------------------------------------------------------------------------

def _by_group(array, groups, first):
    """[N, groups * C, ...] as [C, groups * N, ...], or as [groups * C, N, ...]."""
    count, channels, *extents = array.shape
    parts = array.reshape(count, groups, channels // groups, *extents)
    axes = range(3, parts.dim())
    if first == "channels":
        return parts.permute(2, 1, 0, *axes).reshape(channels // groups, -1, *extents)
    return parts.permute(1, 2, 0, *axes).reshape(channels, count, *extents)


@_decomposes(aten.convolution_backward.default)
def convolution_backward(grad, given, weight, bias_sizes, stride, padding, dilation,
                         transposed, output_padding, groups, mask):
    if transposed:
        return NotImplemented
    kernel = weight.shape[2:]
    extra = [extent - ((out - 1) * step - 2 * pad + apart * (size - 1) + 1)
             for extent, out, step, pad, apart, size in zip(
                 given.shape[2:], grad.shape[2:], stride, padding, dilation, kernel)]
    if any(e >= max(step, apart) for e, step, apart in zip(extra, stride, dilation)):
        return NotImplemented
    of_given = of_weight = of_bias = None
    if mask[0]:
        of_given = aten.convolution(grad, weight, None, stride, padding, dilation, True,
                                    extra, groups)
    if mask[1]:
        # The axis of the batch is what is summed over, and steps and dilations change
        # places. Positions that no step reaches would be more taps.
        of_weight = aten.convolution(
            _by_group(given, groups, "channels"), _by_group(grad, groups, "groups"), None,
            dilation, padding, stride, False, [0] * len(kernel), groups)
        for axis, size in enumerate(kernel):
            of_weight = of_weight.narrow(2 + axis, 0, size)
        of_weight = of_weight.transpose(0, 1)
    if mask[2]:
        of_bias = grad.sum([0, *range(2, grad.dim())])
    return of_given, of_weight, of_bias


@_decomposes(aten.max_pool2d_with_indices_backward.default)
def max_pool_backward(grad, given, kernel_size, stride, padding, dilation, ceil_mode,
                      indices):
    planes = math.prod(given.shape[:-2])
    zeros = torch.zeros(planes, given.shape[-2] * given.shape[-1], dtype=grad.dtype)
    return zeros.scatter_add(1, indices.reshape(planes, -1),
                             grad.reshape(planes, -1)).reshape(given.shape)


@_decomposes(aten.avg_pool2d_backward.default)
def avg_pool_backward(grad, given, kernel_size, stride, padding, ceil_mode,
                      count_include_pad, divisor_override):
    if ceil_mode or (any(padding) and not count_include_pad):
        return NotImplemented
    kernel = list(kernel_size) * (2 // len(kernel_size))
    step = list(stride or kernel) * (2 // len(stride or kernel))
    pads = list(padding) * (2 // len(padding))
    extra = [extent - ((out - 1) * each - 2 * pad + size) for extent, out, each, pad, size in
             zip(given.shape[-2:], grad.shape[-2:], step, pads, kernel)]
    if any(e >= each for e, each in zip(extra, step)):
        return NotImplemented
    planes = math.prod(given.shape[:-2])
    ones = torch.full((1, 1, *kernel), 1 / (divisor_override or math.prod(kernel)),
                      dtype=grad.dtype)
    spread = aten.convolution(grad.reshape(planes, 1, *grad.shape[-2:]), ones, None, step,
                              pads, [1, 1], True, extra, 1)
    return spread.reshape(given.shape)
