"""Writes the files of examples that are not text, from a text that says what is in them.

`protobuf` is protobuf's text format, of an ONNX or Core ML model, as `protoc --encode` reads
it. `arrays` has a line `NAME TYPE 2x3 = NUMBER` for each array of a .npy, .safetensors or
.gguf file, or of one without a form, whose elements are all that number, or 0, and lines `KEY: VALUE`, where VALUE is
JSON, for what is said of them. Files below NAME.pt2 are entries of an archive of PyTorch."""
import functools
import json
import pathlib
import re
import struct
import sys
import zipfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "CoreML" / "Inputs"))
import proto

MODELS = {".onnx": ("Onnx", "onnx.ModelProto"),
          ".mlmodel": ("CoreML", "CoreML.Specification.Model")}
TOKEN = re.compile(r'\s+|#[^\n]*|("(?:[^"\\]|\\.)*"|[-+\w.]+|[{}\[\]:,])')


def write(path, language, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if language == "protobuf":
        path.write_bytes(message(path.suffix, text))
    elif language == "arrays":
        path.write_bytes(ARRAYS[path.suffix](*arrays(text)))
    else:
        path.write_text(text)


def pack(folder):
    """Makes archives of the folders whose names end in .pt2."""
    for path in folder.glob("*.pt2"):
        if path.is_dir():
            entries = [each for each in sorted(path.rglob("*")) if each.is_file()]
            with zipfile.ZipFile(path.with_suffix(".zip"), "w") as archive:
                for each in entries:
                    archive.write(each, each.relative_to(path))
            path.rename(path.with_suffix(".files"))
            path.with_suffix(".zip").rename(path)


# Protobuf

@functools.cache
def schema(folder):
    return proto.Schema(TESTS / folder / "Inputs" / "format")


def message(suffix, text):
    folder, name = MODELS[suffix]
    tokens = [token for token in TOKEN.findall(text) if token] + ["}"]
    return Encoder(schema(folder), tokens).message(name)


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def delimited(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


class Encoder:
    """The bytes of tokens of the text format, in their order; a field can be a number."""

    def __init__(self, schema, tokens):
        self.schema, self.tokens = schema, tokens

    def take(self, *expected):
        token = self.tokens.pop(0)
        assert not expected or token in expected, (token, expected)
        return token

    def message(self, name):
        fields = {field.name: (number, field)
                  for number, field in self.schema.messages[name].fields.items()}
        out = b""
        while (word := self.take()) != "}":
            if word.isdigit():
                self.take("{"), self.take("}")
                out += delimited(int(word), b"")
            else:
                out += self.field(*fields[word], name)
        return out

    def field(self, number, field, scope):
        if self.tokens[0] == ":":
            self.take()
        if isinstance(field.kind, tuple):
            return delimited(number, self.entry(field.kind[1], scope))
        if self.tokens[0] != "[":
            return self.value(number, field.kind, scope)
        self.take()
        values = []
        while self.tokens[0] != "]":
            values.append(self.value(number, field.kind, scope))
            if self.tokens[0] == ",":
                self.take()
        self.take()
        return b"".join(values)

    def entry(self, kind, scope):
        """`{ key: "k" value { ... } }` of a map."""
        self.take("{"), self.take("key"), self.take(":")
        out = self.value(1, "string", scope)
        self.take("value")
        if self.tokens[0] == ":":
            self.take()
        out += self.value(2, kind, scope)
        self.take("}")
        return out

    def value(self, number, kind, scope):
        if kind not in proto.SCALARS:
            name = self.schema.resolve(kind, scope)
            if name in self.schema.messages:
                self.take("{")
                return delimited(number, self.message(name))
            word = self.take()
            codes = {text: code for code, text in self.schema.enums[name].items()}
            return varint(number << 3) + varint(codes[word] if word in codes else int(word))
        word = self.take()
        if kind in ("string", "bytes"):
            text = word[1:-1].encode().decode("unicode_escape")
            return delimited(number, text.encode("latin-1" if kind == "bytes" else "utf-8"))
        if kind in ("float", "double"):
            wire, form = (5, "<f") if kind == "float" else (1, "<d")
            return varint(number << 3 | wire) + struct.pack(form, float(word))
        return varint(number << 3) + varint(
            {"true": 1, "false": 0}[word] if kind == "bool" else int(word))


# Arrays

NPY = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}
FORMATS = {"F16": "e", "F32": "f", "F64": "d", "I8": "b", "I32": "i", "I64": "q"}
GGUF_TYPES = {"F32": 0, "F16": 1}


def arrays(text):
    """(type, shape, bytes) by name, and what is said of them by key."""
    found, said = {}, {}
    for line in filter(None, map(str.strip, text.splitlines())):
        if match := re.fullmatch(r"([\w.]+): (.*)", line):
            said[match[1]] = json.loads(match[2])
            continue
        name, kind, shape, number = re.fullmatch(
            r"(\S+) (\w+) (\d+(?:x\d+)*)(?: = (\S+))?", line).groups()
        shape = [int(extent) for extent in shape.split("x")]
        count = functools.reduce(int.__mul__, shape)
        number = (float if kind[0] == "F" else int)(number or 0)
        found[name] = kind, shape, struct.pack("<" + FORMATS[kind], number) * count
    return found, said


def npy(found, _):
    ((kind, shape, data),) = found.values()
    header = repr({"descr": NPY[kind], "fortran_order": False, "shape": tuple(shape)})
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + data


def safetensors(found, said):
    header, body = {"__metadata__": said} if said else {}, b""
    for name, (kind, shape, data) in found.items():
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def gguf(found, said):
    def string(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def value(content):
        """The type and the bytes."""
        if isinstance(content, bool):
            return 7, struct.pack("<?", content)
        if isinstance(content, int):
            return 4, struct.pack("<I", content)
        if isinstance(content, float):
            return 6, struct.pack("<f", content)
        if isinstance(content, str):
            return 8, string(content)
        items = [value(item) for item in content]
        return 9, struct.pack("<IQ", items[0][0], len(items)) + b"".join(
            data for _, data in items)

    head = b"GGUF" + struct.pack("<IQQ", 3, len(found), len(said))
    for key, content in said.items():
        kind, data = value(content)
        head += string(key) + struct.pack("<I", kind) + data
    body = b""
    for name, (kind, shape, data) in found.items():
        body += b"\0" * (-len(body) % 32)
        head += string(name) + struct.pack("<I", len(shape))
        head += struct.pack(f"<{len(shape)}Q", *reversed(shape))
        head += struct.pack("<IQ", GGUF_TYPES[kind], len(body))
        body += data
    return head + b"\0" * (-len(head) % 32) + body


def raw(found, _):
    return b"".join(data for _, _, data in found.values())


ARRAYS = {"": raw, ".npy": npy, ".safetensors": safetensors, ".gguf": gguf}
