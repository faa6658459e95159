"""Cases of MIL's layers; see _mil_draw.py."""
import numpy as np

from _mil_draw import Case, F, case, of, torch


# Products.

@of("matmul")
def matmul(r, op):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    lead = r.shape(0, 2, 3)
    tx, ty = r.chance(0.3), r.chance(0.3)
    return case({"x": r.floats(lead + ([k, m] if tx else [m, k]), F),
                 "y": r.floats(lead + ([n, k] if ty else [k, n]), F)},
                transpose_x=tx, transpose_y=ty)


@of("linear")
def linear(r, op):
    k, n = r.int(1, 4), r.int(1, 4)
    return case({"x": r.floats([r.int(1, 3), k], F)}, weight=r.floats([n, k], F),
                **r.some(bias=r.floats([n], F)))


@of("einsum")
def einsum(r, op):
    b, c, h, w, n = (r.int(1, 3) for _ in range(5))
    inputs = {"a": r.floats([b, c, h, w], F), "b": r.floats([b, w, h, n], F)}
    equation = "nchw,nwhu->nchu"
    return Case(inputs, lambda own: {"values": [own["a"], own["b"]], "equation": equation},
                lambda a, b: np.einsum(equation, a, b))


@of("scaled_dot_product_attention")
def attention(r, op):
    b, s, t, e = r.int(1, 2), r.int(1, 4), r.int(1, 4), r.int(1, 4)
    inputs = {"query": r.floats([b, s, e], F), "key": r.floats([b, t, e], F),
              "value": r.floats([b, t, e], F)}
    if r.chance(0.5):
        inputs["attn_mask"] = r.floats([b, s, t], F)
    return case(inputs, torch(
        lambda t, query, key, value, attn_mask=None:
        t.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask)))


# Windows.

def window(r, spatial):
    kernel = [r.int(1, 3) for _ in range(spatial)]
    strides = [r.int(1, 3) for _ in range(spatial)]
    pads = [r.int(0, k - 1) for k in kernel]
    return kernel, strides, pads


@of("conv")
def conv(r, op):
    spatial = r.int(1, 3)
    kernel, strides, pads = window(r, spatial)
    groups, dilations = r.int(1, 2), [r.int(1, 2) for _ in kernel]
    x = r.floats([1, 2 * groups] + [r.int(6, 8) for _ in kernel], F)
    w = r.floats([groups * r.int(1, 2), 2] + kernel, F)
    bias = r.floats([w.shape[0]], F)

    def right(t, x):
        function = getattr(t.nn.functional, f"conv{spatial}d")
        return function(x, t.tensor(w), t.tensor(bias), strides, pads, dilations, groups)
    return case({"x": x}, torch(right), weight=w, bias=bias, strides=strides, pad_type="custom",
                pad=[p for p in pads for _ in "ab"], dilations=dilations, groups=groups)


@of("conv_transpose")
def conv_transpose(r, op):
    spatial = r.int(1, 2)
    kernel, strides, pads = window(r, spatial)
    groups = r.int(1, 2)
    x = r.floats([1, 2 * groups] + [r.int(3, 5) for _ in kernel], F)
    w = r.floats([2 * groups, r.int(1, 2)] + kernel, F)

    def right(t, x):
        function = getattr(t.nn.functional, f"conv_transpose{spatial}d")
        return function(x, t.tensor(w), None, strides, pads, 0, groups)
    return case({"x": x}, torch(right), weight=w, strides=strides, pad_type="custom",
                pad=[p for p in pads for _ in "ab"], groups=groups)


@of("avg_pool", "max_pool", "l2_pool")
def pool(r, op):
    spatial = r.int(1, 2)
    kernel = [r.int(1, 3) for _ in range(spatial)]
    strides = [r.int(1, k) for k in kernel]  # no window lies outside
    pads = [r.int(0, k // 2) for k in kernel]
    ceil = r.chance(0.4)
    if op == "l2_pool":
        pads = [0] * spatial
    x = r.floats([1, 2] + [r.int(4, 8) for _ in kernel], F)
    exclude = r.chance(0.5)

    def right(t, x):
        f = t.nn.functional
        if op == "max_pool":
            return getattr(f, f"max_pool{spatial}d")(x, kernel, strides, pads, 1, ceil)
        if op == "l2_pool":
            return getattr(f, f"lp_pool{spatial}d")(x, 2.0, kernel, strides, ceil)
        return getattr(f, f"avg_pool{spatial}d")(x, kernel, strides, pads, ceil, not exclude)
    if op == "l2_pool":
        ceil = False
    return case({"x": x}, torch(right), kernel_sizes=kernel, strides=strides, pad_type="custom",
                pad=[p for p in pads for _ in "ab"], ceil_mode=ceil,
                **({"exclude_padding_from_average": exclude} if op == "avg_pool" else {}))


# Normalizations.

@of("batch_norm")
def batch_norm(r, op):
    x = r.floats(r.shape(3, 5, 4), F)
    c = x.shape[1]
    mean, variance = r.floats([c], F), r.floats([c], F, 0.2, 2)
    gamma, beta = r.floats([c], F), r.floats([c], F)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.batch_norm(
        x, *map(t.tensor, (mean, variance, gamma, beta)), False, 0.1, 1e-3)),
        mean=mean, variance=variance, gamma=gamma, beta=beta, epsilon=F(1e-3))


@of("instance_norm")
def instance_norm(r, op):
    x = r.floats([2, r.int(1, 3)] + [r.int(2, 4) for _ in range(r.int(1, 2))], F)
    gamma, beta = r.floats([x.shape[1]], F), r.floats([x.shape[1]], F)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.instance_norm(
        x, None, None, t.tensor(gamma), t.tensor(beta), True, 0.1, 1e-3)),
        gamma=gamma, beta=beta, epsilon=F(1e-3))


@of("layer_norm")
def layer_norm(r, op):
    x = r.floats(r.shape(2, 4), F)
    n = x.shape[-1:]
    gamma, beta = r.floats(n, F), r.floats(n, F)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.layer_norm(
        x, n, t.tensor(gamma), t.tensor(beta), 1e-3)), axes=[-1], gamma=gamma, beta=beta,
        epsilon=F(1e-3))


@of("l2_norm")
def l2_norm(r, op):
    return case({"x": r.floats(r.shape(3, 4), F)})


@of("local_response_norm")
def local_response_norm(r, op):
    size = r.pick([3, 5])
    return case({"x": r.floats([1, 6, 3, 3], F)}, torch(
        lambda t, x: t.nn.functional.local_response_norm(x, size, 0.01, 0.5, 2.0)),
        size=size, alpha=F(0.01), beta=F(0.5), k=F(2))


# Recurrent layers.

@of("rnn", "lstm", "gru")
def recurrent(r, op):
    steps, batch, width, hidden = r.int(1, 4), r.int(1, 2), r.int(1, 3), r.int(1, 3)
    gates = {"rnn": 1, "lstm": 4, "gru": 3}[op]
    x, h, c = (r.floats(s, F) for s in
               ([steps, batch, width], [batch, hidden], [batch, hidden]))
    wi, wh = r.floats([gates * hidden, width], F), r.floats([gates * hidden, hidden], F)
    bias = r.floats([gates * hidden], F)

    def order(t, w):
        """PyTorch's i f g o and r z n from MIL's i f o g and r o z."""
        parts = np.split(w, gates)
        return t.tensor(np.concatenate([parts[i] for i in
                                        {1: [0], 4: [0, 1, 3, 2], 3: [0, 1, 2]}[gates]]))

    def right(t, x, initial_h, initial_c=None):
        layer = {"rnn": t.nn.RNN, "lstm": t.nn.LSTM, "gru": t.nn.GRU}[op](width, hidden)
        state = initial_h[None] if op != "lstm" else (initial_h[None], initial_c[None])
        with t.no_grad():
            for name, w in (("weight_ih_l0", wi), ("weight_hh_l0", wh), ("bias_ih_l0", bias),
                            ("bias_hh_l0", np.zeros_like(bias))):
                getattr(layer, name).copy_(order(t, w))
            out, last = layer(x, state)
        return [out] + ([last[0]] if op != "lstm" else [last[0][0], last[1][0]])
    if op == "gru":
        return case({"x": x, "initial_h": h}, gru_right(wi, wh, bias, hidden), weight_ih=wi,
                    weight_hh=wh, bias=bias, output_sequence=True)
    inputs = {"x": x, "initial_h": h, **({"initial_c": c} if op == "lstm" else {})}
    return case(inputs, torch(right), weight_ih=wi, weight_hh=wh, bias=bias,
                output_sequence=True)


def gru_right(wi, wh, bias, hidden):
    """As coremltools documents the op: the gates are r, o, z, and the reset gate is
    applied to the state before its product."""
    def right(x, initial_h):
        sigmoid = lambda v: 1 / (1 + np.exp(-v))
        (wr, wo, wz), (ur, uo, uz) = np.split(wi, 3), np.split(wh, 3)
        br, bo, bz = np.split(bias, 3)
        h, out = initial_h.astype(np.float64), []
        for step in x.astype(np.float64):
            reset = sigmoid(step @ wr.T + h @ ur.T + br)
            update = sigmoid(step @ wz.T + h @ uz.T + bz)
            new = np.tanh(step @ wo.T + (reset * h) @ uo.T + bo)
            h = update * h + (1 - update) * new
            out.append(h)
        return [np.array(out, F), h.astype(F)]
    return right


# Images.

@of("upsample_nearest_neighbor", "upsample_bilinear")
def upsample(r, op):
    x = r.floats([1, 2, r.int(2, 4), r.int(2, 4)], F)
    h, w = r.int(1, 3), r.int(1, 3)
    if op == "upsample_nearest_neighbor":
        return case({"x": x}, lambda x: x.repeat(h, 2).repeat(w, 3),
                    scale_factor_height=h, scale_factor_width=w)
    align = r.chance(0.5)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.interpolate(
        x, scale_factor=(h, w), mode="bilinear", align_corners=align)),
        scale_factor_height=h, scale_factor_width=w, align_corners=align)


@of("resize_nearest_neighbor", "resize_bilinear")
def resize_to(r, op):
    x = r.floats([1, 2, r.int(2, 4), r.int(2, 4)], F)
    size = (x.shape[2] * r.int(1, 3), x.shape[3] * r.int(1, 3))
    if op == "resize_nearest_neighbor":
        return case({"x": x}, torch(lambda t, x: t.nn.functional.interpolate(x, size)),
                    target_size_height=size[0], target_size_width=size[1])
    strict = r.chance(0.5)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.interpolate(
        x, size, mode="bilinear", align_corners=strict)),
        target_size_height=size[0], target_size_width=size[1],
        sampling_mode="STRICT_ALIGN_CORNERS" if strict else "UNALIGN_CORNERS")


@of("resize")
def resize(r, op):
    x = r.floats([1, 2, r.int(2, 4), r.int(2, 4)], F)
    size = (r.int(2, 8), r.int(2, 8))
    strict = r.chance(0.5)
    return case({"x": x}, torch(lambda t, x: t.nn.functional.interpolate(
        x, size, mode="bilinear", align_corners=strict)),
        shape=list(size), resized_dims=np.uint32(2), interpolation_mode="LINEAR",
        sampling_mode="STRICT_ALIGN_CORNERS" if strict else "UNALIGN_CORNERS")


@of("resample")
def resample(r, op):
    x = r.floats([1, 2, 4, 5], F)
    points = r.floats([1, 3, 2, 2], F, -1.2, 1.2)
    align, nearest, border = r.chance(0.5), r.chance(0.3), r.chance(0.5)
    return case({"x": x, "coordinates": points}, torch(
        lambda t, x, coordinates: t.nn.functional.grid_sample(
            x, coordinates, "nearest" if nearest else "bilinear",
            "border" if border else "zeros", align)),
        sampling_mode="nearest" if nearest else "bilinear",
        padding_mode="border" if border else "constant", padding_value=F(0),
        coordinates_mode="normalized_minus_one_to_one", align_corners=align)


@of("affine")
def affine(r, op):
    x = r.floats([1, 2, 4, 5], F)
    theta = r.floats([1, 6], F, -1, 1)
    align = r.chance(0.5)

    def right(t, x, transform_matrix):
        grid = t.nn.functional.affine_grid(transform_matrix.reshape(1, 2, 3), [1, 2, 3, 4], align)
        return t.nn.functional.grid_sample(x, grid, "bilinear", "zeros", align)
    return case({"x": x, "transform_matrix": theta}, torch(right), output_height=3,
                output_width=4, sampling_mode="bilinear", padding_mode="constant",
                padding_value=F(0), coordinates_mode="normalized_minus_one_to_one",
                align_corners=align)


@of("crop_resize")
def crop_resize(r, op):
    """Boxes of whole pixels, each of which is read as it is."""
    x = r.floats([1, 2, 6, 7], F)
    top, left = r.int(0, 2), r.int(0, 2)
    boxes = np.array([0, top, left, top + 2, left + 3], F).reshape(1, 1, 5, 1, 1)
    common = {"target_height": 3, "target_width": 4, "normalized_coordinates": False,
              "spatial_scale": F(1), "box_coordinate_mode": "CORNERS_HEIGHT_FIRST",
              "sampling_mode": "STRICT_ALIGN_CORNERS"}
    whole = x[:, :, top:top + 3, left:left + 4]

    def right(x):
        return whole[None]
    old = Case({"x": x}, lambda own: {"x": own["x"], "roi": boxes, **common}, right)
    new = {"boxes": boxes.reshape(1, 5)[:, 1:], "box_indices": np.array([0], np.int32)}
    old.others = (lambda own: {"x": own["x"], **new, **common}, lambda x: whole)
    return old


def kept_boxes(boxes, scores, most_overlap, least_score, most, per_class):
    """Indices of the boxes of one image that torchvision keeps, the best first, by the
    rules of coremltools' own test of the operator."""
    import torch
    import torchvision
    best, labels = scores.max(-1), scores.argmax(-1)
    half = boxes[:, 2:] / 2
    corners = torch.from_numpy(np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], -1))
    kept = []
    for label in set(labels.tolist()) if per_class else {None}:
        own = np.flatnonzero((best >= least_score) & (label is None or labels == label))
        order = torchvision.ops.nms(corners[own], torch.from_numpy(best[own]), most_overlap)
        kept += own[order.numpy()].tolist()
    kept.sort(key=lambda box: -best[box])
    return kept[:most] or [int(best.argmax())]


@of("non_maximum_suppression")
def suppression(r, op):
    images, count, classes, most = r.int(1, 2), r.int(1, 9), r.int(1, 3), r.int(1, 12)
    dtype = np.float16 if r.chance(0.3) else F
    # Multiples of 1/8, so that no overlap is close to a limit; scores all differ.
    boxes = (r.random.integers(0, 32, (images, count, 4)) / 8).astype(dtype)
    scores = r.random.permutation(images * count * classes).reshape(images, count, classes)
    scores = (scores / scores.size).astype(dtype)
    per_class = r.chance(0.5)
    common = {"iou_threshold": dtype(r.pick([0.123, 0.456, 0.789])), "max_boxes": most,
              "per_class_suppression": per_class}
    least = dtype(r.pick([-1, 0.3, 0.7, 2]))

    def results(boxes, scores, least):
        found = [np.zeros((images, most, 4), dtype), np.zeros((images, most, classes), dtype),
                 np.full((images, most), -1, np.int32), np.zeros(images, np.int32)]
        for image in range(images):
            kept = kept_boxes(boxes[image].astype(F), scores[image].astype(F),
                              float(common["iou_threshold"]), least, most, per_class)
            for array, rows in zip(found, (boxes[image][kept], scores[image][kept], kept)):
                array[image, :len(kept)] = rows
            found[3][image] = len(kept)
        return found

    def turned(own):
        from coremltools.converters.mil import Builder
        return {name: Builder.transpose(x=x, perm=[0, 2, 1]) for name, x in own.items()}

    def columns(boxes, scores):
        kept, confidences, indices, _ = results(boxes, scores, -np.inf)
        return [kept.transpose(0, 2, 1), confidences.transpose(0, 2, 1), indices]
    old = Case({"boxes": boxes, "scores": scores},
               lambda own: {**own, **common, "score_threshold": least},
               lambda boxes, scores: results(boxes, scores, least))
    old.others = (lambda own: {**turned(own), **common}, columns)
    return old


# Quantized values.

@of("quantize", "dequantize")
def quantize(r, op):
    scale, zero = F(r.random.uniform(0.05, 0.2)), np.int8(r.int(-5, 5))
    x = r.floats(r.shape(), F) * F(3)
    q = np.clip(np.round(x / scale) + F(zero), -128, 127)
    if op == "quantize":
        return case({"input": x}, lambda input: q, scale=scale, zero_point=zero,
                    output_dtype="int8")
    stored = q.astype(np.int8)
    return Case({"x": r.floats([1], F)}, lambda own: {"input": stored, "scale": scale,
                                                     "zero_point": zero},
                lambda x: (stored.astype(F) - F(zero)) * scale)


def constant(arguments, right, *others):
    """An operator without inputs, beside one that the model needs."""
    result = lambda x: right
    return Case({"x": np.ones([1], F)}, lambda own: arguments, result,
                (lambda own: others[0], result) if others else ())


@of("constexpr_affine_dequantize")
def affine_dequantize(r, op):
    data = r.ints([4, 3], np.int8, -100, 100)
    scale, zero = r.floats([4], F, 0.01, 0.1), r.ints([4], np.int8, -5, 5)
    return constant({"quantized_data": data, "zero_point": zero, "scale": scale, "axis": 0},
                    (data.astype(F) - zero[:, None]) * scale[:, None])


@of("constexpr_blockwise_shift_scale")
def blockwise_shift_scale(r, op):
    data = r.ints([4, 6], np.int8, -100, 100)
    scale = r.floats([2, 3], F, 0.01, 0.1)
    return constant({"data": data, "scale": scale},
                    data.astype(F) * scale.repeat(2, 0).repeat(2, 1))


@of("constexpr_cast")
def constexpr_cast(r, op):
    x = r.floats([3, 2], np.float16)
    return constant({"source_val": x, "output_dtype": "fp32"}, x.astype(F))


@of("constexpr_sparse_to_dense")
def sparse_to_dense(r, op):
    dense = np.where(r.bools([4, 4]), r.floats([4, 4], F, 1, 2), F(0)).astype(F)
    dense[0, 0] = 1
    bits = np.packbits((dense != 0).reshape(-1), bitorder="little")
    old = {"nonzero_data": dense[dense != 0], "mask": bits, "shape": np.array([4, 4], np.uint32)}
    new = {"nonzero_data": dense[dense != 0],
           "mask": (dense != 0).astype(types().np_uint1_dtype)}
    return constant(old, dense, new)


def types():
    from coremltools.converters.mil.mil import types as found
    return found


@of("constexpr_lut_to_dense")
def lut_to_dense(r, op):
    lut = r.floats([4], F)
    indices = r.ints([3, 4], np.uint8, 0, 3).reshape(-1)
    bits = np.unpackbits(indices[:, None], 1, bitorder="little")[:, :2].reshape(-1)
    old = {"indices": np.packbits(bits, bitorder="little"), "lut": lut,
           "shape": np.array([3, 4], np.uint32)}
    new = {"indices": indices.reshape(3, 4).astype(types().np_uint2_dtype),
           "lut": lut.reshape(1, 1, 4, 1)}
    return constant(old, lut[indices].reshape(3, 4), new)


def densely(results):
    from coremltools.converters.mil import Builder as mb
    mask, data = results
    return mb.constexpr_sparse_to_dense(nonzero_data=data, mask=mask)


@of("constexpr_lut_to_sparse")
def lut_to_sparse(r, op):
    mask, lut = r.bools([3, 4]), r.floats([4], F)
    mask[0, 0] = True
    indices = r.ints([int(mask.sum())], np.uint8, 0, 3)
    dense = np.zeros([3, 4], F)
    dense[mask] = lut[indices]
    made = constant({"indices_mask": mask.astype(types().np_uint1_dtype),
                     "indices_nonzero_data": indices.astype(types().np_uint2_dtype),
                     "lut": lut.reshape(1, 1, 4, 1)}, dense)
    made.then = densely
    return made


@of("constexpr_sparse_blockwise_shift_scale")
def sparse_shift_scale(r, op):
    mask = r.bools([4, 4])
    mask[0, 0] = True
    data = r.ints([int(mask.sum())], np.int8, -100, 100)
    scale = r.floats([2, 1], F, 0.01, 0.1)
    dense = np.zeros([4, 4], F)
    dense[mask] = data
    made = constant({"data_mask": mask.astype(types().np_uint1_dtype), "nonzero_data": data,
                     "scale": scale}, dense * scale.repeat(2, 0))
    made.then = densely
    return made


# Blocks.

@of("depth_to_space", "space_to_depth", "pixel_shuffle", "pixel_unshuffle")
def blocks(r, op):
    b = r.int(2, 3)
    n, c, h, w = r.int(1, 2), r.int(1, 2), r.int(1, 3), r.int(1, 3)
    small, large = [n, c * b * b, h, w], [n, c, h * b, w * b]
    if op == "depth_to_space":
        return case({"x": r.floats(small, F)}, lambda x: x.reshape(n, b, b, c, h, w).transpose(
            0, 3, 4, 1, 5, 2).reshape(large), block_size=b)
    if op == "space_to_depth":
        return case({"x": r.floats(large, F)}, lambda x: x.reshape(n, c, h, b, w, b).transpose(
            0, 3, 5, 1, 2, 4).reshape(small), block_size=b)
    if op == "pixel_shuffle":
        return case({"x": r.floats(small, F)},
                    torch(lambda t, x: t.nn.functional.pixel_shuffle(x, b)), upscale_factor=b)
    return case({"x": r.floats(large, F)},
                torch(lambda t, x: t.nn.functional.pixel_unshuffle(x, b)),
                downscale_factor=np.uint32(b))


@of("space_to_batch", "batch_to_space")
def batches(r, op):
    b = 2
    n, c, h, w = r.int(1, 2), r.int(1, 2), r.int(1, 3), r.int(1, 3)
    whole, parts = [n, c, h * b, w * b], [n * b * b, c, h, w]
    zeros = np.zeros([2, 2], np.int32)
    if op == "space_to_batch":
        return case({"x": r.floats(whole, F)}, lambda x: x.reshape(n, c, h, b, w, b).transpose(
            3, 5, 0, 1, 2, 4).reshape(parts), block_shape=[b, b], paddings=zeros)
    return case({"x": r.floats(parts, F)}, lambda x: x.reshape(b, b, n, c, h, w).transpose(
        2, 3, 4, 0, 5, 1).reshape(whole), block_shape=[b, b], crops=zeros)


@of("sliding_windows")
def sliding_windows(r, op):
    x = r.floats([2, 7], F)
    size, stride = r.int(2, 3), r.int(1, 2)

    def right(x):
        return np.lib.stride_tricks.sliding_window_view(x, size, 1)[:, ::stride]
    return case({"x": x}, right, axis=1, size=size, stride=stride)


@of("crop")
def crop(r, op):
    x = r.floats([1, 2, 6, 7], F)
    a, b, c, d = (r.int(0, 2) for _ in range(4))
    return case({"x": x}, lambda x: x[:, :, a:6 - b, c:7 - d], crop_height=[a, b],
                crop_width=[c, d])
