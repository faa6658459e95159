"""Nodes of language models: attention, positions, caches; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of


def heads(r):
    """The heads of queries, and those that share keys."""
    shared = r.int(1, 2)
    return shared * r.pick([1, 1, 2, 3]), shared


def mask_of(r, batch, count, queries, keys, special=True):
    """A mask that broadcasts to [batch, heads, queries, keys]: bool, or floats that may
    be minus infinity."""
    shape = r.pick([[queries, keys], [1, 1, queries, keys], [batch, 1, queries, keys],
                    [batch, count, queries, keys], [batch, 1, 1, keys]])
    if r.chance(0.5):
        return r.bools(shape) | (r.random.random(shape) < 0.3)
    mask = r.floats(shape, np.float32)
    if special and r.chance(0.6):
        mask[r.random.random(shape) < 0.4] = -np.inf
    return mask


@of("Attention")
def attention(r, op, v):
    batch, queries, fresh, width, out = (r.int(1, n) for n in (2, 4, 5, 6, 5))
    count, shared = heads(r)
    past = r.int(1, 3) if r.chance(0.4) else 0
    keys = fresh + past
    flat = r.chance(0.4)

    def heads_of(number, length, last):
        x = r.floats([batch, number, length, last], np.float32)
        if not flat:
            return x
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(batch, length, -1)

    inputs = [heads_of(count, queries, width), heads_of(shared, fresh, width),
              heads_of(shared, fresh, out)]
    inputs.append(mask_of(r, batch, count, queries, keys) if r.chance(0.6) else None)
    attributes = r.some(scale=0.4, softcap=1.5, is_causal=1)
    if flat:
        attributes.update(q_num_heads=count, kv_num_heads=shared)
    if v >= 25 and r.chance(0.4):
        attributes.update(r.some(left_window_size=r.int(0, 3), right_window_size=r.int(0, 3)))
    outputs = 1
    if past:
        if queries == 1 and fresh > 1:
            # onnxruntime lets one query see the keys behind it, ONNX's reference does not.
            attributes.pop("is_causal", None)
        inputs += [r.floats([batch, shared, past, n], np.float32) for n in (width, out)]
        outputs = 3
    elif v >= 24 and r.chance(0.3):
        inputs += [None, None, r.ints([batch], np.int64, 1, keys)]
    if past and r.chance(0.5):
        outputs = 4
        # Scores with a mask are -infinity in ONNX, and sometimes not in onnxruntime.
        attributes["qk_matmul_output_mode"] = r.pick([0, 1, 3])
    return Case(inputs, attributes, outputs)


@of("RotaryEmbedding")
def rotary_embedding(r, op, v):
    batch, count, length, half = (r.int(1, n) for n in (2, 3, 4, 3))
    width = 2 * half
    last = width + (r.int(0, 3) if r.chance(0.4) else 0)
    flat = r.chance(0.5)
    shape = [batch, length, count * last] if flat else [batch, count, length, last]
    attributes = r.some(interleaved=1)
    if flat or last != width:
        attributes["num_heads"] = count
    if last != width:
        attributes["rotary_embedding_dim"] = width
    if r.chance(0.5):
        caches = [r.floats([7, half], np.float32) for _ in range(2)]
        return Case([r.floats(shape, np.float32), *caches,
                     r.ints([batch, length], np.int64, 0, 6)], attributes)
    caches = [r.floats([batch, length, half], np.float32) for _ in range(2)]
    return Case([r.floats(shape, np.float32), *caches], attributes)


@of("TensorScatter")
def tensor_scatter(r, op, v):
    shape = r.shape(3, 4, 5)
    axis = r.int(1, len(shape) - 1)
    update = list(shape)
    update[axis] = r.int(1, shape[axis])
    ring = r.chance(0.4)
    most = shape[axis] - (1 if ring else update[axis])
    places = r.ints([shape[0]], np.int64, 0, most) if r.chance(0.7) else None
    dtype = r.pick([np.float32, np.float16, np.int32])
    make = r.floats if np.dtype(dtype).kind == "f" else r.ints
    return Case([make(shape, dtype), make(update, dtype), places],
                {"axis": axis - len(shape) if r.chance(0.5) else axis,
                 **({"mode": "circular"} if ring else {})})


@of("RMSNormalization")
def rms_normalization(r, op, v):
    shape = r.shape(2, 4)
    axis = r.int(1, len(shape) - 1)
    return Case([r.floats(shape, np.float32), r.floats(shape[axis:], np.float32)],
                {"axis": axis, **r.some(epsilon=0.1)})


@of("Swish")
def swish(r, op, v):
    attributes = r.some(alpha=r.pick([0.5, 2.0]))
    return Case([r.floats(r.shape(), np.float32)], attributes,
                right=lambda x: [x / (1 + np.exp(-attributes.get("alpha", 1.0) * x))])


@of("SwiGLU")
def swiglu(r, op, v):
    shape = r.shape()
    attributes = r.some(alpha=1.5)
    return Case([r.floats(shape, np.float32) for _ in range(2)], attributes, right=lambda a, b: [
        a / (1 + np.exp(-attributes.get("alpha", 1.0) * a)) * b])


@of("CumProd")
def cum_prod(r, op, v):
    shape = r.shape()
    dtype = r.pick([np.float32, np.int32])
    x = r.floats(shape, dtype) if dtype == np.float32 else r.ints(shape, dtype, -2, 3)
    return Case([x, np.array(r.axis(len(shape)))], r.some(exclusive=1, reverse=1), fixed=(1,))


@of("BitCast")
def bit_cast(r, op, v):
    source, to = r.pick([(np.int8, 2), (np.uint8, 3), (np.int16, 4), (np.uint16, 5)])
    low = -100 if np.dtype(source).kind == "i" else 0
    return Case([r.ints(r.shape(), source, low, 127 if source == np.int8 else 250)], {"to": to})


@of("CausalConvWithState")
def causal_conv(r, op, v):
    batch, channels, length, width = r.int(1, 2), r.int(1, 4), r.int(1, 5), r.int(2, 4)
    past = r.floats([batch, channels, width - 1], np.float32) if r.chance(0.5) else None
    bias = r.floats([channels], np.float32) if r.chance(0.5) else None
    return Case([r.floats([batch, channels, length], np.float32),
                 r.floats([channels, 1, width], np.float32), bias, past],
                r.some(activation=r.pick(["none", "silu", "swish"])), outputs=2)


@of("LinearAttention")
def linear_attention(r, op, v):
    batch, length, width, out = (r.int(1, n) for n in (2, 4, 4, 3))
    count, shared = heads(r)
    rule = r.pick(["gated_delta", "linear", "gated", "delta"])
    inputs = [r.floats([batch, length, n], np.float32)
              for n in (count * width, shared * width, shared * out)]
    inputs.append(r.floats([batch, shared, width, out], np.float32) if r.chance(0.5) else None)
    decays = r.pick([shared, shared * width])
    inputs.append(-np.abs(r.floats([batch, length, decays], np.float32))
                  if rule.startswith("gated") else None)
    inputs.append(np.abs(r.floats([batch, length, r.pick([1, shared])], np.float32))
                  if rule.endswith("delta") else None)
    return Case(inputs, {"q_num_heads": count, "kv_num_heads": shared, "update_rule": rule,
                         **r.some(scale=0.5)}, outputs=2)


# Sequences and optional values: in a graph that begins and ends with tensors.

def node(op, inputs, outputs, **attributes):
    import onnx
    return onnx.helper.make_node(op, inputs, outputs, **attributes)


def place(name, value):
    """A constant of rank 0."""
    import onnx
    return node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(value)))


@of("SequenceConstruct", "SequenceAt", "SequenceLength", "SequenceInsert", "SequenceErase",
    "SequenceEmpty", "ConcatFromSequence")
def sequence(r, op, v):
    shape, dtype = r.shape(1, 3), r.pick([np.float32, np.int64])
    make = r.ints if dtype == np.int64 else r.floats
    # Every place of the sequence from both ends, and of one that is inserted.
    count = r.int(1, 4)
    at, end = r.int(-count, count - 1), r.int(-count, count)
    is_stack, axis = r.chance(0.3), r.axis(len(shape))
    names_place = r.chance(0.7)
    arrays = [make(shape, dtype) for _ in range(count + (op == "SequenceInsert"))]
    kind = 7 if dtype == np.int64 else 1

    def graph(names):
        first = [node("SequenceConstruct", names[:count], ["s"])]
        concat = node("ConcatFromSequence", ["t"], ["y0"], axis=axis)
        places = ["p"] if names_place else []
        if op == "SequenceLength":
            return first + [node(op, ["s"], ["y0"])]
        if op == "SequenceInsert":
            return first + [place("p", end), node(op, ["s", names[count], *places], ["t"]), concat]
        if op == "SequenceErase" and count > 1:
            return first + [place("p", at), node(op, ["s", *places], ["t"]), concat]
        if op == "SequenceEmpty":
            return [node(op, [], ["s"], dtype=kind),
                    node("SequenceInsert", ["s", names[0]], ["t"]), concat]
        if op == "ConcatFromSequence":
            return first + [node(op, ["s"], ["y0"], axis=axis, new_axis=int(is_stack))]
        return first + [place("p", at), node("SequenceAt", ["s", "p"], ["y0"])]
    return Case(arrays, graph=graph)


@of("SplitToSequence")
def split_to_sequence(r, op, v):
    shape = r.shape(1, 3)
    axis = r.axis(len(shape))
    form = r.pick(["ones", "ones", "size", "sizes"])
    extent, sizes = shape[axis], []
    while sum(sizes) < extent:
        sizes.append(r.int(1, extent - sum(sizes)))
    count = {"ones": extent, "size": -(-extent // sizes[0]), "sizes": len(sizes)}[form]
    split = {"ones": None, "size": np.array(sizes[0]), "sizes": np.array(sizes)}[form]
    attributes = {"axis": axis, **({"keepdims": r.int(0, 1)} if form == "ones" else {})}
    at = r.int(-count, count - 1)

    def graph(names):
        return [node(op, names, ["s"], **attributes), place("p", at),
                node("SequenceAt", ["s", "p"], ["y0"])]
    return Case([r.floats(shape, np.float32)] + ([] if split is None else [split]), fixed=(1,),
                graph=graph)


@of("Optional", "OptionalGetElement", "OptionalHasElement")
def optional(r, op, v):
    last = "OptionalHasElement" if op == "OptionalHasElement" else "OptionalGetElement"
    return Case([r.floats(r.shape(), np.float32)], graph=lambda names: [
        node("Optional", names, ["o"]), node(last, ["o"], ["y0"])])
