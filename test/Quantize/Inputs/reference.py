"""What docs/use/quantization.md defines, in numpy, and readers of what anec writes."""
import json
import pathlib
import re
import struct

import numpy as np

BITS = {"int8": 8, "int4": 4, "lut4": 4, "lut6": 6}
MOST = {"int8": 127, "int4": 7}


# Definitions.

def rounded(value, dtype):
    """`value` in double precision, rounded to `dtype`."""
    with np.errstate(over="ignore"):
        return np.float64(dtype(value))


def scale_of(largest, most, dtype):
    if largest == 0:
        return 1.0
    exact = np.float64(largest) / most
    scale = dtype(exact)
    if np.float64(scale) < exact:
        scale = np.nextafter(scale, dtype(np.inf))
    if np.isinf(rounded(np.float64(scale) * most, dtype)):
        scale = np.nextafter(scale, dtype(0))
    return np.float64(scale)


def integers(values, scale, most):
    return np.clip(np.rint(values / scale), -most, most)


def error_of(values, scale, most):
    errors = values - scale * integers(values, scale, most)
    # In the order of the elements, as a program adds.
    return np.cumsum(errors * errors)[-1]


def quantize_linear(values, form, dtype):
    """The scale and the integers of one block."""
    values, most = values.astype(np.float64), MOST[form]
    largest = np.abs(values).max()
    best = scale_of(largest, most, dtype)
    if form == "int4" and largest > 0:
        least = error_of(values, best, most)
        for step in range(63, 31, -1):
            scale = scale_of(largest * step / 64, most, dtype)
            error = error_of(values, scale, most)
            if error < least:
                least, best = error, scale
    return best, integers(values, best, most)


def inertia(values, palette):
    distances = np.abs(values[:, None] - np.asarray(palette)[None, :])
    return float((distances.min(axis=1) ** 2).sum())


def lloyd(values, entries, seed):
    """The palette of the best of several runs of k-means."""
    values = np.sort(values.astype(np.float64))
    random, best = np.random.default_rng(seed), None
    for run in range(4):
        if run == 0:
            centers = np.quantile(values, (np.arange(entries) + .5) / entries)
        else:
            centers = np.sort(random.choice(values, entries))
        for _ in range(60):
            cuts = np.searchsorted(values, (centers[1:] + centers[:-1]) / 2)
            parts = np.split(values, cuts)
            moved = np.array([p.mean() if len(p) else c
                              for p, c in zip(parts, centers)])
            if np.array_equal(moved, centers):
                break
            centers = np.sort(moved)
        error = inertia(values, centers)
        if best is None or error < best[0]:
            best = error, centers
    return best


def exact(values, entries):
    """The least inertia, by the plain recursion: for few values."""
    values, count = np.sort(values.astype(np.float64)), len(values)
    costs = np.zeros((count + 1, count + 1))
    for i in range(count):
        for j in range(i + 1, count + 1):
            part = values[i:j]
            costs[i, j] = ((part - part.mean()) ** 2).sum()
    least = costs[0].copy()
    for _ in range(min(entries, count) - 1):
        least = np.array([0.0] + [min(least[i] + costs[i, j] for i in range(j))
                                  for j in range(1, count + 1)])
    return least[count]


def blocks_of(shape, outputs, inputs, form, granularity):
    """The extents of the array of scales or palettes."""
    blocks = [1] * len(shape)
    if granularity == "per-tensor":
        return blocks
    blocks[outputs] = shape[outputs]
    if granularity.startswith("group="):
        group = int(granularity[6:])
        axis = outputs if form.startswith("lut") else inputs
        blocks[axis] = shape[axis] // group
    return blocks


def each_block(shape, blocks):
    """The index of each block, and the slices of its elements."""
    sizes = [n // b for n, b in zip(shape, blocks)]
    for index in np.ndindex(*blocks):
        yield index, tuple(slice(i * s, (i + 1) * s)
                           for i, s in zip(index, sizes))


# Files.

def write_safetensors(path, arrays):
    header, data = {}, b""
    names = {"float16": "F16", "float32": "F32"}
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": names[array.dtype.name],
                        "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


CODES = {1: "fp16", 2: "fp32", 3: "uint8", 4: "int8"}


def unpack(raw, count, bits, signed):
    """Numbers of `bits` bits, packed from the low bit on."""
    if bits == 8:
        return np.frombuffer(raw, np.int8 if signed else np.uint8)[:count]
    flat = np.unpackbits(np.frombuffer(raw, np.uint8), bitorder="little")
    flat = flat[:count * bits].reshape(count, bits).astype(np.int64)
    numbers = (flat << np.arange(bits)).sum(axis=1)
    if signed:
        numbers = np.where(numbers >= 1 << bits - 1, numbers - (1 << bits),
                           numbers)
    return numbers


TYPES = {"fp16": (np.float16, 16), "fp32": (np.float32, 32),
         "int8": (np.int8, 8), "uint8": (np.uint8, 8), "int4": (None, 4),
         "uint4": (None, 4), "uint6": (None, 6), "int32": (np.int32, 32),
         "uint32": (np.uint32, 32)}


def read_value(text, folder):
    """`tensor<fp16, [4]>([0x1p0, ...])`, a scalar, or a record of a file."""
    match = re.match(r"\s*(?:tensor<(\w+), \[([\d, ]*)\]>|(\w+))\((.*)\)$", text,
                     re.S)
    dtype, shape = match[1] or match[3], match[2]
    shape = [int(n) for n in shape.split(",")] if shape else []
    count, (numpy_type, bits) = int(np.prod(shape)), TYPES[dtype]
    place = re.search(r'BLOBFILE\(path = .*?\("@model_path/([^"]+)"\), '
                      r'offset = .*?\((\d+)\)', match[4])
    if place:
        data = (folder / place[1]).read_bytes()
        start, = struct.unpack_from("<Q", data, int(place[2]) + 16)
        raw = data[start:start + (count * bits + 7) // 8]
        flat = unpack(raw, count, bits, dtype.startswith("int")) \
            if bits <= 8 else np.frombuffer(raw, numpy_type)
    else:
        words = re.findall(r"[-+\w.]+", match[4])
        flat = np.array([float.fromhex(w) if "x" in w else float(w)
                         for w in words])
    return dtype, np.asarray(flat, np.float64).reshape(shape)


def split(attributes):
    """`a = f(1, 2), b = g(3)` as a dictionary."""
    values, depth, begin = {}, 0, 0
    for at, letter in enumerate(attributes + ","):
        depth += letter in "([<{"
        depth -= letter in ")]>}"
        if letter == "," and depth == 0:
            name, _, value = attributes[begin:at].partition(" = ")
            values[name.strip()] = value
            begin = at + 1
    return values


def read_quantized(path):
    """The ops that unpack weights in a MIL text, in its order: their names, and
    their arguments by name as (dtype, array)."""
    folder, consts, found = pathlib.Path(path).parent, {}, []
    for line in pathlib.Path(path).read_text().splitlines():
        match = re.match(r"\s*(\S+(?: \[[\d, ]*\]>)?) (\w+) = "
                         r"(\w+)\((.*?)\)\[(.*)\];$", line)
        if not match:
            continue
        _, name, op, arguments, attributes = match.groups()
        values = split(attributes)
        if op == "const":
            try:
                consts[name] = read_value(values["val"], folder)
            except (KeyError, ValueError):
                pass  # a string or a bool
        if not op.startswith("constexpr_"):
            continue
        operands = {key: consts[value] for key, value in
                    re.findall(r"(\w+) = (\w+)", arguments)}
        for key, value in values.items():
            if key != "name":
                operands[key] = read_value(value, folder)
        found.append((op, name, operands))
    return found


def dequantized(op, operands, dtype):
    """The weight that an op unpacks, by MIL's definition."""
    get = lambda name: operands[name][1]
    if op == "constexpr_blockwise_shift_scale":
        data, scale = get("data"), get("scale")
        for axis, extent in enumerate(data.shape):
            scale = np.repeat(scale, extent // scale.shape[axis], axis=axis)
        dense = data * scale
    elif op == "constexpr_affine_dequantize":
        data, scale, axis = get("quantized_data"), get("scale"), int(get("axis"))
        if scale.ndim:
            scale = scale.reshape([-1 if a == axis % data.ndim else 1
                                   for a in range(data.ndim)])
        dense = (data - get("zero_point")) * scale
    elif "shape" in operands:
        shape = [int(n) for n in get("shape")]
        lut = get("lut")
        bits = int(np.log2(lut.size))
        indices = unpack(get("indices").astype(np.uint8).tobytes(),
                         int(np.prod(shape)), bits, False)
        dense = lut[indices].reshape(shape)
    else:
        indices, lut = get("indices").astype(np.int64), get("lut")
        where = np.indices(indices.shape)
        places = [w // (n // b) for w, n, b in
                  zip(where, indices.shape, lut.shape)]
        dense = lut[tuple(places) + (indices, np.zeros_like(indices))]
    return dense.astype(dtype)
