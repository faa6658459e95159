"""ONNX's messages, read from bytes and written to bytes.

A message is a dict: field name to value, or to a list where the field repeats.
"""
import struct

import numpy

# Field number to name and kind, of each message. A kind is `int`, `float`,
# `bytes`, `text` or the name of a message; `*` marks fields that repeat.
MESSAGES = {
    "Model": {1: ("ir_version", "int"), 2: ("producer_name", "text"),
              7: ("graph", "Graph"), 8: ("opset_import", "*Opset"),
              25: ("functions", "*Function")},
    "Opset": {1: ("domain", "text"), 2: ("version", "int")},
    "Graph": {1: ("node", "*Node"), 2: ("name", "text"),
              5: ("initializer", "*Tensor"), 11: ("input", "*ValueInfo"),
              12: ("output", "*ValueInfo"), 13: ("value_info", "*ValueInfo"),
              15: ("sparse_initializer", "*SparseTensor")},
    "Function": {1: ("name", "text"), 4: ("input", "*text"),
                 5: ("output", "*text"), 6: ("attribute", "*text"),
                 7: ("node", "*Node"), 9: ("opset_import", "*Opset"),
                 10: ("domain", "text")},
    "Node": {1: ("input", "*text"), 2: ("output", "*text"), 3: ("name", "text"),
             4: ("op_type", "text"), 5: ("attribute", "*Attribute"),
             7: ("domain", "text")},
    "Attribute": {1: ("name", "text"), 2: ("f", "float"), 3: ("i", "int"),
                  4: ("s", "bytes"), 5: ("t", "Tensor"), 6: ("g", "Graph"),
                  7: ("floats", "*float"), 8: ("ints", "*int"),
                  9: ("strings", "*bytes"), 20: ("type", "int"),
                  21: ("ref_attr_name", "text")},
    "Tensor": {1: ("dims", "*int"), 2: ("data_type", "int"),
               4: ("float_data", "*float"), 5: ("int32_data", "*int"),
               6: ("string_data", "*bytes"), 7: ("int64_data", "*int"),
               8: ("name", "text"), 9: ("raw_data", "bytes"),
               10: ("double_data", "*double"), 11: ("uint64_data", "*int"),
               13: ("external_data", "*Entry"), 14: ("data_location", "int")},
    "SparseTensor": {1: ("values", "Tensor"), 2: ("indices", "Tensor"),
                     3: ("dims", "*int")},
    "Entry": {1: ("key", "text"), 2: ("value", "text")},
    "ValueInfo": {1: ("name", "text"), 2: ("type", "Type")},
    "Type": {1: ("tensor", "TensorType"), 4: ("sequence", "bytes"),
             5: ("map", "bytes"), 8: ("sparse", "bytes"),
             9: ("optional", "bytes")},
    "TensorType": {1: ("elem_type", "int"), 2: ("shape", "Shape")},
    "Shape": {1: ("dim", "*Dim")},
    "Dim": {1: ("value", "int"), 2: ("param", "text")},
}

# Codes of element types; bfloat16 is read as its bits.
TYPES = {1: numpy.float32, 2: numpy.uint8, 3: numpy.int8, 4: numpy.uint16,
         5: numpy.int16, 6: numpy.int32, 7: numpy.int64, 8: object,
         9: numpy.bool_, 10: numpy.float16, 11: numpy.float64,
         12: numpy.uint32, 13: numpy.uint64, 14: numpy.complex64,
         15: numpy.complex128, 16: numpy.uint16}
CODES = {numpy.dtype(type): code for code, type in TYPES.items()
         if code not in (8, 16)}


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def read(kind, data):
    """The message of that kind that the bytes hold."""
    fields = MESSAGES[kind]
    message = {name: [] for name, kind in fields.values() if kind[0] == "*"}
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = read_varint(data, at)
            value = signed(value)
        elif wire == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire]
            value, at = data[at:at + size], at + size
        if number not in fields:
            continue
        name, kind_of_field = fields[number]
        values = read_values(kind_of_field.lstrip("*"), wire, value)
        if kind_of_field[0] == "*":
            message[name] += values
        else:
            message[name] = values[-1]
    return message


def read_values(kind, wire, value):
    if kind == "int":
        if wire == 0:
            return [value]
        values, at = [], 0
        while at < len(value):
            number, at = read_varint(value, at)
            values.append(signed(number))
        return values
    if kind in ("float", "double"):
        return numpy.frombuffer(value, "<f4" if kind == "float" else "<f8").tolist()
    if kind == "text":
        return [bytes(value).decode()]
    if kind == "bytes":
        return [bytes(value)]
    return [read(kind, value)]


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def write(kind, message):
    """The bytes of a message."""
    out = bytearray()
    known = {name: (number, kind) for number, (name, kind)
             in MESSAGES[kind].items()}
    for name, value in message.items():
        number, kind_of_field = known[name]
        values = value if kind_of_field[0] == "*" else [value]
        for item in values:
            out += write_value(number, kind_of_field.lstrip("*"), item)
    return bytes(out)


def write_value(number, kind, value):
    if kind == "int":
        return varint(number << 3) + varint(int(value))
    if kind == "float":
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if kind == "double":
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if kind == "text":
        value = value.encode()
    elif kind != "bytes":
        value = write(kind, value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def array(tensor):
    """The array that a Tensor holds."""
    code = tensor.get("data_type", 0)
    dims = tensor["dims"]
    if code == 8:
        return numpy.array(tensor["string_data"], object).reshape(dims)
    type = numpy.dtype(TYPES[code])
    if "raw_data" in tensor:
        return numpy.frombuffer(tensor["raw_data"], type).reshape(dims)
    if tensor["float_data"]:
        values = numpy.array(tensor["float_data"], numpy.float32)
        return values.view(type).reshape(dims)
    if tensor["double_data"]:
        values = numpy.array(tensor["double_data"], numpy.float64)
        return values.view(type).reshape(dims)
    if tensor["int32_data"]:
        values = numpy.array(tensor["int32_data"], numpy.int64)
        if code in (10, 16):
            return values.astype(numpy.uint16).view(type).reshape(dims)
        return values.astype(type).reshape(dims)
    values = tensor["int64_data"] or tensor["uint64_data"]
    return numpy.array(values, type).reshape(dims)


def tensor(array, name=""):
    """The Tensor that holds an array."""
    array = numpy.ascontiguousarray(array).reshape(numpy.shape(array))
    return {"dims": array.shape, "data_type": CODES[array.dtype], "name": name,
            "raw_data": array.tobytes()}


def read_model(path):
    with open(path, "rb") as file:
        return read("Model", file.read())


def read_tensor(path):
    """Name and array of a tensor in a file."""
    with open(path, "rb") as file:
        message = read("Tensor", file.read())
    return message.get("name", ""), array(message)
