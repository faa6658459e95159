"""Nodes that compute elements; see _onnx_draw.py."""
import numpy as np

from _onnx_draw import Case, of

RANGES = {"Acos": (-1, 1), "Asin": (-1, 1), "Atanh": (-0.99, 0.99), "Acosh": (1, 5),
          "Log": (0.01, 5), "Sqrt": (0, 5), "Tan": (-1.4, 1.4)}
INTEGER_UNARY = {"Abs": 6, "Neg": 6, "Sign": 9, "Relu": 14, "Identity": 1}


@of("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf",
    "Exp", "Floor", "HardSwish", "Identity", "Log", "Mish", "Neg", "Reciprocal", "Relu",
    "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh",
    "IsNaN")
def unary(r, op, v):
    if INTEGER_UNARY.get(op, 99) <= v and r.chance(0.3):
        return Case([r.ints(r.shape(0), r.pick([np.int32, np.int8, np.int64]))])
    low, high = RANGES.get(op, (None, None))
    special = 0 if op in ("Acosh", "Mish") else 0.3
    # onnxruntime's sign of NaN depends on the element type.
    dtype = np.float32 if op == "Sign" else None
    return Case([r.floats(r.shape(0), dtype, low, high, special=special)])


@of("Celu", "Elu", "LeakyRelu", "ThresholdedRelu")
def with_alpha(r, op, v):
    return Case([r.floats(r.shape(), special=0.2)],
                r.some(alpha=r.pick([0.5, 1.0, 2.0, 0.01])))


@of("Selu")
def selu(r, op, v):
    return Case([r.floats(r.shape(), special=0.2)], r.some(alpha=1.5, gamma=2.0))


@of("HardSigmoid")
def hard_sigmoid(r, op, v):
    return Case([r.floats(r.shape(), special=0.2)], r.some(alpha=0.3, beta=0.4))


@of("Gelu")
def gelu(r, op, v):
    return Case([r.floats(r.shape())], r.some(approximate=r.pick(["none", "tanh"])))


@of("Shrink")
def shrink(r, op, v):
    return Case([r.floats(r.shape(), np.float32)], r.some(lambd=0.7, bias=0.2))


@of("PRelu")
def prelu(r, op, v):
    shape = r.shape(2, 4)
    slope = [shape[1]] + [1] * (len(shape) - 2) if r.chance(0.5) else r.broadcast(shape)
    return Case([r.floats(shape, np.float32), r.floats(slope, np.float32)])


@of("IsInf")
def is_inf(r, op, v):
    return Case([r.floats(r.shape(), np.float32, special=1.0)],
                r.some(detect_negative=r.int(0, 1), detect_positive=r.int(0, 1)))


@of("Clip")
def clip(r, op, v):
    dtype = r.pick([np.float32, np.float32, np.float16] + ([np.int32, np.int8] if v >= 12 else []))
    shape = r.shape(0)
    x = (r.floats(shape, dtype, special=0.2) if np.dtype(dtype).kind == "f"
         else r.ints(shape, dtype))
    low, high = r.pick([(-1, 1), (0, 6), (-3, 0)])
    if v < 11:
        attributes = r.some(min=float(low), max=float(high))
        x = x.astype(np.float32)
        # onnxruntime limits infinity to the largest number where no limit is given.
        return Case([x if len(attributes) == 2 else np.nan_to_num(x, posinf=1, neginf=1)],
                    attributes)
    low, high = (np.array(n, dtype) if r.chance(0.7) else None for n in (low, high))
    if low is None or high is None:
        x = np.nan_to_num(x, posinf=1, neginf=1) if x.dtype.kind == "f" else x
    return Case([x, low, high])


def pair(r, dtype, v, special=0.0):
    shape = r.shape()
    other = r.broadcast(shape)
    if np.dtype(dtype).kind == "f":
        both = [r.floats(shape, dtype, special=special), r.floats(other, dtype, special=special)]
    elif dtype == np.bool_:
        both = [r.bools(shape), r.bools(other)]
    else:
        low = 0 if np.dtype(dtype).kind == "u" else -10
        both = [r.ints(shape, dtype, low), r.ints(other, dtype, low)]
    attributes = {}
    if v < 7:
        if r.chance(0.5) and len(shape) > 1:
            first = r.int(0, len(shape) - 1)
            last = r.int(first + 1, len(shape))
            both[1] = np.ascontiguousarray(np.broadcast_to(
                both[1].reshape(-1)[0], shape[first:last]))
            attributes = {"broadcast": 1, "axis": first}
        elif both[1].shape != both[0].shape:
            attributes = {"broadcast": 1}
            both[1] = both[1].reshape(-1)[:1].reshape(())
    elif r.chance(0.5):
        both.reverse()
    return both, attributes


@of("Add", "Sub", "Mul", "Div", "Pow")
def arithmetic(r, op, v):
    types = [np.float32, np.float32, np.float16, np.int32, np.int64]
    if v >= 14 and op != "Pow":
        types += [np.int8, np.uint8]
    dtype = r.pick(types if v >= 7 and (op != "Pow" or v >= 12) else [np.float32])
    both, attributes = pair(r, dtype, v, 0.2)
    if np.dtype(dtype).kind != "f" and op == "Div":
        both[1] = np.where(both[1] == 0, 3, both[1]).astype(dtype)
    if op == "Pow":
        if np.dtype(dtype).kind == "f":
            both[0] = np.abs(both[0])
        else:
            both[1] = np.abs(both[1]) % 4
            both[1] = both[1].astype(dtype)
        if v >= 12 and r.chance(0.3):
            both[1] = both[1].astype(r.pick([np.int32, np.float32]))
    return Case(both, attributes)


@of("Mod")
def mod(r, op, v):
    dtype = r.pick([np.float32, np.int32, np.int8, np.uint8, np.int64])
    both, _ = pair(r, dtype, v)
    both[1] = np.where(np.abs(both[1]) < 0.05, 3, both[1]).astype(dtype)
    fmod = 1 if np.dtype(dtype).kind == "f" else r.int(0, 1)
    return Case(both, {"fmod": fmod})


@of("Max", "Min", "Sum", "Mean")
def several(r, op, v):
    types = [np.float32, np.float32, np.float16]
    if op in ("Max", "Min") and v >= 12:
        types += [np.int32, np.int8, np.uint8, np.int64]
    dtype = r.pick(types)
    shape = r.shape()
    shapes = [shape] + [r.broadcast(shape) if v >= 8 else shape for _ in range(r.int(0, 2))]
    if np.dtype(dtype).kind == "f":
        inputs = [r.floats(s, dtype, special=0.4) for s in shapes]
    else:
        inputs = [r.ints(s, dtype, 0 if dtype == np.uint8 else -10) for s in shapes]
    r.random.shuffle(shapes)
    return Case(inputs)


@of("Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual")
def comparison(r, op, v):
    types = [np.int32, np.bool_] if op == "Equal" and v < 11 else [np.float32, np.float16]
    if v >= 9 and op != "Equal":
        types += [np.int32, np.int64, np.uint8]
    if v < 9 and op != "Equal":
        types = [np.float32]
    if op == "Equal" and v >= 11:
        types += [np.int32, np.int64, np.bool_]
    both, attributes = pair(r, r.pick(types), v, 0.2)
    return Case([np.round(x) if x.dtype.kind == "f" else x for x in both], attributes)


@of("And", "Or", "Xor")
def logic(r, op, v):
    return Case(*pair(r, np.bool_, v))


@of("Not")
def invert(r, op, v):
    return Case([r.bools(r.shape())])


@of("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot")
def bitwise(r, op, v):
    dtype = r.pick([np.int32, np.uint8, np.int8, np.int64])
    both, _ = pair(r, dtype, v)
    if dtype in (np.int32, np.int64):
        both = [(x.astype(np.int64) * 70001 - 5).astype(dtype) for x in both]
    return Case(both[:1] if op == "BitwiseNot" else both)


@of("BitShift")
def bit_shift(r, op, v):
    dtype = r.pick([np.uint8, np.uint32, np.uint16])
    shape = r.shape()
    return Case([r.ints(shape, dtype, 0, 200), r.ints(shape, dtype, 0, 6)],
                {"direction": r.pick(["LEFT", "RIGHT"])})


@of("Where")
def where(r, op, v):
    shape = r.shape()
    dtype = r.pick([np.float32, np.float16, np.int32, np.int64, np.uint8])
    values = [r.floats(r.broadcast(shape), dtype, special=0.2) if np.dtype(dtype).kind == "f"
              else r.ints(r.broadcast(shape), dtype, 0) for _ in range(2)]
    return Case([r.bools(shape)] + values)


@of("Cast")
def cast(r, op, v):
    source = r.pick([np.float32, np.float16, np.int32, np.int64, np.bool_, np.uint8, np.int8])
    shape = r.shape(0)
    x = (r.bools(shape) if source == np.bool_ else
         (r.floats(shape, np.float32) * 5).astype(source) if np.dtype(source).kind == "f"
         else r.ints(shape, source, 0 if source == np.uint8 else -10))
    to = r.pick([1, 2, 3, 5, 6, 7, 9, 10, 11, 12])
    if to in (2, 12):
        x = np.abs(x) if x.dtype != np.bool_ else x
    return Case([x], {"to": to, **r.some(saturate=1)})


@of("CastLike")
def cast_like(r, op, v):
    target = r.pick([np.float32, np.float16, np.int32, np.int64, np.bool_, np.int8])
    return Case([r.floats(r.shape(), np.float32) * 5, np.zeros([1], target)])
