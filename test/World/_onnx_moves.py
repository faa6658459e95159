"""Nodes that move elements; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of

def anything(r, low=1, high=4, most=6):
    shape = r.shape(low, high, most)
    kind = r.pick(["f", "f", "i", "b"])
    return (r.floats(shape) if kind == "f" else r.ints(shape, r.pick([np.int32, np.int64]))
            if kind == "i" else r.bools(shape))


@of("Shape", "Size")
def shape_of(r, op, v):
    x = anything(r)
    if op == "Size":
        return Case([x])
    return Case([x], r.some(start=r.int(-3, 2), end=r.int(-2, 4)))


@of("Flatten")
def flatten(r, op, v):
    x = anything(r) if v >= 9 else r.floats(r.shape())
    return Case([x], r.some(axis=r.int(0 if v < 11 else -x.ndim, x.ndim)))


@of("Reshape")
def reshape(r, op, v):
    x = anything(r)
    shape = list(x.shape)
    r.random.shuffle(shape)
    if len(shape) > 1 and r.chance(0.4):
        shape[:2] = [shape[0] * shape[1]]
    shape = [int(n) for n in shape]
    if r.chance(0.4):
        shape[r.int(0, len(shape) - 1)] = -1
    attributes = {}
    if v >= 14 and r.chance(0.3):
        attributes["allowzero"] = r.int(0, 1)
    if not attributes.get("allowzero") and -1 not in shape and shape[0] == x.shape[0]:
        shape[0] = 0
    return Case([x, np.array(shape, np.int64)], attributes)


@of("Transpose")
def transpose(r, op, v):
    x = anything(r)
    return Case([x], r.some(perm=[int(i) for i in r.random.permutation(x.ndim)]))


@of("Squeeze", "Unsqueeze")
def squeeze(r, op, v):
    x = anything(r, 1, 3)
    if op == "Squeeze":
        ones = sorted({r.int(0, x.ndim) for _ in range(r.int(1, 2))})
        for axis in ones:
            x = np.expand_dims(x, axis)
        axes = [a - x.ndim if v >= 11 and r.chance(0.3) else a for a in ones]
        optional = r.chance(0.3)
    else:
        count = r.int(1, 2)
        axes = [int(a) for a in r.random.permutation(x.ndim + count)[:count]]
        if v >= 11 and r.chance(0.3):
            axes = [a - x.ndim - count for a in axes]
        optional = False
    if v < 13:
        return Case([x], {} if optional else {"axes": axes})
    return Case([x] + ([] if optional else [np.array(axes, np.int64)]))


@of("Concat")
def concat(r, op, v):
    shape = r.shape()
    axis = r.int(0, len(shape) - 1)
    parts = []
    dtype = r.pick([np.float32, np.float16, np.int64, np.bool_])
    for _ in range(r.int(1, 3)):
        own = list(shape)
        own[axis] = r.int(1, 4)
        parts.append((r.floats(own, np.float32) * 4).astype(dtype))
    return Case(parts, {"axis": axis - len(shape) if v >= 11 and r.chance(0.3) else axis})


@of("Split")
def split(r, op, v):
    shape = r.shape(1, 3)
    axis = r.int(0, len(shape) - 1)
    count = r.int(1, 3)
    even = r.chance(0.5)
    sizes = [r.int(1, 4)] * count if even else [r.int(1, 4) for _ in range(count)]
    shape[axis] = sum(sizes)
    attributes = r.some(axis=axis) if axis == 0 else {"axis": axis}
    x = r.floats(shape)
    if v >= 18 and r.chance(0.4):
        shape[axis] = r.int(count * 2, 9)
        return Case([r.floats(shape)], {**attributes, "num_outputs": count}, count)
    if v < 13:
        return Case([x], attributes if even and r.chance(0.5)
                    else {**attributes, "split": sizes}, count)
    if even and r.chance(0.5):
        return Case([x], {**attributes, **({"num_outputs": count} if v >= 18 else {})}, count)
    return Case([x, np.array(sizes, np.int64)], attributes, count)


@of("Slice")
def slice_of(r, op, v):
    x = anything(r, 1, 4, 8) if v >= 10 else r.floats(r.shape(1, 4, 8))
    axes = [int(a) for a in r.random.permutation(x.ndim)[:r.int(1, x.ndim)]]
    starts, ends, steps = [], [], []
    for axis in axes:
        extent = x.shape[axis]
        first = r.int(0, extent - 1)
        last = r.int(first + 1, extent + 2)
        step = r.int(1, 3)
        if v >= 10 and r.chance(0.3):
            first, last, step = extent - 1 - r.int(0, extent - 1), -extent - 1, -step
        elif r.chance(0.3):
            first -= extent
        if last > extent and r.chance(0.5):
            last = 2**62 if v >= 10 else 2**31 - 1
        starts.append(first)
        ends.append(last)
        steps.append(step)
    if v < 10:
        return Case([x], {"starts": starts, "ends": ends, "axes": axes})
    lists = [np.array(values, np.int64) for values in (starts, ends, axes, steps)]
    if axes == list(range(len(axes))) and r.chance(0.3):
        lists[2] = None
    elif r.chance(0.3):
        lists[2] = np.array([a - x.ndim for a in axes], np.int64)
    if r.chance(0.3) and steps == [1] * len(steps):
        lists.pop()
    return Case([x] + lists)


@of("Pad")
def pad(r, op, v):
    x = r.floats(r.shape(1, 4, 6))
    modes = ["constant", "reflect", "edge"] + (["wrap"] if v >= 19 else [])
    mode = r.pick(modes)
    axes = list(range(x.ndim))
    if v >= 18 and r.chance(0.5):
        axes = [int(a) for a in r.random.permutation(x.ndim)[:r.int(1, x.ndim)]]
    low = -1 if mode == "constant" and min(x.shape) > 2 else 0
    most = [x.shape[a] - 1 if mode in ("reflect", "wrap") else 3 for a in axes]
    pads = [r.int(low, n) for n in most] + [r.int(low, n) for n in most]
    attributes = r.some(mode=mode) if mode == "constant" else {"mode": mode}
    value = float(r.int(-3, 3))
    if v < 11:
        return Case([x.astype(np.float32)], {**attributes, "pads": pads, **r.some(value=value)})
    inputs = [x, np.array(pads, np.int64)]
    if mode == "constant" and r.chance(0.5):
        inputs.append(np.array(value, x.dtype))
    if axes != list(range(x.ndim)):
        inputs += [None] * (3 - len(inputs))
        inputs.append(np.array([a - x.ndim if r.chance(0.3) else a for a in axes], np.int64))
    return Case(inputs, attributes)


@of("Expand")
def expand(r, op, v):
    shape = r.shape()
    x = r.floats(r.broadcast(shape))
    target = [1 if r.chance(0.2) else n for n in shape]
    return Case([x, np.array(target, np.int64)])


@of("Tile")
def tile(r, op, v):
    x = anything(r, 1, 3)
    return Case([x, np.array([r.int(1, 3) for _ in x.shape], np.int64)])


@of("CenterCropPad")
def center_crop_pad(r, op, v):
    x = r.floats(r.shape(1, 4, 6), np.float32)
    axes = list(range(x.ndim))
    attributes = {}
    if r.chance(0.5):
        axes = [int(a) for a in r.random.permutation(x.ndim)[:r.int(1, x.ndim)]]
        attributes["axes"] = [a - x.ndim if r.chance(0.3) else a for a in axes]
    shape = np.array([r.int(1, 9) for _ in axes], np.int64)
    return Case([x, shape], attributes, fixed=(1,))


@of("DepthToSpace", "SpaceToDepth")
def blocks(r, op, v):
    block = r.int(1, 3)
    n, c, h, w = (r.int(1, 3) for _ in range(4))
    attributes = {"blocksize": block}
    if op == "SpaceToDepth":
        return Case([r.floats([n, c, h * block, w * block], np.float32)], attributes)
    if v >= 11:
        attributes.update(r.some(mode=r.pick(["DCR", "CRD"])))
    return Case([r.floats([n, c * block * block, h, w], np.float32)], attributes)


@of("Trilu")
def trilu(r, op, v):
    x = r.floats(r.shape(2, 4), np.float32)
    inputs = [x] + ([np.array(r.int(-3, 3), np.int64)] if r.chance(0.6) else [])
    return Case(inputs, r.some(upper=r.int(0, 1)))


@of("EyeLike")
def eye_like(r, op, v):
    return Case([r.floats(r.shape(2, 2), np.float32)],
                r.some(k=r.int(-2, 2), dtype=r.pick([1, 6, 7])))


@of("Range")
def range_of(r, op, v):
    dtype = r.pick([np.float32, np.int32, np.int64])
    start, step = r.int(-5, 5), r.pick([1, 2, -1, -3])
    limit = start + step * r.int(1, 5) + r.pick([0, 1])
    return Case([np.array(n, dtype) for n in (start, limit, step)])


@of("OneHot")
def one_hot(r, op, v):
    indices = r.ints(r.shape(1, 3), np.int64, -4, 3)
    values = r.pick([np.array([0, 1], np.float32), np.array([2, 5], np.int64)])
    return Case([indices, np.array(r.pick([4, 5]), np.int64), values],
                r.some(axis=r.int(-indices.ndim - 1, indices.ndim)))


@of("ConstantOfShape")
def constant_of_shape(r, op, v):
    value = r.pick([np.array([2.5], np.float32), np.array([3], np.int64),
                    np.array([True]), np.array([7], np.int32)])
    return Case([np.array(r.shape(), np.int64)], r.some(value=value))


@of("Constant")
def constant(r, op, v):
    choices = [("value", r.floats(r.shape(), np.float32)), ("value", r.ints(r.shape()))]
    if v >= 12:
        choices += [("value_float", 2.5), ("value_int", 7), ("value_floats", [1.5, 2.0]),
                    ("value_ints", [3, -4])]
    name, value = r.pick(choices)
    return Case([], {name: value})


@of("Dropout")
def dropout(r, op, v):
    x = r.floats(r.shape())
    if v < 12:
        return Case([x], r.some(ratio=0.3, is_test=1))  # the mask is not defined
    inputs = [x]
    if r.chance(0.5):
        inputs.append(np.array(0.3, np.float32))
        if r.chance(0.5):
            inputs.append(np.array(False))
    return Case(inputs, r.some(seed=3), r.int(1, 2))


# Indices.

@of("Gather")
def gather(r, op, v):
    x = anything(r)
    axis = r.axis(x.ndim)
    extent = x.shape[axis]
    indices = r.ints(r.shape(0, 2), r.pick([np.int32, np.int64]),
                     -extent if v >= 11 else 0, extent - 1)
    return Case([x, indices], {"axis": axis} if axis else r.some(axis=0))


@of("GatherElements")
def gather_elements(r, op, v):
    x = r.floats(r.shape())
    axis = r.axis(x.ndim)
    shape = [r.int(1, n) for n in x.shape]
    shape[axis] = r.int(1, 5)
    extent = x.shape[axis]
    return Case([x, r.ints(shape, np.int64, -extent, extent - 1)], {"axis": axis})


@of("GatherND")
def gather_nd(r, op, v):
    x = r.floats(r.shape(2, 4))
    batch = r.int(0, 1) if v >= 12 else 0
    depth = r.int(1, x.ndim - batch)
    lead = list(x.shape[:batch]) + r.shape(0, 2, 3)
    rows = np.stack([r.ints(lead, np.int64, -x.shape[batch + i], x.shape[batch + i] - 1)
                     for i in range(depth)], -1)
    return Case([x, rows], {"batch_dims": batch} if batch else r.some(batch_dims=0))


@of("Scatter", "ScatterElements")
def scatter_elements(r, op, v):
    x = r.floats(r.shape(), np.float32)
    axis = r.int(0, x.ndim - 1)
    shape = [r.int(1, n) for n in x.shape]
    rows = np.stack([r.random.permutation(x.shape[axis])[:shape[axis]]
                     for _ in range(int(np.prod(shape)) // shape[axis])])
    lead = [n for i, n in enumerate(shape) if i != axis]
    indices = np.moveaxis(rows.reshape(lead + [shape[axis]]), -1, axis).astype(np.int64)
    if v >= 11 and r.chance(0.4):
        indices = np.where(r.bools(shape), indices, indices - x.shape[axis])
    attributes = {"axis": axis}
    if v >= 16:
        attributes.update(r.some(reduction=r.pick(
            ["none", "add", "mul"] + (["max", "min"] if v >= 18 else []))))
    return Case([x, indices, r.floats(shape, np.float32)], attributes)


@of("ScatterND")
def scatter_nd(r, op, v):
    x = r.floats(r.shape(1, 3), np.float32)
    depth = r.int(1, x.ndim)
    count = r.int(1, int(np.prod(x.shape[:depth])))
    flat = r.random.permutation(int(np.prod(x.shape[:depth])))[:count]
    rows = np.stack(np.unravel_index(flat, x.shape[:depth]), -1).astype(np.int64)
    attributes = {}
    if v >= 16:
        attributes = r.some(reduction=r.pick(
            ["none", "add", "mul"] + (["max", "min"] if v >= 18 else [])))
    return Case([x, rows, r.floats([count] + list(x.shape[depth:]), np.float32)], attributes)


@of("Compress")
def compress(r, op, v):
    x = r.floats(r.shape())
    axis = r.int(0, x.ndim - 1)
    flat = r.chance(0.4)
    extent = x.size if flat else x.shape[axis]
    condition = r.bools([r.int(1, extent)])
    condition[0] = True
    return Case([x, condition], {} if flat else {"axis": axis})


@of("NonZero")
def non_zero(r, op, v):
    x = np.round(r.floats(r.shape(), np.float32))
    x.reshape(-1)[0] = 1
    return Case([x])


@of("TfIdfVectorizer")
def count_words(r, op, v):
    ids, lengths = [r.int(1, 3), r.int(3, 12)], r.int(1, 3)
    pool, begins, count = [], [], 0
    for length in range(1, lengths + 1):
        begins.append(len(pool))
        grams = {tuple(r.ints([length], low=0, high=3).tolist()) for _ in range(r.int(1, 4))}
        pool += [word for gram in sorted(grams) for word in gram]
        count += len(grams)
    least = r.int(1, lengths)
    mode = r.pick(["TF", "IDF", "TFIDF"])
    weighted = mode != "TF" and r.chance(0.5)
    places = r.random.permutation(count)
    if not weighted and r.chance(0.5):
        places = places + r.int(0, 2)
    return Case([r.ints(ids if r.chance(0.6) else ids[1:], r.pick([np.int32, np.int64]), 0, 3)],
                {"mode": mode, "pool_int64s": pool, "ngram_counts": begins,
                 "ngram_indexes": places.tolist(), "min_gram_length": least,
                 "max_gram_length": r.int(least, lengths), "max_skip_count": r.int(0, 3),
                 **({"weights": r.floats([count], np.float32).tolist()} if weighted else {})})


@of("Unique")
def unique(r, op, v):
    x = np.round(r.floats(r.shape(1, 3), np.float32))
    return Case([x], {**r.some(sorted=r.int(0, 1)),
                      **(r.some(axis=r.axis(x.ndim)))}, r.int(1, 4))


@of("TopK")
def top_k(r, op, v):
    x = r.floats(r.shape(), np.float32)
    if r.chance(0.5):
        x = np.round(x)
    axis = r.axis(x.ndim) if v >= 11 else r.int(0, x.ndim - 1)
    k = r.int(1, x.shape[axis])
    attributes = {"axis": axis}
    if v < 10:
        return Case([x], {**attributes, "k": k}, 2)
    if v >= 11:
        attributes.update(r.some(largest=r.int(0, 1), sorted=1))
    return Case([x, np.array([k], np.int64)], attributes, 2)


@of("ArgMax", "ArgMin")
def arg(r, op, v):
    x = r.floats(r.shape(), np.float32)
    if r.chance(0.5):
        x = np.round(x)
    attributes = r.some(axis=r.axis(x.ndim) if v >= 11 else r.int(0, x.ndim - 1),
                        keepdims=r.int(0, 1))
    if v >= 12:
        attributes.update(r.some(select_last_index=r.int(0, 1)))
    return Case([x], attributes)


@of("CumSum")
def cum_sum(r, op, v):
    x = r.floats(r.shape(), np.float32)
    return Case([x, np.array(r.axis(x.ndim), np.int32)],
                r.some(exclusive=r.int(0, 1), reverse=r.int(0, 1)))


@of("ReverseSequence")
def reverse_sequence(r, op, v):
    x = r.floats([r.int(1, 5), r.int(1, 5)] + r.shape(0, 2), np.float32)
    time = r.int(0, 1)
    lengths = r.ints([x.shape[1 - time]], np.int64, 1, x.shape[time])
    return Case([x, lengths], {"time_axis": time, "batch_axis": 1 - time})
