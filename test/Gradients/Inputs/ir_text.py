"""Reads the text of the IR (docs/reference/ir.md), as far as programs from .tdsl have it."""
import dataclasses
import math
import re

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\w.+-]+|[][(),={}])')
TYPE = re.compile(r"(\w+)(?:\[([\d, ]*)\])?")
FUNCTION = re.compile(
    r"(kernel|layer|host) @([\w.]+)(?:<\w+>)?\((.*)\) -> \((.*)\)(?: \{(.*)\})? \{$")
PARAMETER = re.compile(r"%([\w.]+): (\w+(?:\[[\d, ]*\])?)(?: \{role = ([\w-]+)\})?")
OP = re.compile(r"(?:(%[^=]*) = )?(\w+)(?: @([\w.]+))?(?:\[%([\w.]+)\])?\(([^)]*)\)"
                r"(?: \{(.*)\})?(?: : (.*))?$")
WORDS = {"true": True, "false": False, "inf": math.inf, "-inf": -math.inf,
         "nan": math.nan}


@dataclasses.dataclass
class Type:
    dtype: str
    shape: tuple

    @staticmethod
    def read(text):
        dtype, extents = TYPE.fullmatch(text).groups()
        return Type(dtype, tuple(int(n) for n in (extents or "").split(",") if n))


@dataclasses.dataclass
class Op:
    name: str
    results: list
    types: list
    callee: str
    index: str
    operands: list  # names, or None
    attrs: dict


@dataclasses.dataclass
class Function:
    kind: str
    name: str
    parameters: list  # (name, type, role), role may be None
    results: list
    owner: str
    ops: list = dataclasses.field(default_factory=list)
    returned: list = dataclasses.field(default_factory=list)


class Constants:
    """Reads `name = constant, ...`. Lists and arrays become lists of elements, and
    scalars numbers."""

    def __init__(self, text):
        self.tokens, self.at = TOKEN.findall(text), 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, *tokens):
        if self.at < len(self.tokens) and self.tokens[self.at] in tokens:
            self.at += 1
            return True
        return False

    def elements(self, end):
        values = []
        while not self.skip(end):
            values.append(self.element(self.next()))
            self.skip(",")
        return values

    @staticmethod
    def element(token):
        if token in WORDS:
            return WORDS[token]
        if token.startswith('"'):
            return token[1:-1]
        return int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)

    def constant(self):
        if self.skip("["):
            return self.elements("]")
        token = self.next()
        if not re.match(r"[a-z]", token) or token in WORDS:
            return self.element(token)
        shape = self.elements("]") if self.skip("[") else None
        splat = self.skip("splat")
        if not self.skip("("):
            raise ValueError("constants of bytes are not read: " + token)
        values = self.elements(")")
        if shape is None:
            return values[0]
        return values * math.prod(shape) if splat else values

    def all(self):
        attrs = {}
        while self.at < len(self.tokens):
            name = self.next()
            self.skip("=")
            attrs[name] = self.constant()
            self.skip(",")
        return attrs


def names(text):
    return [None if name == "none" else name[1:]
            for name in re.split(r",\s*", (text or "").strip()) if name]


def read_op(line):
    results, name, callee, index, operands, attrs, types = OP.fullmatch(line).groups()
    types = [Type.read(t[0]) for t in re.finditer(TYPE, types or "")]
    return Op(name, names(results), types, callee, index, names(operands),
              Constants(attrs or "").all())


def read_parameters(text):
    return [(name, Type.read(type), role or None)
            for name, type, role in PARAMETER.findall(text)]


def read(text):
    """The functions by name."""
    functions, function = {}, None
    for line in map(str.strip, text.splitlines()):
        if header := FUNCTION.match(line):
            kind, name, parameters, results, owned = header.groups()
            owner = re.search(r'of = "([\w.]+)"', owned or "")
            function = functions[name] = Function(
                kind, name, read_parameters(parameters), read_parameters(results),
                owner and owner[1])
        elif line.startswith("return"):
            function.returned = names(line.removeprefix("return"))
        elif line not in ("", "}"):
            function.ops.append(read_op(line))
    return functions
