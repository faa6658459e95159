"""Rules of operators of language models, with results by their definitions in numpy; see
run_rules.py."""
import numpy

SHAPE = (2, 4, 3, 2)


def floats(*shape, seed=0):
    return numpy.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def attend(query, key, value, bias=0, scale=None):
    """Of [batch, heads, positions, width]; rows without a key give 0."""
    group = query.shape[1] // key.shape[1]
    key, value = (numpy.repeat(x, group, axis=1) for x in (key, value))
    scale = 1 / numpy.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.swapaxes(2, 3)).astype("float64") * scale + bias
    largest = scores.max(axis=-1, keepdims=True)
    weights = numpy.exp(scores - numpy.where(numpy.isinf(largest), 0, largest))
    sums = weights.sum(axis=-1, keepdims=True)
    return weights / numpy.where(sums == 0, 1, sums) @ value


def split(x, heads):
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def join(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def reach(queries, keys, left, right):
    distance = numpy.arange(keys) - numpy.arange(queries)[:, None]
    keeps = (distance >= -left) & (distance <= right)
    return numpy.where(keeps, 0, -numpy.inf)


def rotated(x, cosines, sines, neighbors=False):
    """Of the last axis of [..., positions, width]."""
    half = cosines.shape[-1]
    parts = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if neighbors else (
        slice(0, half), slice(half, 2 * half))
    result = x.copy()
    first, second = x[..., parts[0]], x[..., parts[1]]
    result[..., parts[0]] = first * cosines - second * sines
    result[..., parts[1]] = second * cosines + first * sines
    return result


# name, version, operator, inputs, attributes, result
def rules():
    query, key, value = (floats(*SHAPE, seed=seed) for seed in range(3))
    nothing = numpy.ones((3, 3), bool)
    nothing[1] = False
    mask = numpy.where(nothing, floats(3, 3), -numpy.inf).astype("float32")
    yield "attention", 23, "Attention", [query, key, value], {}, attend(query, key, value)
    yield ("attention-bool", 23, "Attention", [query, key, value, nothing], {},
           attend(query, key, value, numpy.where(nothing, 0, -numpy.inf)))
    yield ("attention-bias", 23, "Attention", [query, key, value, mask], {},
           attend(query, key, value, mask))
    few, less = key[:, :2], value[:, :2]
    yield ("attention-groups", 23, "Attention", [query, few, less], {"is_causal": 1},
           attend(query, few, less, reach(3, 3, 3, 0)))
    yield ("attention-window", 25, "Attention", [query, key, value],
           {"left_window_size": 1, "right_window_size": 1},
           attend(query, key, value, reach(3, 3, 1, 1)))
    lengths = numpy.array([2, 3])
    short = numpy.where(numpy.arange(3) < lengths[:, None, None, None], 0, -numpy.inf)
    yield ("attention-lengths", 24, "Attention", [query, key, value, None, None, None, lengths],
           {}, attend(query, key, value, short))
    yield ("attention-flat", 23, "Attention", [join(query), join(few), join(less)],
           {"q_num_heads": 4, "kv_num_heads": 2, "scale": 0.5},
           join(attend(query, few, less, scale=0.5)))
    cosines, sines = floats(2, 3, 1), floats(2, 3, 1, seed=1)
    turned = rotated(query, cosines[:, None], sines[:, None])
    yield "rotary", 23, "RotaryEmbedding", [query, cosines, sines], {}, turned
    yield ("rotary-flat", 23, "RotaryEmbedding", [join(query), cosines, sines],
           {"num_heads": 4, "interleaved": 1}, join(turned))
    wide, table = floats(1, 1, 3, 6), floats(5, 2)
    places = numpy.array([[4, 0, 2]])
    yield ("rotary-neighbors", 23, "RotaryEmbedding", [wide, table, -table, places],
           {"rotary_embedding_dim": 4, "interleaved": 1, "num_heads": 1},
           rotated(wide, table[places[0]], -table[places[0]], True))
    cache, update = floats(2, 4, 2), floats(2, 2, 2)
    written = cache.copy()
    for batch, place in enumerate([3, 1]):
        for i in range(2):
            written[batch, (place + i) % 4] = update[batch, i]
    yield ("cache", 24, "TensorScatter", [cache, update, numpy.array([3, 1])],
           {"axis": 1, "mode": "circular"}, written)
    written = cache.copy()
    written[:, :2] = update
    yield "cache-start", 24, "TensorScatter", [cache, update], {"axis": 1}, written
    x, scale = floats(2, 5), floats(5)
    square = (x.astype("float64") ** 2).mean(axis=1, keepdims=True)
    yield ("squares", 23, "RMSNormalization", [x, scale], {"epsilon": 0.1},
           x / numpy.sqrt(square + numpy.float32(0.1)) * scale)
    yield "swish", 24, "Swish", [x], {"alpha": 2.0}, x / (1 + numpy.exp(-2.0 * x))
    yield "swiglu", 28, "SwiGLU", [x, -x], {}, -x * x / (1 + numpy.exp(-x))
    yield "products", 26, "CumProd", [x, numpy.array(1)], {}, x.cumprod(axis=1)
    back = numpy.ones_like(x)
    back[:, :-1] = x[:, :0:-1].cumprod(axis=1)[:, ::-1]
    yield ("products-back", 26, "CumProd", [x, numpy.array(1)], {"exclusive": 1, "reverse": 1},
           back)
    bytes_ = numpy.array([0, 127, 128, 255], numpy.uint8)
    yield "bits-of", 26, "BitCast", [bytes_], {"to": 3}, bytes_.view(numpy.int8)
    signed, by = numpy.array([-5, 5, -5, 5, -128], numpy.int8), \
        numpy.array([1, 1, 9, -1, 1], numpy.int8)
    yield "shift-right", 28, "BitShift", [signed, by], {"direction": "RIGHT"}, [-3, 2, -1, 0, -64]
    yield "shift-left", 28, "BitShift", [signed, by], {"direction": "LEFT"}, [-10, 10, 0, 0, 0]
    yield from states()


def states():
    """Layers with states."""
    x, weight, past = floats(1, 2, 4), floats(2, 1, 3), floats(1, 2, 2)
    padded = numpy.concatenate([past, x], axis=2)
    right = sum(padded[:, :, i:i + 4] * weight[:, 0, i, None] for i in range(3))
    yield ("causal", 27, "CausalConvWithState", [x, weight, None, past],
           {"activation": "silu"}, right / (1 + numpy.exp(-right)))
    query, key, value = (floats(1, 3, 4, seed=seed) for seed in range(3))
    decay, beta = -abs(floats(1, 3, 2)), abs(floats(1, 3, 1))
    state, right = numpy.zeros((2, 2, 2)), []
    for i in range(3):
        q, k, v = (x[0, i].reshape(2, 2) for x in (query, key, value))
        state *= numpy.exp(decay[0, i])[:, None, None]
        v = beta[0, i] * (v - numpy.einsum("hdm,hd->hm", state, k))
        state += k[:, :, None] * v[:, None]
        right.append(numpy.einsum("hd,hdm->hm", q, state) / numpy.sqrt(2))
    yield ("linear", 27, "LinearAttention", [query, key, value, None, decay, beta],
           {"q_num_heads": 2, "kv_num_heads": 2}, numpy.array(right))
