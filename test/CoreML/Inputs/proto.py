"""Decodes serialized messages by the definitions of .proto files, strictly: unknown
fields, other wire types, values of enumerations without a name, and oneofs without a
choice are errors. A decoded message is a dictionary."""
import pathlib
import re
import struct

SCALARS = {"int32": 0, "int64": 0, "uint64": 0, "bool": 0, "double": 1, "string": 2,
           "bytes": 2, "float": 5}


class Malformed(Exception):
    pass


class Field:
    def __init__(self, name, kind, number, label, oneof):
        self.name, self.kind, self.number = name, kind, number
        self.repeated, self.oneof = label == "repeated", oneof


class Message:
    def __init__(self, name):
        self.name, self.fields, self.oneofs = name, {}, []


class Schema:
    """The messages and enumerations of the .proto files of a folder, by full name."""

    def __init__(self, folder):
        self.messages, self.enums, self.decoded = {}, {}, {}
        for path in sorted(pathlib.Path(folder).glob("*.proto")):
            text = re.sub(r"//[^\n]*|\[packed = true\]", "", path.read_text())
            self.tokens = re.findall(r'"[^"]*"|[\w.]+|[^\s\w]', text)
            self.file()

    def take(self, *expected):
        token = self.tokens.pop(0)
        assert not expected or token in expected, (token, expected)
        return token

    def file(self):
        package = ""
        while self.tokens:
            word = self.take()
            if word == "package":
                package = self.take() + "."
            elif word in ("message", "enum"):
                getattr(self, word)(package)
                continue
            elif word == ";":
                continue
            while self.take() != ";":
                pass

    def enum(self, scope):
        name = scope + self.take()
        numbers = self.enums[name] = {}
        self.take("{")
        while self.tokens[0] != "}":
            word = self.take()
            self.take("=")
            numbers[int(self.take())] = word
            self.take(";")
        self.take("}")

    def message(self, scope):
        message = Message(scope + self.take())
        self.messages[message.name] = message
        self.take("{")
        self.members(message, None)

    def members(self, message, oneof):
        while (word := self.take()) != "}":
            if word in ("message", "enum"):
                getattr(self, word)(message.name + ".")
            elif word == "oneof":
                message.oneofs.append(self.take())
                self.take("{")
                self.members(message, message.oneofs[-1])
            elif word != ";":
                self.field(message, word, oneof)

    def field(self, message, word, oneof):
        label = word if word == "repeated" else ""
        kind = self.take() if label else word
        if kind == "map":
            self.take("<"), self.take("string"), self.take(",")
            kind = ("map", self.take())
            self.take(">")
        name = self.take()
        self.take("=")
        number = int(self.take())
        assert number not in message.fields, (message.name, number)
        message.fields[number] = Field(name, kind, number, label, oneof)

    def resolve(self, kind, scope):
        """The full name of a message or enumeration that `scope` calls `kind`."""
        parts = scope.split(".")
        for length in range(len(parts), -1, -1):
            name = ".".join(parts[:length] + [kind])
            if name in self.messages or name in self.enums:
                return name
        raise KeyError(kind)

    # Decoding

    def decode(self, name, data):
        message, result = self.messages[name], {}
        for number, wire, value in fields(data):
            field = message.fields.get(number)
            if field is None:
                raise Malformed(f"{name}: unknown field {number}")
            path = f"{name}.{field.name}"
            self.decoded[path] = self.decoded.get(path, 0) + 1
            if field.oneof:
                chosen = [f.name for f in message.fields.values()
                          if f.oneof == field.oneof and f.name in result]
                if chosen:
                    raise Malformed(f"{path}: {chosen[0]} is chosen, too")
            self.store(result, field, wire, value, path, name)
        for oneof in message.oneofs:
            members = {f.name for f in message.fields.values() if f.oneof == oneof}
            if oneof not in OPTIONAL and not members & set(result):
                raise Malformed(f"{name}: no choice of {oneof}")
        return result

    def store(self, result, field, wire, value, path, scope):
        if isinstance(field.kind, tuple):
            entry = {number: (w, v) for number, w, v in fields(self.bytes(wire, value, path))}
            if set(entry) - {1, 2} or 1 not in entry:
                raise Malformed(f"{path}: not an entry of a map")
            key = self.value("string", *entry[1], path, scope)
            if key in result.setdefault(field.name, {}):
                raise Malformed(f"{path}: two entries of {key}")
            wire, value = entry.get(2, (2, b""))
            result[field.name][key] = self.value(field.kind[1], wire, value, path, scope)
        elif not field.repeated:
            if field.name in result:
                raise Malformed(f"{path}: there twice")
            result[field.name] = self.value(field.kind, wire, value, path, scope)
        elif SCALARS.get(field.kind, 2) != 2:
            values = packed(field.kind, self.bytes(wire, value, path))
            result.setdefault(field.name, []).extend(
                self.value(field.kind, SCALARS[field.kind], v, path, scope) for v in values)
        else:
            result.setdefault(field.name, []).append(
                self.value(field.kind, wire, value, path, scope))

    @staticmethod
    def bytes(wire, value, path):
        if wire != 2:
            raise Malformed(f"{path}: wire type {wire}")
        return value

    def value(self, kind, wire, value, path, scope):
        if kind in SCALARS:
            if wire != SCALARS[kind]:
                raise Malformed(f"{path}: wire type {wire} for {kind}")
            if kind == "string":
                return value.decode("utf-8")
            if kind in ("int32", "int64") and value >= 1 << 63:
                value -= 1 << 64
            if kind == "int32" and not -1 << 31 <= value < 1 << 31:
                raise Malformed(f"{path}: {value} is not an int32")
            return struct.unpack("<f" if kind == "float" else "<d", value)[0] \
                if kind in ("float", "double") else value
        name = self.resolve(kind, scope)
        if name in self.messages:
            return self.decode(name, self.bytes(wire, value, path))
        if wire != 0 or value not in self.enums[name]:
            raise Malformed(f"{path}: {value} is no {kind}")
        return self.enums[name][value]


# A model without shape ranges, default values, or, for tests, without a state's array.
OPTIONAL = {"ShapeFlexibility", "SizeFlexibility", "defaultOptionalValue"}


def varint(data, at):
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a number is cut off")
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def fields(data):
    """The number, wire type and contents of each field."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = varint(data, at)
        else:
            if wire == 2:
                size, at = varint(data, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise Malformed(f"wire type {wire}")
            value, at = data[at:at + size], at + size
            if at > len(data):
                raise Malformed("a field is cut off")
        yield tag >> 3, wire, value


def packed(kind, data):
    at, wire = 0, SCALARS[kind]
    while at < len(data):
        if wire == 0:
            value, at = varint(data, at)
        else:
            size = 4 if wire == 5 else 8
            value, at = data[at:at + size], at + size
        yield value
