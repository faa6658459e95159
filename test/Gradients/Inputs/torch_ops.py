"""Ops of the IR, computed with PyTorch as docs/reference/ops.md defines them. Each is a
function of its operands, with its constants as keywords."""
import math

import torch
import torch.nn.functional as F

from torch_movement import MOVEMENT
from torch_numbers import Floats, axes_of, cast, nudged, pad_spatial


def channels_of(x):
    """The default axis of rmsnorm: [channels, positions], or [images, channels,
    ...]."""
    return 1 if x.dim() > 2 else 0


def per_channel(x, vector):
    """Beside x [images, channels, ...]."""
    return vector.reshape([-1] + [1] * (x.dim() - 2))


# Elementwise.

def quotient(x, y):
    return (x / y if x.is_floating_point()
            else torch.div(x, y, rounding_mode="trunc"))


def gelu(x, mode="EXACT"):
    if mode == "SIGMOID_APPROXIMATION":
        return x * torch.sigmoid(1.702 * x)
    if mode == "TANH_APPROXIMATION":
        return F.gelu(x, approximate="tanh")
    # The gradient of F.gelu is wrong in PyTorch 1.13, in float32 and some layouts.
    return x / 2 * (1 + torch.erf(x / math.sqrt(2)))


def softplus(x):
    return torch.logaddexp(x, torch.zeros_like(x))


def softplus_parametric(x, alpha, beta):
    return per_channel(x, alpha) * softplus(per_channel(x, beta) * x)


# Products.

def matmul(x, y, transpose_x=False, transpose_y=False):
    return (x.mT if transpose_x else x) @ (y.mT if transpose_y else y)


def same_padding(pad_type, before_after):
    total = max(0, before_after)
    before = total // 2 if pad_type == "same" else (total + 1) // 2
    return [before, total - before]


def padding(inputs, kernel, strides, pad_type, pad):
    """(before, after) of each spatial axis; kernel extents include dilation."""
    if pad_type == "valid":
        return [[0, 0] for _ in inputs]
    if pad_type == "custom":
        return [pad[2 * i:2 * i + 2] for i in range(len(inputs))]
    return [same_padding(pad_type, (-(-n // s) - 1) * s + k - n)
            for n, k, s in zip(inputs, kernel, strides)]


def dilated(weight, dilations):
    return [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilations)]


def conv(x, weight, bias=None, strides=None, pad_type="valid", pad=None,
         dilations=None, groups=1):
    spatial = x.dim() - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    amounts = padding(x.shape[2:], dilated(weight, dilations), strides, pad_type, pad)
    function = [F.conv1d, F.conv2d, F.conv3d][spatial - 1]
    return function(pad_spatial(x, amounts), weight, bias, stride=strides,
                    dilation=dilations, groups=groups)


def conv_transpose(x, weight, bias=None, pad=None, output_shape=None,
                   pad_type="valid", strides=None, dilations=None, groups=1):
    spatial = x.dim() - 2
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    kernel = dilated(weight, dilations)
    function = [F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d][spatial - 1]
    y = function(x, weight, None, stride=strides, dilation=dilations, groups=groups)
    if output_shape:
        extents = output_shape[2:]
    elif pad_type.startswith("same"):
        extents = [n * s for n, s in zip(x.shape[2:], strides)]
    else:
        amounts = padding(x.shape[2:], kernel, strides, pad_type, pad)
        extents = [n - sum(pair) for n, pair in zip(y.shape[2:], amounts)]
    amounts = padding(extents, kernel, strides, pad_type, pad)
    # Negative amounts remove elements.
    y = pad_spatial(y, [[-before, before + extent - n] for (before, _), extent, n
                        in zip(amounts, extents, y.shape[2:])])
    return y if bias is None else y + per_channel(y, bias)


# Windows.

def pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode, fill, pad_fill):
    """[images, channels, windows..., elements], with `pad_fill` in the padding and
    `fill` in what ceil_mode adds after it."""
    spatial = x.dim() - 2
    strides = strides or [1] * spatial
    amounts = padding(x.shape[2:], kernel_sizes, strides, pad_type, pad)
    x = pad_spatial(x, amounts, pad_fill)
    if ceil_mode:
        more = []
        for i in range(spatial):
            n, k, s = x.shape[i + 2], kernel_sizes[i], strides[i]
            outputs = -(-(n - k) // s) + 1
            if sum(amounts[i]) and (outputs - 1) * s >= n - amounts[i][1]:
                outputs -= 1
            more.append([0, max(0, (outputs - 1) * s + k - n)])
        x = pad_spatial(x, more, fill)
    for i in range(spatial):
        x = x.unfold(i + 2, kernel_sizes[i], strides[i])
    return x.flatten(-spatial)


def max_pool(x, kernel_sizes, pad_type, strides=None, pad=None, ceil_mode=False):
    return pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode,
                        -math.inf, -math.inf).amax(-1)


def l2_pool(x, kernel_sizes, pad_type, strides=None, pad=None, ceil_mode=False):
    return torch.linalg.vector_norm(
        pool_windows(x, kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0, 0.0),
        dim=-1)


def avg_pool(x, kernel_sizes, pad_type, strides=None, pad=None, ceil_mode=False,
             exclude_padding_from_average=False):
    how = (kernel_sizes, strides, pad_type, pad, ceil_mode, 0.0)
    counted = 0.0 if exclude_padding_from_average else 1.0
    counts = pool_windows(torch.ones_like(x), *how, counted).sum(-1)
    return pool_windows(x, *how, 0.0).sum(-1) / counts


# Norms.

def layer_norm(x, gamma=None, beta=None, axes=None, epsilon=1e-5):
    axes = axes_of(x, axes)
    last = list(range(x.dim() - len(axes), x.dim()))
    y = x.movedim(axes, last)
    y = F.layer_norm(y, y.shape[-len(axes):], gamma, beta, epsilon)
    return y.movedim(last, axes)


def affine(x, gamma, beta):
    x = x if gamma is None else x * per_channel(x, gamma)
    return x if beta is None else x + per_channel(x, beta)


def batch_norm(x, mean, variance, gamma=None, beta=None, epsilon=1e-5):
    y = (x - per_channel(x, mean)) / torch.sqrt(per_channel(x, variance) + epsilon)
    return affine(y, gamma, beta)


def instance_norm(x, gamma=None, beta=None, epsilon=1e-5):
    return affine(F.layer_norm(x, x.shape[2:], eps=epsilon), gamma, beta)


def l2_norm(x, epsilon=1e-6):
    return x / torch.sqrt((x * x).sum([-3, -2, -1], keepdim=True) + epsilon)


def inverse_rms(x, epsilon=1e-5, axis=None):
    axis = channels_of(x) if axis is None else axis
    return torch.rsqrt((x * x).mean(axis, keepdim=True) + epsilon)


def rmsnorm(x, gamma, epsilon=1e-5, axis=None):
    axis = channels_of(x) if axis is None else axis % x.dim()
    shape = [-1] + [1] * (x.dim() - axis - 1)
    return x * inverse_rms(x, epsilon, axis) * gamma.reshape(shape)


def softmax(x, axis=-1):
    if not Floats.nudge:
        return torch.softmax(x, axis)
    # Where results are rounded, those of a softmax do not add up to exactly 1, and
    # its gradients not to 0.
    e = torch.exp(x - x.amax(axis, keepdim=True).detach())
    total = e.sum(axis, keepdim=True)
    if total.requires_grad:
        total.register_hook(nudged)
    return e / total


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    return F.local_response_norm(x, size, alpha, beta, k)


# Attention. Heads are [..., heads, width, positions].

def split_heads(x, heads):
    return x.unflatten(-2, [heads, x.shape[-2] // heads])


def rope(x, style="interleaved", theta=10000.0, inverse=False):
    width, positions = x.shape[-2:]
    half = width // 2
    rates = theta ** (-2 * torch.arange(half, dtype=Floats.dtype) / width)
    angle = torch.outer(rates, torch.arange(positions, dtype=Floats.dtype))
    turn = torch.polar(torch.ones_like(angle), -angle if inverse else angle)
    first, second = ((x[..., :half, :], x[..., half:, :]) if style == "half_split"
                     else (x[..., 0::2, :], x[..., 1::2, :]))
    y = torch.complex(first, second) * turn
    if style == "half_split":
        return torch.cat([y.real, y.imag], -2)
    return torch.stack([y.real, y.imag], -2).flatten(-3, -2)


def sdpa_probs(q, k, mask=None, causal=False, window=0, scale=None, softcap=0.0):
    k = k.repeat_interleave(q.shape[-3] // k.shape[-3], dim=-3)
    scores = q.mT @ k * (1 / math.sqrt(q.shape[-2]) if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    queries, keys = scores.shape[-2:]
    distance = (torch.arange(keys - queries, keys)[:, None]
                - torch.arange(keys)[None, :])
    hidden = torch.zeros(queries, keys, dtype=torch.bool)
    if causal:
        hidden |= distance < 0
    if window:
        hidden |= distance.abs() >= window
    if mask is not None and mask.dtype == torch.bool:
        hidden = hidden | ~mask
    elif mask is not None:
        scores = scores + mask
    return softmax(scores.masked_fill(hidden, -math.inf))


def sdpa(q, k, v, mask=None, **how):
    v = v.repeat_interleave(q.shape[-3] // v.shape[-3], dim=-3)
    return v @ sdpa_probs(q, k, mask, **how).mT


def scaled_dot_product_attention(query, key, value, attn_mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if attn_mask is not None:
        scores = (scores.masked_fill(~attn_mask, -math.inf)
                  if attn_mask.dtype == torch.bool else scores + attn_mask)
    return softmax(scores) @ value


# Reductions.

def reduction(function):
    """`function` takes a list of axes and keepdim."""
    def reduce(x, axes=None, keep_dims=False):
        return function(x, axes_of(x, axes), keep_dims)
    return reduce


def product(x, axes, keep):
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis, keepdim=keep)
    return x


def index_of(function):
    def reduce(x, axis=-1, keep_dims=False, output_dtype="int32"):
        return function(x, axis, keep_dims)
    return reduce


def cross_entropy(logits, targets):
    targets = torch.where((targets >= 0) & (targets < logits.shape[-2]), targets, -100)
    if (targets == -100).all():
        return (logits * 0).sum()
    return F.cross_entropy(logits if logits.dim() == 3 else logits.T, targets)


OPS = {
    **MOVEMENT,
    # Unary.
    "abs": torch.abs, "acos": torch.acos, "asin": torch.asin, "atan": torch.atan,
    "atanh": torch.atanh, "ceil": torch.ceil, "cos": torch.cos, "cosh": torch.cosh,
    "erf": torch.erf, "exp": torch.exp, "exp2": torch.exp2, "floor": torch.floor,
    # A package that is given no masks runs as without training.
    "dropout": lambda x, rate: x,
    "identity": lambda x: x, "round": torch.round, "sign": torch.sign,
    "sin": torch.sin, "sinh": torch.sinh, "sqrt": torch.sqrt, "square": torch.square,
    "stop_gradient": torch.detach, "tan": torch.tan, "tanh": torch.tanh,
    "log": lambda x, epsilon=1e-45: torch.log(x + epsilon),
    "inverse": lambda x, epsilon=1e-4: 1 / (x + epsilon),
    "rsqrt": lambda x, epsilon=1e-12: torch.rsqrt(x + epsilon),
    "clip": lambda x, alpha, beta: x.clamp(alpha, beta),
    "threshold": lambda x, alpha: x.clamp(min=alpha),
    "cast": cast,
    # Activations.
    "relu": F.relu, "relu6": F.relu6, "sigmoid": torch.sigmoid, "silu": F.silu,
    "softplus": softplus, "softsign": F.softsign, "gelu": gelu,
    "elu": lambda x, alpha: F.elu(x, alpha),
    "leaky_relu": lambda x, alpha: F.leaky_relu(x, alpha),
    "thresholded_relu": lambda x, alpha: F.threshold(x, alpha, 0.0),
    "clamped_relu": lambda x, alpha, beta: F.leaky_relu(x, alpha).clamp(max=beta),
    "linear_activation": lambda x, alpha, beta: alpha * x + beta,
    "scaled_tanh": lambda x, alpha, beta: alpha * torch.tanh(beta * x),
    "sigmoid_hard": lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1),
    "prelu": F.prelu, "softplus_parametric": softplus_parametric,
    # Binary.
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "real_div": quotient,
    "floor_div": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "mod": torch.remainder, "pow": torch.pow, "maximum": torch.maximum,
    "minimum": torch.minimum, "equal": torch.eq, "not_equal": torch.ne,
    "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge, "logical_and": torch.logical_and,
    "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
    "logical_not": torch.logical_not, "select": torch.where,
    # Products.
    "matmul": matmul, "linear": F.linear, "conv": conv,
    "conv_transpose": conv_transpose,
    "einsum": lambda *values, equation: torch.einsum(equation, *values),
    # Windows, norms and attention.
    "max_pool": max_pool, "avg_pool": avg_pool, "l2_pool": l2_pool,
    "layer_norm": layer_norm, "batch_norm": batch_norm,
    "instance_norm": instance_norm, "l2_norm": l2_norm, "inverse_rms": inverse_rms,
    "rmsnorm": rmsnorm, "local_response_norm": local_response_norm,
    "softmax": softmax, "split_heads": split_heads,
    "merge_heads": lambda x: x.flatten(-3, -2), "rope": rope,
    "sdpa": sdpa, "sdpa_probs": sdpa_probs,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    # Reductions.
    "reduce_sum": reduction(torch.sum), "reduce_mean": reduction(torch.mean),
    "reduce_max": reduction(torch.amax), "reduce_min": reduction(torch.amin),
    "reduce_prod": reduction(product),
    "reduce_sum_square": reduction(lambda x, *how: (x * x).sum(*how)),
    "reduce_l1_norm": reduction(lambda x, *how: x.abs().sum(*how)),
    "reduce_l2_norm": reduction(
        lambda x, *how: torch.linalg.vector_norm(x, 2, *how)),
    "reduce_log_sum": reduction(lambda x, *how: x.sum(*how).log()),
    "reduce_log_sum_exp": reduction(torch.logsumexp),
    "reduce_argmax": index_of(torch.argmax), "reduce_argmin": index_of(torch.argmin),
    "cross_entropy": cross_entropy,
}

# Their results are elements of their operands, which no arithmetic rounds.
COPIES = {
    "weight", "call", "repeat", "const", "fill", "identity", "stop_gradient", "abs",
    "cast", "relu", "relu6", "clip", "threshold", "thresholded_relu", "maximum",
    "minimum", "select", "max_pool", "reduce_max", "reduce_min", "topk", "band_part",
    "split_heads", "merge_heads", "sliding_windows", "reshape", "expand_dims",
    "squeeze", "transpose", "flatten2d", "pad", "tile", "reverse",
    "reverse_sequence", "concat", "split", "stack", "slice_by_size",
    "slice_by_index", "crop", "depth_to_space", "space_to_depth", "pixel_shuffle",
    "pixel_unshuffle", "gather", "embed", "gather_along_axis", "gather_nd", "one_hot",
    "resize_nearest_neighbor", "upsample_nearest_neighbor",
}
