"""Rules of onnxruntime's own operators, with results by their definitions in numpy; see
run_rules.py."""
import numpy

from sequence_rules import attend, floats, join, reach, rotated, split

MICRO = "com.microsoft:"


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def single(number):
    return numpy.array(number, numpy.float32)


def byte(number):
    return numpy.array(number, numpy.uint8)


def quantized(x, scale, zero):
    return numpy.clip(numpy.round(x / numpy.float32(scale)) + zero, 0, 255)


# name, version, operator, inputs, attributes, result
def rules():
    x, bias = floats(2, 3, 4), floats(4)
    yield "quick", 17, MICRO + "QuickGelu", [x], {"alpha": 1.5}, x * sigmoid(1.5 * x)
    wide = x + bias
    tanh = numpy.tanh(numpy.sqrt(2 / numpy.pi) * (wide + 0.044715 * wide ** 3))
    yield "fast", 17, MICRO + "FastGelu", [x, bias], {}, wide * (1 + tanh) / 2
    squares = numpy.sqrt((x.astype("float64") ** 2).mean(axis=2, keepdims=True) + 1e-5)
    yield "simplified", 17, "SimplifiedLayerNormalization", [x, bias], {}, x / squares * bias
    both = x + floats(2, 3, 4, seed=1)
    centred = both - both.mean(axis=2, keepdims=True)
    deviation = numpy.sqrt((centred ** 2).mean(axis=2, keepdims=True) + 0.01)
    yield ("skip", 17, MICRO + "SkipLayerNormalization",
           [x, floats(2, 3, 4, seed=1), bias, -bias], {"epsilon": 0.01},
           centred / deviation * bias - bias)
    yield from products()
    yield from quantized_layers()
    yield from attention()


def products():
    a, b = floats(3, 2, 4), floats(3, 2, 4, seed=1)
    yield ("turned", 17, MICRO + "FusedMatMul", [a, b],
           {"transBatchA": 1, "transBatchB": 1, "transB": 1, "alpha": 0.5},
           a.transpose(1, 0, 2) @ b.transpose(1, 2, 0) / 2)
    # Vectors are not transposed.
    yield ("turned-vector", 17, MICRO + "FusedMatMul", [a[0, 0], b[0]],
           {"transA": 1, "transB": 1}, a[0, 0] @ b[0].T)
    image, kernel = floats(1, 1, 3, 3), numpy.ones((1, 1, 1, 1), numpy.float32)
    yield ("clipped", 17, MICRO + "FusedConv", [image, kernel, None, image],
           {"activation": "Clip", "activation_params": [-0.5, 0.5]},
           numpy.clip(2 * image, -0.5, 0.5))
    numbers = numpy.random.default_rng(0).integers(0, 16, (2, 32))
    scales, zeros = numpy.abs(floats(2, 2)), numpy.array([3, 12, 8, 1]).reshape(2, 2)
    weight = (numbers - zeros.repeat(16, axis=1)) * scales.repeat(16, axis=1)
    x = floats(2, 32)
    packed = numbers[:, 0::2] | numbers[:, 1::2] << 4
    points = (zeros[:, :1] | zeros[:, 1:] << 4).astype(numpy.uint8)
    for name, last, right in (("bits", points, weight),
                              ("bits-floats", zeros.astype(numpy.float32), weight),
                              ("bits-middle", None,
                               weight + (zeros - 8).repeat(16, axis=1)
                               * scales.repeat(16, axis=1))):
        yield (name, 17, MICRO + "MatMulNBits",
               [x, packed.astype(numpy.uint8).reshape(2, 2, 8), scales, last],
               {"N": 2, "K": 32, "block_size": 16}, x @ right.T)
    # The columns are of blocks in another order.
    groups = numpy.random.default_rng(1).integers(0, 2, 32).astype(numpy.int32)
    yield ("bits-groups", 17, MICRO + "MatMulNBits",
           [x, packed.astype(numpy.uint8).reshape(2, 2, 8), scales, None, groups],
           {"N": 2, "K": 32, "block_size": 16}, x @ ((numbers - 8) * scales[:, groups]).T)
    # Entries of a table, also of one whose last block is not whole.
    chosen = numpy.array([[1], [0]])
    yield ("table", 17, MICRO + "GatherBlockQuantized",
           [packed.astype(numpy.uint8), chosen, scales, points], {"block_size": 16},
           weight[chosen])
    yield ("table-part", 17, MICRO + "GatherBlockQuantized",
           [packed[:, :12].astype(numpy.uint8), chosen, scales, points], {"block_size": 16},
           weight[:, :24][chosen])
    bytes_ = numpy.random.default_rng(2).integers(0, 256, (2, 32)).astype(numpy.uint8)
    yield ("table-bytes", 17, MICRO + "GatherBlockQuantized", [bytes_, chosen, scales],
           {"block_size": 16, "bits": 8},
           ((bytes_.astype("float32") - 128) * scales.repeat(16, axis=1))[chosen])


def quantized_layers():
    a, b = numpy.array([0, 100, 255], numpy.uint8), numpy.array([10, 20, 30], numpy.uint8)
    left, right = (a.astype("float32") - 100) * 0.1, (b.astype("float32") - 7) * 0.2
    inputs = [a, single(0.1), byte(100), b, single(0.2), byte(7), single(0.3), byte(50)]
    yield "q-add", 17, MICRO + "QLinearAdd", inputs, {}, quantized(left + right, 0.3, 50)
    yield "q-mul", 17, MICRO + "QLinearMul", inputs, {}, quantized(left * right, 0.3, 50)
    yield ("q-sigmoid", 17, MICRO + "QLinearSigmoid",
           [a, single(0.1), byte(100), single(1 / 256), byte(0)], {},
           quantized(sigmoid(left), 1 / 256, 0))
    yield ("q-concat", 17, MICRO + "QLinearConcat",
           [single(0.3), byte(50), a, single(0.1), byte(100), b, single(0.2), byte(7)],
           {"axis": 0}, quantized(numpy.concatenate([left, right]), 0.3, 50))
    # The channels are the last axis.
    plane = numpy.arange(8, dtype=numpy.uint8).reshape(1, 2, 2, 2)
    yield ("q-pool", 17, MICRO + "QLinearGlobalAveragePool",
           [plane, single(1), byte(0), single(0.5), byte(1)], {"channels_last": 1}, [7, 9])
    filter_ = numpy.array([[1, 2], [3, 0], [0, 1]], numpy.int8).reshape(3, 2, 1, 1)
    yield ("q-conv-last", 17, MICRO + "QLinearConv",
           [plane, single(1), byte(1), filter_, single(1), numpy.array(0, numpy.int8), single(1),
            byte(9)],
           {"channels_last": 1},
           (plane[0].astype(int) - 1) @ filter_[:, :, 0, 0].T + 9)
    yield ("max-last", 17, MICRO + "NhwcMaxPool", [plane], {"kernel_shape": [2, 1]},
           [[4, 5], [6, 7]])
    weight = numpy.array([[1, -2], [3, 4], [-5, 6]], numpy.int8)
    yield ("q-gemm", 17, MICRO + "QGemm",
           [a.reshape(1, 3), single(0.1), byte(100), weight, floats(2), numpy.zeros(2, numpy.int8),
            numpy.array([5, -5], numpy.int32)], {},
           ((a.astype(int) - 100) @ weight + [5, -5]) * 0.1 * floats(2))
    yield ("to-float", 17, MICRO + "MatMulIntegerToFloat",
           [a.reshape(1, 3), weight, single(0.1), single(0.5), byte(100)], {},
           left.reshape(1, 3) @ weight / 2)
    x = numpy.array([[0, 51, -204]], numpy.float32)  # in steps of one
    yield ("dynamic", 17, MICRO + "DynamicQuantizeMatMul", [x, weight, single(0.5)], {},
           x @ weight / 2)
    # One step, of which the state is that of the gates i, o, f, c.
    weight = numpy.random.default_rng(1).integers(-99, 99, (1, 2, 8)).astype(numpy.int8)
    x = floats(1, 1, 2)
    i, o, _, c = numpy.split(x[0] @ (weight[0] * 0.01), 4, axis=1)
    scales = [numpy.full(1, 0.01, numpy.float32), numpy.zeros(1, numpy.int8)]
    yield ("lstm", 17, MICRO + "DynamicQuantizeLSTM",
           [x, weight, weight, None, None, None, None, None, *scales, *scales],
           {"hidden_size": 2}, sigmoid(o) * numpy.tanh(sigmoid(i) * numpy.tanh(c)))


def attention():
    x, weights, bias = floats(2, 3, 4), floats(4, 12), floats(12)
    query, key, value = (split(part, 2) for part in numpy.split(x @ weights + bias, 3, axis=2))
    causal = reach(3, 3, 3, 0)
    yield ("self", 17, MICRO + "Attention", [x, weights, bias],
           {"num_heads": 2, "unidirectional": 1}, join(attend(query, key, value, causal)))
    # Without a mask the attribute has no effect.
    yield ("self-filter", 17, MICRO + "Attention", [x, weights, bias],
           {"num_heads": 2, "mask_filter_value": -7.0}, join(attend(query, key, value, 0)))
    mask = numpy.array([[1, 1, 0], [1, 1, 1]], numpy.int32)
    shifted = -10000.0 * (1 - mask)[:, None, None]
    yield ("self-mask", 17, MICRO + "Attention", [x, weights, bias, mask], {"num_heads": 2},
           join(attend(query, key, value, shifted)))
    yield ("several", 17, MICRO + "MultiHeadAttention",
           [join(part) for part in (query, key, value)] + [None, mask], {"num_heads": 2},
           join(attend(query, key, value, shifted)))
    few, less = floats(1, 1, 2, 8), floats(1, 1, 2, 8, seed=1)
    query, key, value = (floats(1, heads, 1, 8, seed=2) for heads in (2, 1, 1))
    table = floats(5, 4)
    turned = rotated(key, table[2:3], -table[2:3])
    keys, values = numpy.concatenate([few, turned], 2), numpy.concatenate([less, value], 2)
    for name, window, bias in (("groups", {}, 0), ("groups-window", {"local_window_size": 2},
                                                   numpy.array([-numpy.inf, 0, 0]))):
        yield (name, 17, MICRO + "GroupQueryAttention",
               [join(query), join(key), join(value), few, less, numpy.array([2], numpy.int32),
                numpy.array(3, numpy.int32), table, -table],
               {"num_heads": 2, "kv_num_heads": 1, "do_rotary": 1, **window},
               join(attend(rotated(query, table[2:3], -table[2:3]), keys, values, bias)))
    # One more key for each head, whose value is 0.
    sink = floats(2)
    for name, more, scores in (("sink", {}, sink), ("smooth", {"smooth_softmax": 1}, [0, 0])):
        beside = numpy.array(scores).reshape(1, 2, 1, 1)
        weights = numpy.exp(query @ key.transpose(0, 1, 3, 2) / numpy.sqrt(8))
        yield ("groups-" + name, 17, MICRO + "GroupQueryAttention",
               [join(query), join(key), join(value), None, None, numpy.array([0], numpy.int32),
                numpy.array(1, numpy.int32)] + [None] * 4 + [sink if name == "sink" else None],
               {"num_heads": 2, "kv_num_heads": 1, **more},
               join(weights / (weights + numpy.exp(beside)) @ value))
    positions = numpy.array([2])
    yield ("places", 17, MICRO + "RotaryEmbedding", [join(query), positions, table, -table], {},
           join(rotated(query, table[2:3], -table[2:3])))
