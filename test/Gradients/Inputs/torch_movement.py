"""Ops that sort, move, look up and resize, as docs/reference/ops.md defines them."""
import math

import torch
import torch.nn.functional as F

from torch_numbers import Floats, Unknown, axes_of, pad_spatial, take


# Order.

def argsort(x, axis=-1, ascending=False):
    return x.sort(dim=axis, descending=not ascending, stable=True).indices


def topk(x, k=1, axis=-1, ascending=False, sort=True, return_indices=True,
         output_indices_dtype="int32"):
    values, indices = x.sort(dim=axis, descending=not ascending, stable=True)
    values, indices = values.narrow(axis, 0, k), indices.narrow(axis, 0, k)
    return (values, indices) if return_indices else values


def cumsum(x, axis=0, exclusive=False, reverse=False):
    x = x.flip(axis) if reverse else x
    y = x.cumsum(axis)
    y = y - x if exclusive else y
    return y.flip(axis) if reverse else y


def cumprod(x, axis=0, exclusive=False, reverse=False):
    x = x.flip(axis) if reverse else x
    if exclusive:
        ones = torch.ones_like(x.narrow(axis, 0, 1))
        x = torch.cat([ones, x.narrow(axis, 0, x.shape[axis] - 1)], axis)
    y = x.cumprod(axis)
    return y.flip(axis) if reverse else y


def band_part(x, lower=-1, upper=-1):
    keep = torch.ones(x.shape[-2:], dtype=torch.bool)
    keep = keep if lower < 0 else keep.triu(-lower)
    keep = keep if upper < 0 else keep.tril(upper)
    return x.masked_fill(~keep, 0)


# Shapes.

def reshape(x, shape):
    return x.reshape([n or x.shape[i] for i, n in enumerate(shape)])


def expand_dims(x, axes):
    for axis in sorted(axis % (x.dim() + len(axes)) for axis in axes):
        x = x.unsqueeze(axis)
    return x


def squeeze(x, axes=None):
    if axes is None:
        return x.squeeze()
    for axis in sorted(axes_of(x, axes), reverse=True):
        x = x.squeeze(axis)
    return x


def pad(x, pad, mode="constant", constant_val=0.0):
    pairs = [pad[i:i + 2] for i in range(0, len(pad), 2)]
    if mode == "constant":
        return pad_spatial(x, pairs, constant_val)
    for axis, (before, after) in enumerate(pairs, x.dim() - len(pairs)):
        last = x.shape[axis] - 1
        positions = range(-before, last + after + 1)
        if mode == "reflect":
            x = take(x, axis, [last - abs(last - abs(i)) for i in positions])
        else:
            x = take(x, axis, [min(max(i, 0), last) for i in positions])
    return x


def reverse_sequence(x, lengths, seq_axis=0, batch_axis=0):
    y = x.movedim([batch_axis, seq_axis], [0, 1])
    rows = [torch.cat([row[:n].flip(0), row[n:]])
            for row, n in zip(y, lengths.tolist())]
    return torch.stack(rows).movedim([0, 1], [batch_axis, seq_axis])


def concat(*values, axis, interleave=False):
    if not interleave:
        return torch.cat(values, axis)
    axis %= values[0].dim()
    return torch.stack(values, axis + 1).flatten(axis, axis + 1)


def split(x, axis, num_splits=None, split_sizes=None):
    return x.split(split_sizes or x.shape[axis] // num_splits, axis)


def slice_by_size(x, computed=None, begin=None, size=None):
    begin = begin if computed is None else computed.tolist()
    for axis, (first, count) in enumerate(zip(begin, size)):
        extent = x.shape[axis]
        first += extent if first < 0 else 0
        count = extent - first if count == -1 else count
        first = min(max(first, 0), extent - count)
        x = x.narrow(axis, first, count)
    return x


def slice_by_index(x, begin, end, stride=None, begin_mask=None, end_mask=None,
                   squeeze_mask=None):
    none = [False] * x.dim()
    removed = squeeze_mask or none
    for axis, extent in enumerate(x.shape):
        if removed[axis]:
            x = take(x, axis, [begin[axis] % extent])
            continue
        bounds = slice(None if (begin_mask or none)[axis] else begin[axis],
                       None if (end_mask or none)[axis] else end[axis],
                       stride[axis] if stride else 1)
        x = take(x, axis, list(range(extent))[bounds])
    return squeeze(x, [axis for axis, gone in enumerate(removed) if gone])


def sliding_windows(x, axis, size, stride=1):
    axis %= x.dim()
    return x.unfold(axis, size, stride).movedim(-1, axis + 1)


def crop(x, crop_height, crop_width):
    (top, bottom), (left, right) = crop_height, crop_width
    return x[..., top:x.shape[-2] - bottom, left:x.shape[-1] - right]


def depth_to_space(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    x = x.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(n, c // (b * b), h * b, w * b)


def space_to_depth(x, block_size):
    n, c, h, w = x.shape
    b = block_size
    x = x.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(n, c * b * b, h // b, w // b)


# Lookups.

def resolve(indices, extent):
    """Negative ones count from the end, and others outside are the nearest."""
    return torch.where(indices < 0, indices + extent, indices).clamp(0, extent - 1)


def gather(x, indices, axis=0, batch_dims=0, validate_indices=False):
    axis %= x.dim()
    if batch_dims:
        return torch.stack([gather(part, at, axis - 1, batch_dims - 1)
                            for part, at in zip(x, indices)])
    y = x.index_select(axis, resolve(indices, x.shape[axis]).flatten())
    return y.reshape(x.shape[:axis] + indices.shape + x.shape[axis + 1:])


def embed(table, indices):
    return gather(table, indices).mT


def gather_along_axis(x, indices, axis=0, validate_indices=False):
    return x.gather(axis, resolve(indices, x.shape[axis]))


def gather_nd(x, indices, batch_dims=0, validate_indices=False):
    if batch_dims:
        return torch.stack([gather_nd(part, at, batch_dims - 1)
                            for part, at in zip(x, indices)])
    return x[tuple(resolve(at, extent)
                   for at, extent in zip(indices.unbind(-1), x.shape))]


def scatter_with(lookup):
    """The op that writes what `lookup` reads."""
    def write(data, indices, updates, mode="add", validate_indices=False, **how):
        numbers = torch.arange(data.numel()).reshape(data.shape)
        at = lookup(numbers, indices, **how).flatten()
        flat, updates = data.flatten(), updates.flatten()
        if mode == "update":
            # The last update of an element counts.
            last = torch.full([data.numel()], -1)
            for i, place in enumerate(at.tolist()):
                last[place] = i
            return torch.where(last < 0, flat, updates[last]).reshape(data.shape)
        if mode not in ("add", "sub"):
            raise Unknown("scatter with mode " + mode)
        updates = updates if mode == "add" else -updates
        return flat.index_add(0, at, updates).reshape(data.shape)
    return write


def one_hot(indices, one_hot_vector_size, axis=-1, on_value=1.0, off_value=0.0):
    # Out of range, all elements are off.
    y = indices[..., None] == torch.arange(one_hot_vector_size)
    return torch.where(y, on_value, off_value).movedim(-1, axis)


# Resizing.

def resize_axis(x, axis, count, mode, linear=True):
    """Reads `count` positions of an axis, at the points that `mode` gives."""
    inputs = x.shape[axis]
    i = torch.arange(count, dtype=Floats.dtype)
    if not linear and mode == "DEFAULT":
        return x.index_select(axis, torch.arange(count) * inputs // count)
    if mode == "UNALIGN_CORNERS":
        points = (i + 0.5) * inputs / count - 0.5
    elif mode == "OFFSET_CORNERS":
        points = (i + 0.5) * max(1, inputs - 1) / count
    elif mode == "DEFAULT":
        points = i * inputs / count
    elif count > 1:
        points = i * (inputs - 1) / (count - 1)
    else:
        points = i + ((inputs - 1) / 2 if mode == "ALIGN_CORNERS" else 0)
    points = points.clamp(0, inputs - 1)
    if not linear:
        return x.index_select(axis, (points + 0.5).floor().long().clamp(max=inputs - 1))
    below = points.floor().long()
    above = (below + 1).clamp(max=inputs - 1)
    part = (points - below).reshape([-1] + [1] * (x.dim() - axis % x.dim() - 1))
    return (x.index_select(axis, below) * (1 - part)
            + x.index_select(axis, above) * part)


def resize_linear(x, height, width, mode):
    corners = {"STRICT_ALIGN_CORNERS": True, "UNALIGN_CORNERS": False}.get(mode)
    if corners is not None and x.dim() == 4:
        return F.interpolate(x, [height, width], mode="bilinear",
                             align_corners=corners)
    return resize_axis(resize_axis(x, -2, height, mode), -1, width, mode)


def resize_bilinear(x, target_size_height=1, target_size_width=1,
                    sampling_mode="DEFAULT"):
    return resize_linear(x, target_size_height, target_size_width, sampling_mode)


def resize_nearest_neighbor(x, target_size_height, target_size_width):
    y = resize_axis(x, -2, target_size_height, "DEFAULT", linear=False)
    return resize_axis(y, -1, target_size_width, "DEFAULT", linear=False)


def upsample_bilinear(x, scale_factor_height=1, scale_factor_width=1,
                      align_corners=True, half_pixel_centers=None):
    half = not align_corners if half_pixel_centers is None else half_pixel_centers
    mode = ("STRICT_ALIGN_CORNERS" if align_corners
            else "UNALIGN_CORNERS" if half else "DEFAULT")
    return resize_linear(x, int(x.shape[-2] * scale_factor_height),
                         int(x.shape[-1] * scale_factor_width), mode)


def upsample_nearest_neighbor(x, scale_factor_height=1, scale_factor_width=1):
    return resize_nearest_neighbor(x, int(x.shape[-2] * scale_factor_height),
                                   int(x.shape[-1] * scale_factor_width))


def resize(x, shape, resized_dims, interpolation_mode="LINEAR",
           sampling_mode="DEFAULT"):
    for axis in range(-resized_dims, 0):
        x = resize_axis(x, axis, shape[axis] or x.shape[axis], sampling_mode,
                        interpolation_mode == "LINEAR")
    return x


MOVEMENT = {
    # Order.
    "argsort": argsort, "topk": topk, "cumsum": cumsum, "cumprod": cumprod,
    "band_part": band_part,
    # Shapes.
    "reshape": reshape, "expand_dims": expand_dims, "squeeze": squeeze,
    "transpose": lambda x, perm: x.permute(perm),
    "flatten2d": lambda x, axis=1: x.reshape(math.prod(x.shape[:axis]), -1),
    "pad": pad, "tile": lambda x, reps: x.repeat(reps),
    "reverse": lambda x, axes=None: x.flip(axes_of(x, axes)),
    "reverse_sequence": reverse_sequence, "concat": concat, "split": split,
    "stack": lambda *values, axis: torch.stack(values, axis),
    "sliding_windows": sliding_windows, "slice_by_size": slice_by_size,
    "slice_by_index": slice_by_index, "crop": crop,
    "depth_to_space": depth_to_space, "space_to_depth": space_to_depth,
    "pixel_shuffle": lambda x, upscale_factor: F.pixel_shuffle(x, upscale_factor),
    "pixel_unshuffle":
        lambda x, downscale_factor: F.pixel_unshuffle(x, downscale_factor),
    # Lookups.
    "gather": gather, "embed": embed, "gather_along_axis": gather_along_axis,
    "gather_nd": gather_nd, "scatter": scatter_with(gather),
    "scatter_along_axis": scatter_with(gather_along_axis),
    "scatter_nd": scatter_with(gather_nd), "one_hot": one_hot,
    # Resizing.
    "resize_bilinear": resize_bilinear, "resize": resize,
    "resize_nearest_neighbor": resize_nearest_neighbor,
    "upsample_bilinear": upsample_bilinear,
    "upsample_nearest_neighbor": upsample_nearest_neighbor,
}
