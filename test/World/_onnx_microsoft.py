"""Nodes of onnxruntime's own operators, of the domain com.microsoft; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of
from _onnx_sequences import heads

F = np.float32
EPSILONS = [1e-5, 1e-3]


def micro(*names):
    return of(*(f"microsoft.{name}" for name in names))


@micro("Gelu", "QuickGelu")
def gelu(r, op, v):
    return Case([r.floats(r.shape(), F)], r.some(alpha=1.2) if op == "QuickGelu" else {})


@micro("BiasGelu", "FastGelu")
def bias_gelu(r, op, v):
    shape = r.shape()
    bias = op == "BiasGelu" or r.chance(0.5)
    return Case([r.floats(shape, F)] + ([r.floats(shape[-1:], F)] if bias else []))


@micro("BiasAdd")
def bias_add(r, op, v):
    shape = [r.int(1, 2), r.int(1, 4), r.int(1, 6)]
    return Case([r.floats(shape, F), r.floats(shape[-1:], F), r.floats(shape, F)],
                right=lambda x, bias, skip: [x + bias + skip])


# Normalizations.

@micro("SimplifiedLayerNormalization")
def simplified(r, op, v):
    shape = r.shape(2, 4)
    axis = r.int(1, len(shape) - 1)
    return Case([r.floats(shape, F), r.floats(shape[axis:], F)],
                {"axis": axis, **r.some(epsilon=r.pick(EPSILONS))})


@micro("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def skip(r, op, v):
    shape = [r.int(1, 3), r.int(1, 4), r.int(2, 8)]
    last = shape[-1:]
    inputs = [r.floats(shape, F), r.floats(shape, F), r.floats(last, F)]
    if op == "SkipLayerNormalization":
        inputs.append(r.floats(last, F) if r.chance(0.7) else None)
    inputs.append(r.floats(last, F) if r.chance(0.5) else None)
    return Case(inputs, {"epsilon": r.pick(EPSILONS)})


@micro("EmbedLayerNormalization")
def embed(r, op, v):
    batch, length, width = r.int(1, 2), r.int(1, 4), r.int(2, 6)
    segments = r.chance(0.5)
    inputs = [r.ints([batch, length], np.int32, 0, 6),
              r.ints([batch, length], np.int32, 0, 1) if segments else None,
              r.floats([7, width], F), r.floats([5, width], F),
              r.floats([2, width], F) if segments else None,
              r.floats([width], F), r.floats([width], F)]
    outputs = 1
    if r.chance(0.5):
        inputs.append(r.ints([batch, length], np.int32, 0, 1))
        outputs = 2
    return Case(inputs, {"epsilon": r.pick(EPSILONS)}, outputs)


# Products.

@micro("FusedMatMul", "TransposeMatMul")
def fused_matmul(r, op, v):
    if r.chance(0.15):  # Of vectors, which are not transposed.
        k = r.int(1, 5)
        vector, matrix = r.floats([k], F), r.pick([[k], [k, r.int(1, 4)]])
        return Case([vector, r.floats(matrix, F)], r.some(transA=1, alpha=0.5))
    rank = r.int(2, 4)
    batch = [r.int(1, 3) for _ in range(rank - 2)]
    m, k, n = r.int(1, 4), r.int(1, 5), r.int(1, 4)
    attributes = r.some(alpha=0.5)
    shapes = []
    for side, matrix in (("A", [m, k]), ("B", [k, n])):
        if r.chance(0.5):
            matrix = matrix[::-1]
            attributes["trans" + side] = 1
        shape = batch + matrix
        if op == "FusedMatMul" and rank > 2 and r.chance(0.4):
            # The axis before the last one is first.
            shape = [shape[-2]] + batch + shape[-1:]
            attributes["transBatch" + side] = 1
        shapes.append(shape)
    return Case([r.floats(shape, F) for shape in shapes], attributes)


@micro("FusedGemm")
def fused_gemm(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 5), r.int(1, 4)
    a, b = r.int(0, 1), r.int(0, 1)
    activation, numbers = r.pick([("Relu", {}), ("Sigmoid", {}), ("Tanh", {}),
                                  ("LeakyRelu", {"activation_alpha": 0.2}),
                                  ("HardSigmoid", {"activation_alpha": 0.3,
                                                   "activation_beta": 0.4}),
                                  ("Elu", {"activation_alpha": 0.7})])
    return Case([r.floats([k, m] if a else [m, k], F), r.floats([n, k] if b else [k, n], F),
                 r.floats(r.pick([[n], [m, n], [1, n]]), F) if r.chance(0.7) else None],
                {"transA": a, "transB": b, "activation": activation, **numbers,
                 **r.some(alpha=0.5, beta=2.0)})


@micro("FusedConv")
def fused_conv(r, op, v):
    group, channels, out = r.int(1, 2), r.int(1, 3), r.int(1, 3)
    kernel = [r.int(1, 3), r.int(1, 3)]
    pads = [r.int(0, 1) for _ in range(4)]
    x = r.floats([r.int(1, 2), channels * group, r.int(3, 6), r.int(3, 6)], F)
    weight = r.floats([out * group, channels] + kernel, F)
    activation, numbers = r.pick([("Relu", None), ("Sigmoid", None), ("Tanh", None),
                                  ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]),
                                  ("HardSigmoid", [0.3, 0.4])])
    inputs = [x, weight, r.floats([out * group], F) if r.chance(0.5) else None]
    if r.chance(0.4):
        inputs.append(r.floats([x.shape[0], out * group]
                               + [x.shape[2 + i] + pads[i] + pads[2 + i] - kernel[i] + 1
                                  for i in range(2)], F))
    return Case(inputs, {"group": group, "kernel_shape": kernel, "pads": pads,
                         "activation": activation,
                         **({"activation_params": numbers} if numbers else {})})


@micro("MatMulNBits")
def matmul_nbits(r, op, v):
    bits, block = r.pick([4, 4, 8, 2]), r.pick([16, 32, 128])
    k, n = r.pick([16, 32, 48, 64, 17, 33, 40, 100]), r.int(1, 6)
    blocks = -(-k // block)
    weight = r.ints([n, blocks, block * bits // 8], np.uint8, 0, 255)
    zeros = None
    if r.chance(0.6):
        zeros = (r.floats([n, blocks], F, 0, 2 ** bits) if bits == 4 and r.chance(0.3)
                 else r.ints([n, -(-blocks * bits // 8)], np.uint8, 0, 255))
    shape = r.pick([[r.int(1, 4), k], [r.int(1, 2), r.int(1, 3), k], [k]])
    bias = r.floats([n], F) if r.chance(0.4) else None
    order = None
    if bits == 4 and zeros is None and r.chance(0.4):
        order = r.ints([blocks * block], np.int32, 0, blocks - 1)
    return Case([r.floats(shape, F), weight, r.floats([n, blocks], F, 0.1, 1), zeros, order, bias],
                {"K": k, "N": n, "bits": bits, "block_size": block}, fixed=(1, 2, 3, 4))


@micro("GatherBlockQuantized")
def gather_blocks(r, op, v):
    rank, bits = r.int(2, 3), r.pick([4, 8])
    block = r.pick([16, 32])
    shape = [r.int(2, 5) for _ in range(rank - 1)] + [2 * r.int(1, 40)]
    count = -(-shape[-1] // block)
    stored = shape[:-1] + [shape[-1] * bits // 8]
    zeros = None
    if r.chance(0.6):
        zeros = byte(r, shape[:-1] + [-(-count * bits // 8)], np.uint8)
    axis = r.int(0, rank - 2)
    indices = r.ints(r.shape(1, 2), r.pick([np.int32, np.int64]), 0, shape[axis] - 1)
    return Case([byte(r, stored, np.uint8), indices, r.floats(shape[:-1] + [count], F, 0.1, 1),
                 zeros],
                {"bits": bits, "block_size": block, "gather_axis": axis - r.pick([0, rank]),
                 "quantize_axis": r.pick([rank - 1, -1])}, fixed=(0, 2, 3))


# Quantized.

def scale(r):
    return np.array(r.random.uniform(0.01, 0.2), F)


def byte(r, shape, dtype):
    return r.ints(shape, dtype, *((-128, 127) if dtype == np.int8 else (0, 255)))


def quantized(r, shape, dtype):
    """Values with a scale and a zero point."""
    return [byte(r, shape, dtype), scale(r), byte(r, [], dtype)]


def kind(r):
    return r.pick([np.uint8, np.int8])


@micro("QLinearAdd", "QLinearMul")
def qlinear_binary(r, op, v):
    dtype, shape = kind(r), r.shape()
    return Case(quantized(r, shape, dtype) + quantized(r, r.broadcast(shape), dtype)
                + [scale(r) * (20 if op == "QLinearMul" else 2), byte(r, [], dtype)],
                fixed=(1, 2, 4, 5, 6, 7))


@micro("QLinearSigmoid", "QLinearLeakyRelu")
def qlinear_unary(r, op, v):
    dtype = kind(r)
    return Case(quantized(r, r.shape(), dtype) + [scale(r), byte(r, [], dtype)],
                r.some(alpha=0.3) if op == "QLinearLeakyRelu" else {}, fixed=(1, 2, 3, 4))


@micro("QLinearAveragePool")
def qlinear_pool(r, op, v):
    dtype = kind(r)
    shape = [r.int(1, 2), r.int(1, 3), r.int(3, 7), r.int(3, 7)]
    attributes = {"kernel_shape": [r.int(1, 3), r.int(1, 3)], **r.some(
        strides=[r.int(1, 2), r.int(1, 2)], count_include_pad=1)}
    if r.chance(0.3):
        shape = [shape[0], *shape[2:], shape[1]]
        attributes["channels_last"] = 1
    return Case(quantized(r, shape, dtype) + [scale(r), byte(r, [], dtype)], attributes,
                fixed=(1, 2, 3, 4))


@micro("QLinearGlobalAveragePool")
def qlinear_global(r, op, v):
    dtype = kind(r)
    return Case(quantized(r, r.shape(4, 4), dtype) + [scale(r), byte(r, [], dtype)],
                r.some(channels_last=1), fixed=(1, 2, 3, 4))


@micro("QLinearConv")
def qlinear_conv(r, op, v):
    dtype, weight = np.uint8, r.pick([np.uint8, np.int8])
    x = quantized(r, [1, 2, r.int(3, 6), r.int(3, 6)], dtype)
    # Two products of onnxruntime's kernels for AVX2 have to fit in 16 bits.
    least, most = (-64, 64) if weight == np.int8 else (0, 255)
    w = [r.ints([3, 2, r.int(1, 3), r.int(1, 3)], weight, least, most), scale(r),
         np.array(0, weight)]
    bias = [r.ints([3], np.int32, -500, 500)] if r.chance(0.5) else []
    last = {}
    if r.chance(0.3):
        x[0], last = np.moveaxis(x[0], 1, -1).copy(), {"channels_last": 1}
    return Case(x + w + [scale(r) * 20, byte(r, [], dtype)] + bias,
                {**last, **r.some(strides=[2, 1], pads=[1, 0, 1, 0])},
                fixed=(1, 2, 3, 4, 5, 6, 7))


@micro("NhwcMaxPool")
def max_pool_of_last(r, op, v):
    kernel = [r.int(1, 3), r.int(1, 3)]
    return Case([byte(r, [r.int(1, 2), r.int(4, 7), r.int(4, 7), r.int(1, 3)], kind(r))],
                {"kernel_shape": kernel, **r.some(
                    strides=[r.int(1, 2), r.int(1, 2)], ceil_mode=1,
                    pads=[r.int(0, extent - 1) for extent in kernel * 2])})


@micro("QLinearConcat")
def qlinear_concat(r, op, v):
    dtype, shape = kind(r), r.shape(1, 4)
    axis, inputs = r.int(0, len(shape) - 1), [scale(r), byte(r, [], dtype)]
    for _ in range(r.int(1, 3)):
        own = list(shape)
        own[axis] = r.int(1, 4)
        inputs += quantized(r, own, dtype)
    return Case(inputs, {"axis": axis},
                fixed=tuple(i for i in range(len(inputs)) if i < 2 or i % 3 != 2))


@micro("QLinearSoftmax")
def qlinear_softmax(r, op, v):
    dtype, shape = kind(r), r.shape(2, 3)
    return Case(quantized(r, shape, dtype) + [np.array(1 / 256, F),
                                              np.array(0 if dtype == np.uint8 else -128, dtype)],
                {"opset": r.pick([11, 13]), "axis": len(shape) - 1}, fixed=(1, 2, 3, 4))


@micro("QLinearReduceMean")
def qlinear_mean(r, op, v):
    dtype, shape = kind(r), r.shape(1, 4)
    axes = sorted({r.int(0, len(shape) - 1) for _ in range(r.int(1, 2))})
    attributes = {**r.some(axes=[axis - r.pick([0, len(shape)]) for axis in axes]),
                  **r.some(keepdims=0)}

    def right(x, step, zero, to_step, to_zero):
        over = tuple(axes) if "axes" in attributes else None
        values = (x.astype(float) - float(zero)) * float(step)
        mean = values.mean(axis=over, keepdims=attributes.get("keepdims", 1) != 0)
        limits = np.iinfo(dtype)
        return [np.clip(np.rint(mean / float(to_step)) + float(to_zero), limits.min,
                        limits.max).astype(dtype)]
    return Case(quantized(r, shape, dtype) + [scale(r), byte(r, [], dtype)], attributes,
                fixed=(1, 2, 3, 4), right=right)


@micro("QLinearWhere")
def qlinear_where(r, op, v):
    dtype, shape = kind(r), r.shape(1, 3)
    return Case([r.bools(shape)] + quantized(r, shape, dtype) + quantized(r, shape, dtype)
                + [scale(r), byte(r, [], dtype)], fixed=(2, 3, 5, 6, 7, 8))


@micro("QGemm")
def qgemm(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 5), r.int(1, 4)
    a, b = r.int(0, 1), r.int(0, 1)
    many = r.chance(0.4)
    inputs = [*quantized(r, [k, m] if a else [m, k], np.uint8),
              byte(r, [n, k] if b else [k, n], np.int8),
              np.array([scale(r) for _ in range(n)], F) if many else scale(r),
              np.zeros([n] if many else [], np.int8),
              r.ints([n], np.int32, -500, 500) if r.chance(0.5) else None]
    if r.chance(0.6):
        inputs += [scale(r) * 10, byte(r, [], np.uint8)]
    return Case(inputs, {"transA": a, "transB": b, **r.some(alpha=0.5)},
                fixed=(1, 2, 3, 4, 5, 7, 8))


@micro("DynamicQuantizeMatMul", "MatMulIntegerToFloat")
def matmul_to_float(r, op, v):
    m, k, n = r.int(1, 4), r.int(1, 6), r.int(1, 4)
    b, many = byte(r, [k, n], np.int8), r.chance(0.4)
    scales = np.array([scale(r) for _ in range(n)], F) if many else scale(r)
    zeros = byte(r, [n] if many else [], np.int8) if r.chance(0.5) else None
    bias = r.floats([n], F) if r.chance(0.4) else None
    if op == "DynamicQuantizeMatMul":
        return Case([r.floats([m, k], F), b, scales, zeros, bias], fixed=(1, 2, 3, 4))
    a, a_scale, a_zero = quantized(r, [m, k], np.uint8)
    return Case([a, b, a_scale, scales, a_zero, zeros, bias], fixed=(1, 2, 3, 4, 5, 6))


@micro("QuantizeLinear", "DequantizeLinear")
def quantize(r, op, v):
    shape, dtype = r.shape(1, 4), r.pick([np.uint8, np.int8, np.uint16, np.int16])
    axis = r.int(0, len(shape) - 1)
    many = r.chance(0.4)
    own = [shape[axis]] if many else []
    scales = np.array(r.random.uniform(0.02, 0.3, own), F)
    zeros = r.ints(own, dtype, 0, 100)
    x = (r.floats(shape, F, -5, 5) if op == "QuantizeLinear" else r.ints(shape, dtype, 0, 120))
    return Case([x, scales, zeros], {"axis": axis} if many else {}, fixed=(1, 2))


# Attention.

@micro("Attention", "QAttention")
def attention(r, op, v):
    batch, length, width, count = r.int(1, 2), r.int(1, 4), r.int(1, 5), r.int(1, 3)
    hidden = count * r.int(1, 4)
    past = r.int(1, 3) if r.chance(0.3) else 0
    keys = length + past
    attributes = {"num_heads": count, **r.some(unidirectional=1, scale=0.7)}
    bias = r.floats([3 * hidden], F)
    mask = r.pick([None, r.ints([batch, keys], np.int32, 0, 1),
                   r.ints([batch], np.int32, 1, keys),
                   r.ints([batch, length, keys], np.int32, 0, 1)])
    attributes.update(r.some(mask_filter_value=-500.0))
    state = r.floats([2, batch, count, past, hidden // count], F) if past else None
    if op == "QAttention":
        x, x_scale, x_zero = quantized(r, [batch, length, width], np.uint8)
        return Case([x, byte(r, [width, 3 * hidden], np.int8), bias, x_scale, scale(r) / 50,
                     mask, x_zero, np.array(0, np.int8), state], attributes,
                    2 if past else 1, fixed=(1, 2, 3, 4, 6, 7))
    inputs = [r.floats([batch, length, width], F), r.floats([width, 3 * hidden], F), bias, mask,
              state]
    if r.chance(0.3):
        inputs.append(r.floats([batch, count, length, keys], F))
    return Case(inputs, attributes, 2 if past else 1)


@micro("MultiHeadAttention")
def multi_head(r, op, v):
    batch, length, count = r.int(1, 2), r.int(1, 4), r.int(1, 3)
    width, out = r.int(1, 4), r.int(1, 4)
    past = r.int(1, 3) if r.chance(0.3) else 0
    fresh = length if past else r.int(1, 5)
    out = width if past else out
    keys = fresh + past
    hidden = count * width
    inputs = [r.floats([batch, length, hidden], F), r.floats([batch, fresh, hidden], F),
              r.floats([batch, fresh, count * out], F),
              r.floats([2 * hidden + count * out], F) if r.chance(0.4) else None,
              r.pick([None, None, r.ints([batch, keys], np.int32, 0, 1),
                      r.ints([batch], np.int32, 1, keys),
                      np.concatenate([r.ints([batch], np.int32, 1, keys),
                                      r.ints([2 * batch + 2], np.int32, 0, keys)])]),
              r.floats([batch, count, length, keys], F) if r.chance(0.3) else None]
    if past:
        inputs += [r.floats([batch, count, past, n], F) for n in (width, out)]
    causal = {"unidirectional": 1} if fresh == length and r.chance(0.4) else {}
    return Case(inputs, {"num_heads": count, **causal, **r.some(scale=0.7)}, 3 if past else 1)


@micro("GroupQueryAttention")
def group_query(r, op, v):
    batch = r.int(1, 2)
    count, shared = heads(r)
    width = r.pick([8, 16])
    past = r.int(1, 4) if r.chance(0.6) else 0
    fresh = 1 if past and r.chance(0.6) else r.int(1, 4)
    batch = batch if fresh == 1 or not past else 1
    total = past + fresh
    last, compared = np.full([batch], total - 1, np.int32), 3
    if past and fresh == 1 and r.chance(0.5):
        last = r.ints([batch], np.int32, 0, total - 1)
        last[r.int(0, batch - 1)] = total - 1
        compared = 1  # what a cache has after the end of a sequence is not said
    if r.chance(0.3):
        inputs = [r.floats([batch, fresh, (count + 2 * shared) * width], F), None, None]
    else:
        inputs = [r.floats([batch, fresh, n * width], F) for n in (count, shared, shared)]
    inputs += [r.floats([batch, shared, past, width], F) if past else None for _ in range(2)]
    inputs += [last, np.array(total, np.int32)]
    attributes = {"num_heads": count, "kv_num_heads": shared, **r.some(softcap=2.0)}
    if r.chance(0.5):
        inputs += [r.floats([total + 3, width // 2], F) for _ in range(2)]
        attributes.update(do_rotary=1, **r.some(rotary_interleaved=1))
    if r.chance(0.2):
        attributes["smooth_softmax"] = 1
    elif r.chance(0.3):
        inputs += [None] * (11 - len(inputs)) + [r.floats([count], F)]
    if r.chance(0.4):
        attributes["local_window_size"] = r.int(1, 4)
    return Case(inputs, attributes, 3, fixed=(6,), compared=compared)


@micro("RotaryEmbedding")
def rotary(r, op, v):
    batch, count, length = r.int(1, 2), r.int(1, 3), r.int(1, 4)
    width = r.pick([2, 4, 8])
    flat = r.chance(0.6)
    shape = [batch, length, count * width] if flat else [batch, count, length, width]
    places = (r.ints([batch, length], np.int64, 0, 8) if r.chance(0.6)
              else r.ints([1], np.int64, 0, 4))
    return Case([r.floats(shape, F), places, r.floats([9, width // 2], F),
                 r.floats([9, width // 2], F)],
                r.some(interleaved=1, is_packed_batching=1))


@micro("DynamicQuantizeLSTM")
def dynamic_lstm(r, op, v):
    # The limit of its error is in _onnx_cases.WIDER.
    steps, batch, width, hidden = r.int(1, 4), r.int(1, 2), r.int(1, 5), r.int(1, 4)
    ways = r.int(1, 2)
    return Case([r.floats([steps, batch, width], F),
                 byte(r, [ways, width, 4 * hidden], np.int8),
                 byte(r, [ways, hidden, 4 * hidden], np.int8),
                 r.floats([ways, 8 * hidden], F) if r.chance(0.7) else None,
                 None, None, None, None,
                 *(x for _ in range(2) for x in (np.full([ways], 0.01, F),
                                                 np.zeros([ways], np.int8)))],
                {"hidden_size": hidden, "direction": "bidirectional" if ways == 2 else "forward"},
                3, fixed=(1, 2, 3, 8, 9, 10, 11))
