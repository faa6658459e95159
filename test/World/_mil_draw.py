"""Cases of MIL's operators: inputs, the other parameters, and where coremltools infers
no values, what PyTorch computes."""
import dataclasses
import typing

import numpy as np

from _onnx_draw import Draw

F = np.float32


@dataclasses.dataclass
class Case:
    inputs: dict
    arguments: typing.Callable
    right: typing.Optional[typing.Callable] = None
    # `arguments` and `right` of operator sets with parameters of other names.
    others: tuple = ()
    # The operator that the results go to, for those that only another takes.
    then: typing.Optional[typing.Callable] = None


CASES = {}


def of(*names):
    def add(maker):
        for name in names:
            CASES[name] = maker
        return maker
    return add


def case(inputs, right=None, **constants):
    return Case(inputs, lambda own: {**own, **constants}, right)


def torch(function):
    """Applied to tensors of the inputs; gives arrays."""
    def right(**inputs):
        import torch as library
        library.set_num_threads(1)
        result = function(library, **{key: library.from_numpy(np.array(array))
                                      for key, array in inputs.items()})
        return [one.numpy() for one in result] if isinstance(result, (tuple, list)) \
            else result.numpy()
    return right


# Elements.

RANGES = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.9, 0.9), "log": (0.1, 4),
          "sqrt": (0, 4), "rsqrt": (0.1, 4), "inverse": (0.5, 4), "tan": (-1.4, 1.4)}
SPECIAL = ("abs", "ceil", "exp", "floor", "relu", "relu6", "sign", "square", "sigmoid", "tanh")


@of("abs", "acos", "asin", "atan", "atanh", "ceil", "cos", "cosh", "erf", "exp", "exp2",
    "floor", "identity", "inverse", "log", "relu", "relu6", "round", "rsqrt", "sigmoid", "sign",
    "sin", "sinh", "softplus", "softsign", "sqrt", "square", "tan", "tanh")
def unary(r, op):
    low, high = RANGES.get(op, (None, None))
    x = r.floats(r.shape(), F, low, high, special=0.3 if op in SPECIAL else 0)
    extra = r.some(epsilon=F(0.01)) if op in ("inverse", "log", "rsqrt") else {}
    return case({"x": x}, **extra)


@of("silu")
def silu(r, op):
    return case({"x": r.floats(r.shape(), F)},
                torch(lambda t, x: t.nn.functional.silu(x)))


@of("elu", "leaky_relu", "threshold", "thresholded_relu")
def with_alpha(r, op):
    return case({"x": r.floats(r.shape(), F)}, alpha=F(r.pick([0.1, 0.5, 1.0])))


@of("clamped_relu", "clip", "linear_activation", "scaled_tanh", "sigmoid_hard")
def with_alpha_beta(r, op):
    low, high = (-1.0, 1.0) if op == "clip" else (0.3, 0.8)
    return case({"x": r.floats(r.shape(), F, special=0.3 if op == "clip" else 0)},
                alpha=F(low), beta=F(high))


@of("softplus_parametric")
def softplus_parametric(r, op):
    x = r.floats(r.shape(3, 4), F)
    c = x.shape[1]
    return case({"x": x}, alpha=r.floats([c], F, 0.5, 2), beta=r.floats([c], F, 0.5, 2))


@of("prelu")
def prelu(r, op):
    x = r.floats(r.shape(3, 4), F)
    return case({"x": x}, alpha=r.floats([x.shape[1]], F))


@of("gelu")
def gelu(r, op):
    return case({"x": r.floats(r.shape(), F)}, **r.some(mode=r.pick(
        ["EXACT", "TANH_APPROXIMATION", "SIGMOID_APPROXIMATION"])))


@of("add", "sub", "mul", "real_div", "floor_div", "mod", "pow", "maximum", "minimum", "equal",
    "not_equal", "greater", "greater_equal", "less", "less_equal")
def binary(r, op):
    shape = r.shape()
    dtype = np.int32 if op not in ("pow", "real_div") and r.chance(0.3) else F
    x, y = (r.floats(s, F, special=0.4 if op in ("maximum", "minimum") else 0)
            if dtype == F else r.ints(s, dtype) for s in (shape, (r.broadcast(shape) or [1])))
    if op in ("floor_div", "mod", "real_div"):
        y = np.where(np.abs(y) < 0.2, 3, y).astype(dtype)
    if op == "pow":
        x = np.abs(x)
    if op.startswith(("equal", "not_eq", "gr", "less")):
        x, y = np.round(x), np.round(y)
    return case({"x": np.asarray(x, dtype), "y": np.asarray(y, dtype)})


@of("logical_and", "logical_or", "logical_xor")
def logical(r, op):
    shape = r.shape()
    return case({"x": r.bools(shape), "y": r.bools(shape)})


@of("logical_not")
def logical_not(r, op):
    return case({"x": r.bools(r.shape())})


@of("select")
def select(r, op):
    shape = r.shape()
    return case({"cond": r.bools(shape), "a": r.floats(shape, F), "b": r.floats(shape, F)})


@of("cast")
def cast(r, op):
    x = r.floats(r.shape(), F) * 5 if r.chance(0.5) else r.ints(r.shape(), np.int32)
    return case({"x": x.astype(F) if x.dtype.kind == "f" else x},
                dtype=r.pick(["fp32", "fp16", "int32", "bool"]))


# Reductions.

@of("reduce_l1_norm", "reduce_l2_norm", "reduce_log_sum", "reduce_log_sum_exp", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "reduce_sum_square")
def reduce(r, op):
    low, high = (0.2, 2) if op == "reduce_log_sum" else (None, None)
    x = r.floats(r.shape(1, 4), F, low, high,
                 special=0.4 if op in ("reduce_max", "reduce_min", "reduce_log_sum_exp") else 0)
    axes = [int(a) for a in r.random.permutation(x.ndim)[:r.int(1, x.ndim)]]
    axes = [a - x.ndim if r.chance(0.3) else a for a in axes]
    right = None
    extra = r.some(axes=axes, keep_dims=bool(r.int(0, 1)))
    if op == "reduce_log_sum_exp":
        right = torch(lambda t, x: t.logsumexp(
            x, tuple(extra.get("axes", range(x.ndim))), extra.get("keep_dims", False)))
    return case({"x": x}, right, **extra)


@of("reduce_argmax", "reduce_argmin")
def arg(r, op):
    x = r.floats(r.shape(1, 4), F, special=0.3)
    return case({"x": x}, **r.some(axis=r.axis(x.ndim), keep_dims=bool(r.int(0, 1))))


@of("argsort")
def argsort(r, op):
    x = r.floats(r.shape(1, 3), F)
    return case({"x": x}, **r.some(axis=r.axis(x.ndim), ascending=bool(r.int(0, 1))))


@of("topk")
def topk(r, op):
    x = r.floats(r.shape(1, 3), F)
    axis = r.axis(x.ndim)
    return case({"x": x}, k=r.int(1, x.shape[axis]), axis=axis,
                **r.some(ascending=bool(r.int(0, 1))))


@of("cumsum")
def cumsum(r, op):
    x = r.floats(r.shape(1, 4), F)
    given = r.some(axis=r.int(0, x.ndim - 1), exclusive=bool(r.int(0, 1)),
                   reverse=bool(r.int(0, 1)))
    axis = given.get("axis", 0)

    def right(x):
        turned = np.flip(x, axis) if given.get("reverse") else x
        sums = np.cumsum(turned, axis)
        sums = sums - turned if given.get("exclusive") else sums
        return np.flip(sums, axis) if given.get("reverse") else sums
    return case({"x": x}, right, **given)


@of("softmax")
def softmax(r, op):
    x = r.floats(r.shape(1, 4), F) * F(3)
    return case({"x": x}, **r.some(axis=r.axis(x.ndim)))


# Movement.

@of("transpose")
def transpose(r, op):
    x = r.floats(r.shape(1, 5, 4), F)
    return case({"x": x}, perm=[int(i) for i in r.random.permutation(x.ndim)])


@of("reshape")
def reshape(r, op):
    x = r.floats(r.shape(1, 4, 4), F)
    shape = [int(n) for n in r.random.permutation(x.shape)]
    if r.chance(0.4):
        shape[0] = -1
    return case({"x": x}, shape=shape)


@of("reshape_like")
def reshape_like(r, op):
    x = r.floats([6, 4], F)
    shaped = r.floats([2, 3, 4], F)
    return Case({"x": x, "ref": shaped},
                lambda own: {"x": own["x"], "ref_tensors": (own["ref"],), "begins": [0],
                             "ends": [3], "end_masks": [False]},
                lambda x, ref: x.reshape(2, 3, 4))


@of("expand_dims")
def expand_dims(r, op):
    x = r.floats(r.shape(1, 3), F)
    return case({"x": x}, axes=[r.int(-x.ndim - 1, x.ndim)])


@of("squeeze")
def squeeze(r, op):
    shape = r.shape(2, 4)
    axis = r.int(0, len(shape) - 1)
    shape[axis] = 1
    return case({"x": r.floats(shape, F)}, **({"axes": [axis]} if r.chance(0.6) or
                                              all(n == 1 for n in shape) else {}))


@of("flatten2d")
def flatten2d(r, op):
    x = r.floats(r.shape(2, 4), F)
    return case({"x": x}, **r.some(axis=r.int(1, x.ndim - 1)))


@of("concat")
def concat(r, op):
    shape = r.shape(1, 4)
    axis = r.int(0, len(shape) - 1)
    interleave = r.chance(0.2)
    inputs = {}
    for i in range(r.int(2, 3)):
        own = list(shape)
        own[axis] = shape[axis] if interleave else r.int(1, 3)
        inputs[f"v{i}"] = r.floats(own, F)

    def woven(**arrays):
        """What coremltools 9.0 infers of constants leaves `interleave` out."""
        arrays = list(arrays.values())
        return np.stack(arrays, axis + 1).reshape(
            shape[:axis] + [len(arrays) * shape[axis]] + shape[axis + 1:])
    return Case(inputs, lambda own: {"values": list(own.values()), "axis": axis,
                                     "interleave": interleave}, woven if interleave else None)


@of("stack")
def stack(r, op):
    shape = r.shape(1, 3)
    inputs = {f"v{i}": r.floats(shape, F) for i in range(r.int(2, 3))}
    axis = r.int(-len(shape) - 1, len(shape))
    return Case(inputs, lambda own: {"values": list(own.values()), "axis": axis})


@of("split")
def split(r, op):
    shape = r.shape(1, 3)
    axis = r.int(0, len(shape) - 1)
    sizes = [r.int(1, 3) for _ in range(r.int(2, 3))]
    if r.chance(0.5):
        shape[axis] = 2 * len(sizes)
        return case({"x": r.floats(shape, F)}, num_splits=len(sizes), axis=axis)
    shape[axis] = sum(sizes)
    return case({"x": r.floats(shape, F)}, split_sizes=sizes, axis=axis)


@of("slice_by_index")
def slice_by_index(r, op):
    x = r.floats(r.shape(1, 4), F)
    begin, end, stride = [], [], []
    for n in x.shape:
        first = r.int(0, n - 1)
        begin.append(first - n if r.chance(0.3) else first)
        end.append(r.int(first + 1, n))
        stride.append(r.int(1, 2))
    masks = r.some(begin_mask=[r.chance(0.4) for _ in begin],
                   end_mask=[r.chance(0.4) for _ in begin])
    if x.ndim > 1:
        masks.update(r.some(squeeze_mask=[True] + [False] * (x.ndim - 1)))
    return case({"x": x}, begin=begin, end=end, **masks,
                **({} if "squeeze_mask" in masks else r.some(stride=stride)))


@of("slice_by_size")
def slice_by_size(r, op):
    x = r.floats(r.shape(1, 4), F)
    begin = [r.int(0, n - 1) for n in x.shape]
    return case({"x": x}, begin=begin,
                size=[-1 if r.chance(0.3) else r.int(1, n - b) for n, b in zip(x.shape, begin)])


@of("slice_update")
def slice_update(r, op):
    x = r.floats([4, 5], F)
    begin = [r.int(0, 2), r.int(0, 2)]
    end = [r.int(begin[0] + 1, 4), r.int(begin[1] + 1, 5)]
    return case({"x": x, "update": r.floats([e - b for b, e in zip(begin, end)], F)},
                begin=begin, end=end)


@of("pad")
def pad(r, op):
    x = r.floats(r.shape(2, 4, 5), F)
    mode = r.pick(["constant", "reflect", "replicate"])
    count = x.ndim if mode == "constant" else min(2, x.ndim)
    amounts = []
    for n in x.shape[-count:]:
        most = n - 1 if mode == "reflect" else 2
        amounts += [r.int(0, most), r.int(0, most)]
    extra = r.some(constant_val=F(2.5)) if mode == "constant" else {}
    return case({"x": x}, pad=amounts, mode=mode, **extra)


@of("tile")
def tile(r, op):
    x = r.floats(r.shape(1, 3, 4), F)
    return case({"x": x}, reps=[r.int(1, 3) for _ in x.shape])


@of("reverse")
def reverse(r, op):
    x = r.floats(r.shape(1, 4), F)
    return case({"x": x}, **r.some(axes=[r.axis(x.ndim)]))


@of("reverse_sequence")
def reverse_sequence(r, op):
    x = r.floats([r.int(1, 4), r.int(2, 5), 2], F)
    lengths = r.ints([x.shape[0]], np.int32, 1, x.shape[1])

    def right(x):
        y = x.copy()
        for i, n in enumerate(lengths):
            y[i, :n] = x[i, :n][::-1]
        return y
    return case({"x": x}, right, lengths=lengths, seq_axis=1, batch_axis=0)


@of("band_part")
def band_part(r, op):
    return case({"x": r.floats(r.shape(2, 4), F)}, **r.some(lower=r.int(-1, 2),
                                                            upper=r.int(-1, 2)))


@of("fill")
def fill(r, op):
    shape, value = r.shape(), F(1.5)
    return Case({"x": r.floats([1], F)}, lambda own: {"shape": shape, "value": value},
                lambda x: np.full(shape, value, F))


@of("fill_like")
def fill_like(r, op):
    x = r.floats(r.shape(), F)
    return case({"ref_tensor": x}, lambda ref_tensor: np.full(x.shape, 2, F), value=F(2))


@of("shape")
def shape(r, op):
    return case({"x": r.floats(r.shape(), F)})


@of("range_1d")
def range_1d(r, op):
    start, step = r.int(-3, 3), r.pick([1, 2])
    return Case({"x": r.floats([1], F)},
                lambda own: {"start": start, "end": start + 7, "step": step},
                lambda x: np.arange(start, start + 7, step, np.int32))


@of("non_zero")
def non_zero(r, op):
    x = np.round(r.floats(r.shape(1, 3), F))
    x.reshape(-1)[0] = 1
    return case({"x": x})


@of("one_hot")
def one_hot(r, op):
    indices = r.ints(r.shape(1, 3), np.int32, 0, 3)
    on, off = F(2), F(-1)

    def right(indices):
        return np.where(np.arange(4) == indices[..., None], on, off).astype(F)
    return case({"indices": indices}, right, one_hot_vector_size=4, axis=-1, on_value=on,
                off_value=off)


@of("gather")
def gather(r, op):
    x = r.floats(r.shape(1, 4), F)
    axis = r.axis(x.ndim)
    return case({"x": x, "indices": r.ints(r.shape(1, 2), np.int32, 0, x.shape[axis] - 1)},
                axis=axis)


@of("gather_along_axis")
def gather_along_axis(r, op):
    x = r.floats(r.shape(1, 4), F)
    axis = r.axis(x.ndim)
    shape = list(x.shape)
    shape[axis] = r.int(1, 4)
    return case({"x": x, "indices": r.ints(shape, np.int32, 0, x.shape[axis] - 1)}, axis=axis)


@of("gather_nd")
def gather_nd(r, op):
    x = r.floats(r.shape(2, 4), F)
    depth = r.int(1, x.ndim)
    rows = np.stack([r.ints([3], np.int32, 0, n - 1) for n in x.shape[:depth]], -1)
    return case({"x": x, "indices": rows}, lambda x, indices: x[tuple(indices.T)])


@of("scatter")
def scatter(r, op):
    data = r.floats(r.shape(1, 3), F)
    axis = r.int(0, data.ndim - 1)
    rows = r.random.permutation(data.shape[axis])[:r.int(1, data.shape[axis])].astype(np.int32)
    shape = list(data.shape)
    shape[axis] = len(rows)
    mode = r.pick(["add", "update", "max", "min", "mul"])
    apply = {"add": np.add, "max": np.maximum, "min": np.minimum, "mul": np.multiply,
             "update": lambda a, b: b}[mode]

    def right(data, indices, updates):
        out = data.copy()
        at = (slice(None),) * axis + (indices,)
        out[at] = apply(out[at], updates)
        return out
    return case({"data": data, "indices": rows, "updates": r.floats(shape, F)}, right,
                axis=axis, mode=mode)


@of("scatter_along_axis")
def scatter_along_axis(r, op):
    data = r.floats(r.shape(1, 3), F)
    axis = r.int(0, data.ndim - 1)
    order = np.argsort(r.random.random(data.shape), axis).astype(np.int32)
    mode = r.pick(["add", "update", "mul"])

    def right(data, indices, updates):
        out = data.copy()
        old = np.take_along_axis(out, indices, axis)
        new = {"add": old + updates, "mul": old * updates, "update": updates}[mode]
        np.put_along_axis(out, indices, new, axis)
        return out
    return case({"data": data, "indices": order, "updates": r.floats(data.shape, F)}, right,
                axis=axis, mode=mode)


@of("scatter_nd")
def scatter_nd(r, op):
    data = r.floats([4, 3], F)
    rows = r.random.permutation(4)[:2].astype(np.int32)[:, None]

    def right(data, indices, updates):
        out = data.copy()
        out[indices[:, 0]] += updates
        return out
    return case({"data": data, "indices": rows, "updates": r.floats([2, 3], F)}, right,
                mode="add")
