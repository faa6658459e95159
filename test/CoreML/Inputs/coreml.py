"""Writes Core ML packages for tests, message by message, with the field numbers that
Apple publishes. A message is a list of (field, value): int, float, bytes, str, or a
nested list."""
import json
import pathlib
import struct

TYPES = {"bool": 1, "string": 2, "fp16": 10, "fp32": 11, "fp64": 12, "bf16": 13, "int8": 21,
         "int16": 22, "int32": 23, "int64": 24, "int4": 25, "uint8": 31, "uint16": 32,
         "uint32": 33, "uint64": 34, "uint4": 35, "uint2": 36, "uint1": 37, "uint6": 38,
         "uint3": 39, "fp8e4m3fn": 40, "fp8e5m2": 41}
ARRAYS = {"fp16": 65552, "fp32": 65568, "fp64": 65600, "int32": 131104, "int8": 131080}
BITS = {"int4": 4, "uint4": 4, "uint2": 2, "uint1": 1, "uint6": 6, "uint3": 3}
FORMATS = {"fp16": "e", "int8": "b", "uint8": "B", "uint32": "I"}


class Double(float):
    """A number of 64 bits."""


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def message(fields):
    out = bytearray()
    for number, value in fields:
        if isinstance(value, bool) or isinstance(value, int):
            out += varint(number << 3) + varint(int(value))
            continue
        if isinstance(value, Double):
            out += varint(number << 3 | 1) + struct.pack("<d", value)
            continue
        if isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
            continue
        data = (value.encode() if isinstance(value, str) else
                message(value) if isinstance(value, list) else value)
        out += varint(number << 3 | 2) + varint(len(data)) + data
    return bytes(out)


def tensor(dtype, shape=()):
    dims = [(3, [(2, [(1, False)])] if n is None else [(1, [(1, n)])]) for n in shape]
    return [(1, [(1, TYPES[dtype]), (2, len(shape))] + dims)]


def state(dtype, shape):
    return [(5, [(1, tensor(dtype, shape))])]


def list_type(element, length):
    return [(2, [(1, element),
                 (2, [(2, [(1, False)])] if length is None else [(1, [(1, length)])])])]


def packed(dtype, values):
    bits, number = BITS[dtype], 0
    for index, value in enumerate(values):
        number |= (value & (1 << bits) - 1) << index * bits
    return number.to_bytes((len(values) * bits + 7) // 8, "little")


def elements(dtype, values):
    """The message TensorValue."""
    if dtype == "fp32":
        return [(1, [(1, struct.pack(f"<{len(values)}f", *values))])]
    if dtype in ("int32", "int16", "uint16"):
        return [(2, [(1, b"".join(map(varint, values)))])]
    if dtype == "bool":
        return [(3, [(1, bytes(map(int, values)))])]
    if dtype == "string":
        return [(4, [(1, text) for text in values])]
    if dtype in ("int64", "uint64"):
        return [(5, [(1, b"".join(map(varint, values)))])]
    if dtype == "fp64":
        return [(6, [(1, struct.pack(f"<{len(values)}d", *values))])]
    if isinstance(values, bytes):
        return [(7, [(1, values)])]
    data = (packed(dtype, values) if dtype in BITS else
            struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values))
    return [(7, [(1, data)])]


def value(dtype, values, shape=None):
    """An immediate value: a scalar, a list, or bytes."""
    if shape is None:
        shape = [len(values)] if isinstance(values, list) else []
    flat = values if isinstance(values, (list, bytes)) else [values]
    return [(2, tensor(dtype, shape)), (3, [(1, elements(dtype, flat))])]


def scalars(dtype, values):
    """A list of scalars, as the classes of `classify`."""
    return [(2, list_type(tensor(dtype), len(values))),
            (3, [(3, [(1, value(dtype, one)) for one in values])])]


def blob(dtype, shape, offset, name="@model_path/weights/weight.bin"):
    return [(2, tensor(dtype, shape)), (5, [(1, name), (2, offset)])]


def named(name, kind):
    return [(1, name), (2, kind)]


def op(kind, outputs, inputs=None, attributes=None, blocks=(), name=None):
    """`inputs`: names or values (lists), or a tuple of several of them."""
    fields = [(1, kind)]
    for key, given in (inputs or {}).items():
        given = given if isinstance(given, tuple) else (given,)
        bindings = [(1, [(1 if isinstance(one, str) else 2, one)]) for one in given]
        fields.append((2, [(1, key), (2, bindings)]))
    fields += [(3, named(*output)) for output in outputs]
    fields += [(4, block) for block in blocks]
    label = name or (outputs[0][0] if outputs else kind)
    for key, one in {"name": value("string", label), **(attributes or {})}.items():
        fields.append((5, [(1, key), (2, one)]))
    return fields


def const(name, dtype, values, shape=None):
    one = value(dtype, values, shape)
    return op("const", [(name, one[0][1])], attributes={"val": one})


def block(ops, outputs, inputs=()):
    return ([(1, named(*one)) for one in inputs] + [(2, name) for name in outputs] +
            [(3, one) for one in ops])


def function(inputs, ops, outputs, opset="CoreML8"):
    return ([(1, named(*one)) for one in inputs] +
            [(2, opset), (3, [(1, opset), (2, block(ops, outputs))])])


def program(functions, version=1):
    return [(1, version)] + [(2, [(1, name), (2, one)]) for name, one in functions.items()]


def array(name, dtype, shape, extra=(), optional=False):
    """A FeatureDescription."""
    packed_shape = b"".join(map(varint, shape))
    kind = [(5, [(1, packed_shape), (2, ARRAYS[dtype])] + list(extra))]
    return [(1, name), (3, kind + ([(1000, 1)] if optional else []))]


def model(description, programs, version=9):
    return [(1, version), (2, description), (502, programs)]


def blob_file(blobs):
    """The bytes of (code, data, padding bits) as a weight file, and the offsets."""
    out, offsets = bytearray(struct.pack("<II56x", len(blobs), 2)), []
    for code, data, padding in blobs:
        out += bytes(-len(out) % 64)
        offsets.append(len(out))
        out += struct.pack("<IIQQQ32x", 0xDEADBEEF, code, len(data), len(out) + 64, padding)
        out += data
    return bytes(out), offsets


def manifest(path="com.apple.CoreML/model.mlmodel", version="1.0.0", root="M",
             weights="com.apple.CoreML/weights"):
    def item(name, where):
        return {"author": "com.apple.CoreML", "description": "", "name": name, "path": where}
    return {"fileFormatVersion": version, "rootModelIdentifier": root,
            "itemInfoEntries": {"M": item("model.mlmodel", path),
                                "W": item("weights", weights)}}


def write(path, contents, weights=None, text=None):
    """Writes the package `path`; `text` is the manifest, if it is to be another."""
    data = pathlib.Path(path) / "Data/com.apple.CoreML"
    (data / "weights").mkdir(parents=True, exist_ok=True)
    if not isinstance(contents, bytes):
        contents = message(contents)
    (data / "model.mlmodel").write_bytes(contents)
    if weights is not None:
        (data / "weights/weight.bin").write_bytes(weights)
    (pathlib.Path(path) / "Manifest.json").write_text(
        json.dumps(manifest()) if text is None else text)


def simple(functions, inputs=(), outputs=(), **more):
    """A model with these features and functions."""
    description = [(1, one) for one in inputs] + [(10, one) for one in outputs]
    return model(description, program(functions), **more)
