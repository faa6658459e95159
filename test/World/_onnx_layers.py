"""Layers; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of


# Reductions and normalizations.

@of("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare")
def reduce(r, op, v):
    low, high = (0.1, 2) if op == "ReduceLogSum" else (None, None)
    special = 0 if op == "ReduceLogSum" else 0.3
    x = r.floats(r.shape(0 if v >= 13 else 1), np.float32, low, high, special=special)
    # Whether NaN counts depends on its place in onnxruntime.
    x = np.where(np.isnan(x), np.float32(1), x)
    if r.chance(0.2) and op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceL1"):
        x = r.ints(r.shape(), np.int32)
    axes = [int(a) for a in r.random.permutation(x.ndim)[:r.int(1, max(1, x.ndim))]]
    if v >= 11:
        axes = [a - x.ndim if r.chance(0.3) else a for a in axes]
    attributes = r.some(keepdims=r.int(0, 1))
    if v < (13 if op == "ReduceSum" else 18):
        return Case([x], {**attributes, **(r.some(axes=axes) if axes else {})})
    attributes.update(r.some(noop_with_empty_axes=r.int(0, 1)))
    if r.chance(0.3) or not axes:
        return Case([x], attributes)
    return Case([x, np.array(axes, np.int64)], attributes, fixed=(1,))


@of("Softmax", "LogSoftmax", "Hardmax")
def softmax(r, op, v):
    x = r.floats(r.shape(1, 4), r.float_type() if op != "Hardmax" else np.float32) * 3
    if op != "Hardmax" and r.chance(0.3):
        x.reshape(-1)[r.int(0, x.size - 1)] = -np.inf
    return Case([x], r.some(axis=r.axis(x.ndim) if v >= 11 else r.int(0, x.ndim - 1)))


@of("BatchNormalization")
def batch_norm(r, op, v):
    x = r.floats(r.shape(2, 5, 4), np.float32)
    c = x.shape[1]
    inputs = [x] + [r.floats([c], np.float32) for _ in range(3)]
    inputs.append(r.floats([c], np.float32, 0.1, 2))
    attributes = r.some(epsilon=1e-3, momentum=0.8)
    if v < 7:
        attributes["is_test"] = r.int(0, 1)
    if v < 9:
        attributes.update(r.some(spatial=1))
    outputs = 1
    if v >= 14 and r.chance(0.4):
        attributes["training_mode"], outputs = 1, 3
    return Case(inputs, attributes, outputs)


@of("InstanceNormalization")
def instance_norm(r, op, v):
    x = r.floats(r.shape(3, 5, 4), np.float32)
    c = x.shape[1]
    return Case([x, r.floats([c], np.float32), r.floats([c], np.float32)],
                r.some(epsilon=1e-3))


@of("LayerNormalization")
def layer_norm(r, op, v):
    x = r.floats(r.shape(2, 4), np.float32)
    axis = r.axis(x.ndim)
    shape = x.shape[axis:]
    inputs = [x, r.floats(shape, np.float32)]
    if r.chance(0.5):
        inputs.append(r.floats(shape, np.float32))
    return Case(inputs, {"axis": axis, **r.some(epsilon=1e-3, stash_type=1)},
                r.pick([1, 1, 3]))


@of("GroupNormalization")
def group_norm(r, op, v):
    groups, per = r.int(1, 3), r.int(1, 3)
    x = r.floats([r.int(1, 2), groups * per] + r.shape(1, 2), np.float32)
    count = groups if v < 21 else groups * per
    return Case([x, r.floats([count], np.float32), r.floats([count], np.float32)],
                {"num_groups": groups, **r.some(epsilon=1e-3)})


@of("LpNormalization")
def lp_norm(r, op, v):
    x = r.floats(r.shape(), np.float32)
    return Case([x], r.some(axis=r.axis(x.ndim), p=r.int(1, 2)))


@of("MeanVarianceNormalization")
def mean_variance(r, op, v):
    x = r.floats(r.shape(4, 4), np.float32)
    axes = sorted(int(a) for a in r.random.permutation(4)[:r.int(1, 4)])
    return Case([x], r.some(axes=axes))


@of("LRN")
def lrn(r, op, v):
    x = r.floats(r.shape(4, 4, 7), np.float32)
    return Case([x], {"size": r.pick([1, 3, 5]), **r.some(alpha=0.01, beta=0.5, bias=2.0)})


# Windows.

def windows(r, spatial, dilated=True, kernel_most=3):
    """Attributes, and the least extents of the input."""
    kernel = [r.int(1, kernel_most) for _ in range(spatial)]
    attributes = {"kernel_shape": kernel}
    attributes.update(r.some(strides=[r.int(1, 3) for _ in range(spatial)]))
    dilations = [1] * spatial
    if dilated and r.chance(0.4):
        attributes["dilations"] = dilations = [r.int(1, 2) for _ in range(spatial)]
    way = r.pick(["", "", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if way == "pads":
        attributes["pads"] = [r.int(0, kernel[i % spatial] - 1) for i in range(2 * spatial)]
    elif way:
        attributes["auto_pad"] = way
    return attributes, [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]


@of("Conv")
def conv(r, op, v):
    spatial = r.int(1, 3)
    attributes, least = windows(r, spatial)
    group = r.int(1, 2)
    x = r.floats([r.int(1, 2), group * r.int(1, 2)] + [r.int(n, n + 5) for n in least], np.float32)
    w = r.floats([group * r.int(1, 2), x.shape[1] // group] + attributes["kernel_shape"],
                 np.float32)
    if r.chance(0.5):
        del attributes["kernel_shape"]
    if group > 1 or r.chance(0.3):
        attributes["group"] = group
    inputs = [x, w] + ([r.floats([w.shape[0]], np.float32)] if r.chance(0.5) else [])
    return Case(inputs, attributes)


@of("ConvTranspose")
def conv_transpose(r, op, v):
    spatial = r.int(1, 2)
    attributes, _ = windows(r, spatial)
    kernel = attributes["kernel_shape"]
    group = r.int(1, 2)
    x = r.floats([r.int(1, 2), group * r.int(1, 2)] + [r.int(2, 5) for _ in kernel], np.float32)
    w = r.floats([x.shape[1], r.int(1, 2)] + kernel, np.float32)
    strides = attributes.get("strides", [1] * spatial)
    dilations = attributes.get("dilations", [1] * spatial)
    if group > 1:
        attributes["group"] = group
    if r.chance(0.3):
        attributes["output_padding"] = [r.int(0, s - 1) for s in strides]
    if r.chance(0.4):
        added = attributes.get("output_padding", [0] * spatial)
        whole = [(n - 1) * s + (k - 1) * d + 1 + a for n, s, k, d, a
                 in zip(x.shape[2:], strides, kernel, dilations, added)]
        attributes["output_shape"] = [max(1, n - r.int(0, 2)) for n in whole]
        attributes.pop("pads", None)
    elif attributes.get("pads") and r.chance(0.5):
        attributes["pads"] = [0] * (2 * spatial)
    inputs = [x, w] + ([r.floats([w.shape[1] * group], np.float32)] if r.chance(0.5) else [])
    if r.chance(0.5):
        del attributes["kernel_shape"]
    return Case(inputs, attributes)


@of("Col2Im")
def col2im(r, op, v):
    spatial = r.int(1, 2)
    block = [r.int(1, 3) for _ in range(spatial)]
    attributes = {name: [r.int(low, 2) for _ in range(count)] for name, low, count in (
        ("strides", 1, spatial), ("dilations", 1, spatial), ("pads", 0, 2 * spatial))
        if r.chance(0.6)}
    if spatial == 1:  # onnxruntime has other numbers than ONNX's own reference
        attributes.pop("dilations", None)
    one, zero = [1] * spatial, [0] * 2 * spatial
    strides, dilations, pads = (attributes.get("strides", one),
                                attributes.get("dilations", one), attributes.get("pads", zero))
    counts = [r.int(1, 4) for _ in block]
    image = [(n - 1) * s + (k - 1) * d + 1 - pads[i] - pads[spatial + i] + r.int(0, s - 1)
             for i, (n, s, k, d) in enumerate(zip(counts, strides, block, dilations))]
    if min(image) < 1:
        return col2im(r, op, v)
    x = r.floats([r.int(1, 2), r.int(1, 3) * int(np.prod(block)), int(np.prod(counts))],
                 np.float32)
    return Case([x, np.array(image, np.int64), np.array(block, np.int64)], attributes,
                fixed=(1, 2))


@of("AveragePool", "MaxPool", "LpPool")
def pool(r, op, v):
    spatial = r.int(1, 3)
    since = {"AveragePool": 19, "MaxPool": 10, "LpPool": 18}[op]
    attributes, least = windows(r, spatial, v >= since, 4)
    if attributes.get("auto_pad", "").startswith("SAME"):
        attributes.pop("dilations", None)  # which onnxruntime does not count there
    x = r.floats([r.int(1, 2), r.int(1, 2)] + [r.int(n, n + 6) for n in least], np.float32)
    if v >= (18 if op == "LpPool" else 10) and "auto_pad" not in attributes:
        attributes.update(r.some(ceil_mode=r.int(0, 1)))
    outputs = 1
    if op == "AveragePool" and v >= 7:
        attributes.update(r.some(count_include_pad=r.int(0, 1)))
    if op == "LpPool":
        attributes.update(r.some(p=r.int(1, 3)))
    if op == "MaxPool" and v >= 8 and r.chance(0.4):
        outputs = 2
        attributes.update(r.some(storage_order=r.int(0, 1)))
    return Case([x], attributes, outputs)


@of("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(r, op, v):
    x = r.floats(r.shape(3, 5, 5), np.float32)
    return Case([x], r.some(p=r.int(1, 3)) if op == "GlobalLpPool" else {})


@of("MaxUnpool")
def max_unpool(r, op, v):
    x = r.floats([1, 1, r.int(1, 3), r.int(1, 3)], np.float32)
    h, w = x.shape[2] * 2, x.shape[3] * 2
    indices = np.zeros(x.shape, np.int64)
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            indices[0, 0, i, j] = (2 * i + r.int(0, 1)) * w + 2 * j + r.int(0, 1)
    return Case([x, indices], {"kernel_shape": [2, 2], "strides": [2, 2]})


# Products.

@of("MatMul")
def matmul(r, op, v):
    k, m, n = r.int(1, 5), r.int(1, 5), r.int(1, 5)
    dtype = r.float_type()
    way = r.pick(["2", "batch", "row", "column", "vectors"])
    lead = r.shape(1, 2, 3)
    a, b = {"2": ([m, k], [k, n]), "batch": (lead + [m, k], r.broadcast(lead) + [k, n]),
            "row": ([k], lead + [k, n]), "column": (lead + [m, k], [k]),
            "vectors": ([k], [k])}[way]
    return Case([r.floats(a, dtype), r.floats(b, dtype)])


@of("Gemm")
def gemm(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    ta, tb = r.int(0, 1), r.int(0, 1)
    inputs = [r.floats([k, m] if ta else [m, k], np.float32),
              r.floats([n, k] if tb else [k, n], np.float32)]
    if v < 11 or r.chance(0.6):
        inputs.append(r.floats(r.pick([[m, n], [n], [1, n], [m, 1], [1]]), np.float32))
    return Case(inputs, {**({"transA": 1} if ta else {}), **({"transB": 1} if tb else {}),
                         **r.some(alpha=0.5, beta=2.0)})


@of("MatMulInteger")
def matmul_integer(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    b_type = r.pick([np.int8, np.uint8])
    a = r.ints([m, k], np.uint8, 0, 255)
    b = r.ints([k, n], b_type, 0, 100)
    inputs = [a, b]
    if r.chance(0.6):
        inputs.append(np.array(r.int(0, 200), np.uint8))
        if r.chance(0.6):
            inputs.append(r.pick([np.array(r.int(0, 50), b_type), r.ints([n], b_type, 0, 50)]))
    return Case(inputs)


@of("QLinearMatMul")
def q_linear_matmul(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 4), r.int(1, 4)
    scale = lambda: np.array(r.random.uniform(0.005, 0.02), np.float32)
    zero = lambda: np.array(r.int(100, 150), np.uint8)
    return Case([r.ints([m, k], np.uint8, 0, 255), scale(), zero(),
                 r.ints([k, n], np.uint8, 0, 255), scale(), zero(), scale(), zero()])


@of("ConvInteger")
def conv_integer(r, op, v):
    spatial = 2
    attributes, least = windows(r, spatial)
    x = r.ints([1, 2] + [r.int(n, n + 4) for n in least], np.uint8, 0, 255)
    w = r.ints([2, 2] + attributes["kernel_shape"], np.uint8, 0, 255)
    inputs = [x, w] + ([np.array(r.int(0, 200), np.uint8)] if r.chance(0.5) else [])
    return Case(inputs, attributes)


@of("QLinearConv")
def q_linear_conv(r, op, v):
    attributes, least = windows(r, 2)
    scale = lambda: np.array(r.random.uniform(0.005, 0.02), np.float32)
    zero = lambda: np.array(r.int(100, 150), np.uint8)
    inputs = [r.ints([1, 2] + [r.int(n, n + 4) for n in least], np.uint8, 0, 255), scale(), zero(),
              r.ints([2, 2] + attributes["kernel_shape"], np.uint8, 0, 255), scale(), zero(),
              scale(), zero()]
    if r.chance(0.5):
        inputs.append(r.ints([2], np.int32, -100, 100))
    return Case(inputs, attributes)


@of("QuantizeLinear", "DequantizeLinear")
def quantize(r, op, v):
    shape = r.shape(1, 3, 8)
    axis = r.int(0, len(shape) - 1)
    attributes, scale_shape = {}, []
    way = r.pick(["tensor", "axis", "block"])
    if way == "axis" and v >= 13:
        attributes, scale_shape = {"axis": axis}, [shape[axis]]
    elif way == "block" and v >= 21:
        block = r.int(1, shape[axis])
        attributes = {"axis": axis, "block_size": block}
        scale_shape = list(shape)
        scale_shape[axis] = -(-shape[axis] // block)
    scale = r.floats(scale_shape, np.float32, 0.05, 0.5)
    dtype = r.pick([np.uint8, np.int8])
    has_zero = r.chance(0.6)
    zero = r.ints(scale_shape, dtype, 0, 20)
    if op == "QuantizeLinear":
        inputs = [r.floats(shape, np.float32) * 10, scale] + ([zero] if has_zero else [])
        if v >= 21 and not has_zero:
            attributes.update(r.some(output_dtype=r.pick([2, 3])))
    else:
        inputs = [r.ints(shape, dtype, 0, 120), scale] + ([zero] if has_zero else [])
    return Case(inputs, attributes)


@of("DynamicQuantizeLinear")
def dynamic_quantize(r, op, v):
    return Case([r.floats(r.shape(), np.float32) * 4], {}, 3)


@of("Einsum")
def einsum(r, op, v):
    sizes = {letter: r.int(1, 4) for letter in "abcd"}
    equation = r.pick(["ab,bc->ac", "abc,cd->abd", "ab->ba", "ab->a", "aa->a", "ab,ab->",
                       "abc,abd->acd", "a,b->ab", "...a,ab->...b", "ab,cb->ac"])
    terms = equation.split("->")[0].split(",")
    shapes = [[n for letter in term.replace("...", "d") for n in [sizes[letter]]]
              for term in terms]
    return Case([r.floats(shape, np.float32) for shape in shapes], {"equation": equation})


@of("Det")
def det(r, op, v):
    n = r.int(1, 4)
    return Case([r.floats(r.shape(0, 2, 3) + [n, n], np.float32)])
