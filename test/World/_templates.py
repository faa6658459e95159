"""Random chat templates for templates.py: statements, expressions, filters, tests and
methods of jinja2 over the members that messages have. Most operands have a type that
fits; some have any."""
import json
import random

SYSTEM = {"role": "system", "content": "Be brief.\n  Answer in \u00dcbung & <b>."}
CONVERSATIONS = {
    "plain": [SYSTEM, {"role": "user", "content": "Hello, world! It's 3 o'clock.\n\nBye"},
              {"role": "assistant", "content": "  <think>\nhm\n</think>\n\nHi \U0001f600 "},
              {"role": "user", "content": "\u01c6a\u00df \u0130I 12\u00b2 a-b_c\tD"}],
    "rich": [{"role": "user", "name": "An\u00e9", "content": [
                 {"type": "text", "text": "What is this?"}, {"type": "image", "url": "a.png"},
                 {"type": "text", "text": ""}]},
             {"role": "assistant", "content": None, "reasoning_content": "so\nwhat",
              "prefix": True, "score": -0.5, "count": 3, "tags": ["b", "A", "a", "B", "b"]},
             {"role": "user", "content": "", "score": 1e16, "count": 0, "tags": []}],
    "calls": [SYSTEM, {"role": "user", "content": "Weather?"},
              {"role": "assistant", "content": "", "tool_calls": [
                  {"id": "c1", "type": "function", "function": {
                      "name": "weather", "arguments": {"city": "K\u00f6ln", "days": [1, 2.5],
                                                       "unit": None, "exact": False}}},
                  {"id": "c2", "type": "function", "function": {
                      "name": "time", "arguments": "{\"zone\": \"UTC\"}"}}]},
              {"role": "tool", "tool_call_id": "c1", "name": "weather",
               "content": "{\"sky\": \"clear\", \"t\": 21.0}"},
              {"role": "tool", "tool_call_id": "c2", "content": "12:00"},
              {"role": "assistant", "content": "Clear & warm: 21\u00b0."}]}
TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The weather \"now\".\n\nOf a city.",
    "parameters": {"type": "object", "required": ["city"], "properties": {
        "city": {"type": "string", "description": "A city's name"},
        "days": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        "unit": {"type": ["string", "null"], "enum": ["C", "F"], "default": "C"}}}}},
         {"type": "function", "function": {
             "name": "time", "description": "", "parameters": {
                 "type": "object", "properties": {}}}}]
VARIABLES = {"enable_thinking": False, "date_string": "26 Jul 2024", "limit": 2,
             "rate": 0.1, "words": ["one", "Two", "three", "two"],
             "pairs": {"b": 1, "A": [2, None], "c": {"d": "e"}}}
BOS, EOS = "<s>", "</s>"

TEXTS = ("", " ", "a", "A", "\\n", "\\n\\n", "<|im_start|>", "</think>", "user", "system", "o",
         "l", "-", ", ", "\u00e9", "\u00df", "\\t", "a b  c", "Hello World", "it's", "<b>&\\\"",
         "%s", "12", "-7", "3.5", "0x1f", "1_0", "\u0130", "\u03a3", "ab\\ncd\\r\\nef", "tEst",
         "\\x41", "\\u00e9", "{}", "\U0001f600")
INTEGERS = ("0", "1", "2", "3", "-1", "7", "10", "1_000", "0x1F", "0b101", "0o17", "255", "-13",
            "9007199254740993", "9223372036854775807")
FLOATS = ("0.0", "0.5", "1.5", "2.5", "-0.25", "1e3", "1e16", "1.0e-5", "3.14159", "1e22",
          "123456789.125", "-2.675", "1_0.5")
ROLES = ("role", "content", "name", "tool_calls", "reasoning_content", "thinking", "tags", "score",
         "count", "prefix", "tool_call_id", "nothing")

# Rows: what it is applied to, its name with arguments (kinds in angle brackets), and what
# it gives.
FILTERS = (
    ("text", "upper", "text"), ("text", "lower", "text"), ("text", "capitalize", "text"),
    ("text", "title", "text"), ("text", "trim", "text"), ("text", "trim(<text>)", "text"),
    ("text", "center(<small>)", "text"), ("text", "e", "text"), ("text", "escape", "text"),
    ("text", "forceescape", "text"), ("text", "safe", "text"), ("text", "string", "text"),
    ("text", "indent", "text"), ("text", "indent(<small>, <bool>)", "text"),
    ("text", "indent(<text>, first=<bool>, blank=<bool>)", "text"),
    ("text", "replace(<text>, <text>)", "text"),
    ("text", "replace(<text>, <text>, <small>)", "text"), ("text", "striptags", "text"),
    ("text", "truncate(<small>)", "text"),
    ("text", "truncate(<small>, <bool>, <text>, <small>)", "text"),
    ("text", "urlencode", "text"), ("text", "wordcount", "number"),
    ("text", "wordwrap(<width>)", "text"), ("text", "wordwrap(<width>, <bool>)", "text"),
    ("text", "length", "number"), ("text", "list", "list"), ("text", "first", "text"),
    ("text", "last", "text"), ("text", "reverse", "text"), ("text", "int", "number"),
    ("text", "int(<any>)", "any"), ("text", "int(0, 16)", "number"), ("text", "float", "number"),
    ("text", "float(<any>)", "any"), ("text", "batch(<width>) | list", "list"),
    ("text", "format(<any>)", "text"), ("text", "sort | join", "text"),
    ("any", "string", "text"), ("any", "tojson", "text"), ("any", "tojson(indent=<small>)", "text"),
    ("any", "tojson(ensure_ascii=<bool>, sort_keys=<bool>)", "text"),
    ("any", "tojson(separators=(<text>, <text>))", "text"), ("any", "default(<any>)", "any"),
    ("any", "d(<any>, <bool>)", "any"), ("any", "length", "number"), ("any", "list", "list"),
    ("any", "e", "text"), ("any", "pprint", "text"), ("any", "first", "any"),
    ("any", "last", "any"), ("any", "attr(<member>)", "any"),
    ("any", "attr('upper')", "any"), ("any", "count", "number"), ("any", "int", "number"),
    ("any", "float", "number"), ("any", "trim", "text"), ("any", "items | list", "list"),
    ("any", "join(<text>)", "text"), ("any", "upper", "text"), ("any", "urlencode", "text"),
    ("any", "abs", "number"), ("any", "round", "number"), ("any", "sum", "number"),
    ("number", "abs", "number"), ("number", "round", "number"),
    ("number", "round(<small>)", "number"), ("number", "round(<small>, 'floor')", "number"),
    ("number", "round(method='ceil')", "number"), ("number", "round(-1)", "number"),
    ("number", "int", "number"), ("number", "float", "number"), ("number", "string", "text"),
    ("number", "filesizeformat", "text"), ("number", "filesizeformat(<bool>)", "text"),
    ("list", "join", "text"), ("list", "join(<text>)", "text"), ("list", "first", "any"),
    ("list", "last", "any"), ("list", "length", "number"), ("list", "reverse | list", "list"),
    ("list", "sort", "list"), ("list", "sort(<bool>, <bool>)", "list"),
    ("list", "unique | list", "list"), ("list", "unique(<bool>) | list", "list"),
    ("list", "batch(<width>, <any>) | list", "list"), ("list", "slice(<width>) | list", "list"),
    ("list", "slice(<width>, <any>) | list", "list"), ("list", "min", "any"),
    ("list", "max", "any"), ("list", "max(<bool>)", "any"), ("list", "sum(start=<any>)", "any"),
    ("list", "map('upper') | list", "list"), ("list", "map('string') | join(<text>)", "text"),
    ("list", "map('length') | sum", "number"), ("list", "select | list", "list"),
    ("list", "select('string') | list", "list"), ("list", "reject('none') | list", "list"),
    ("list", "select('in', <any>) | list", "list"), ("list", "map('default', <any>) | list", "list"),
    ("list", "map('replace', <text>, <text>) | list", "list"),
    ("dicts", "map(attribute=<member>) | list", "list"),
    ("dicts", "map(attribute=<member>, default=<any>) | list", "list"),
    ("dicts", "map(attribute=<member>) | select | join(<text>)", "text"),
    ("dicts", "selectattr(<member>) | list", "dicts"),
    ("dicts", "selectattr(<member>, 'defined') | list", "dicts"),
    ("dicts", "selectattr('role', 'equalto', <text>) | list", "dicts"),
    ("dicts", "selectattr('role', 'in', <list>) | list", "dicts"),
    ("dicts", "rejectattr(<member>) | list", "dicts"),
    ("dicts", "rejectattr('role', '==', <text>) | list", "dicts"),
    ("dicts", "groupby('role') | list", "list"), ("dicts", "groupby(<member>, default=<text>) | list", "list"),
    ("dicts", "sort(attribute='role') | list", "dicts"), ("dicts", "unique(attribute='role') | list", "dicts"),
    ("dicts", "sum(attribute=<member>)", "number"), ("dicts", "join(<text>, attribute=<member>)", "text"),
    ("dicts", "length", "number"), ("dicts", "first", "dict"), ("dicts", "last", "dict"),
    ("dicts", "min(attribute='role')", "dict"), ("dicts", "sort(attribute='role,name')", "dicts"),
    ("dict", "dictsort", "list"), ("dict", "dictsort(<bool>, 'value')", "list"),
    ("dict", "dictsort(reverse=<bool>)", "list"), ("dict", "items | list", "list"),
    ("dict", "list", "list"), ("dict", "length", "number"), ("dict", "xmlattr", "text"),
    ("dict", "urlencode", "text"), ("dict", "tojson", "text"), ("dict", "join(<text>)", "text"))
METHODS = (
    ("text", "upper()", "text"), ("text", "lower()", "text"), ("text", "strip()", "text"),
    ("text", "strip(<text>)", "text"), ("text", "lstrip(<text>)", "text"),
    ("text", "rstrip(<text>)", "text"), ("text", "title()", "text"),
    ("text", "capitalize()", "text"), ("text", "swapcase()", "text"), ("text", "casefold()", "text"),
    ("text", "split()", "list"), ("text", "split(<text>)", "list"),
    ("text", "split(<text>, <small>)", "list"), ("text", "rsplit(<text>, <small>)", "list"),
    ("text", "splitlines()", "list"), ("text", "splitlines(<bool>)", "list"),
    ("text", "partition(<text>)", "list"), ("text", "rpartition(<text>)", "list"),
    ("text", "replace(<text>, <text>)", "text"), ("text", "replace(<text>, <text>, <small>)", "text"),
    ("text", "startswith(<text>)", "bool"), ("text", "endswith((<text>, <text>))", "bool"),
    ("text", "startswith(<text>, <small>)", "bool"), ("text", "find(<text>)", "number"),
    ("text", "rfind(<text>, <small>)", "number"), ("text", "index(<text>)", "number"),
    ("text", "count(<text>)", "number"), ("text", "zfill(<small>)", "text"),
    ("text", "center(<small>, '*')", "text"), ("text", "ljust(<small>)", "text"),
    ("text", "rjust(<small>, '.')", "text"), ("text", "expandtabs(<small>)", "text"),
    ("text", "removeprefix(<text>)", "text"), ("text", "removesuffix(<text>)", "text"),
    ("text", "join(<list>)", "text"), ("text", "isdigit()", "bool"), ("text", "isalpha()", "bool"),
    ("text", "isupper()", "bool"), ("text", "isspace()", "bool"), ("text", "istitle()", "bool"),
    ("text", "isidentifier()", "bool"), ("text", "isnumeric()", "bool"),
    ("text", "format(<any>, <any>)", "text"), ("text", "format(a=<any>)", "text"),
    ("list", "index(<any>)", "number"), ("list", "count(<any>)", "number"),
    ("list", "append(<any>)", "any"), ("dict", "get(<member>)", "any"),
    ("dict", "get(<text>, <any>)", "any"), ("dict", "items()", "any"), ("dict", "keys() | list", "list"),
    ("dict", "values() | list", "list"), ("dict", "update(<dict>)", "any"),
    ("dict", "copy()", "dict"), ("number", "bit_length()", "number"),
    ("number", "is_integer()", "bool"))
TESTS = ("defined", "undefined", "none", "string", "number", "integer", "float", "boolean", "true",
         "false", "mapping", "iterable", "sequence", "callable", "upper", "lower", "odd", "even",
         "divisibleby(<width>)", "divisibleby <width>", "in(<list>)", "eq(<any>)", "ne(<any>)",
         "gt(<number>)", "lt(<number>)", "sameas(<any>)", "sameas none", "equalto(<text>)",
         "escaped", "filter", "test", "ge(<any>)")
FORMATS = ("%s|%s", "%d %r", "%5s|%-5s", "%05d,%x", "%.2f %s", "%+d %5.1f", "%s %%", "%e %g", "%c %s")
FIELDS = ("{} {}", "{0}{1}{0}", "{a}", "{:>5}|{}", "{:05d} {}", "{:.2f}", "{!r} {!s}", "{0[0]}",
          "{{}} {}", "{:,}", "{:x}", "{:^7}", "{:%}", "{0.role}")


class Draw:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.names = {"text": ["bos_token", "eos_token", "date_string"],
                      "number": ["limit", "rate"], "list": ["words"],
                      "bool": ["add_generation_prompt", "enable_thinking"],
                      "dict": ["pairs", "messages[0]", "messages[-1]"],
                      "dicts": ["messages"], "any": ["tools", "nothing", "documents"]}
        self.macros, self.fresh, self.loops = [], 0, 0

    def flag(self, chance=0.5):
        return self.r.random() < chance

    def pick(self, *choices):
        return self.r.choice(choices)

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    # Expressions.

    def value(self, kind, depth=0):
        if kind == "any" or self.flag(0.03):
            kind = self.pick("text", "text", "number", "bool", "list", "dict", "dicts", "other")
        return getattr(self, f"{kind}_value")(depth)

    def fill(self, row, depth):
        parts = row.split("<")
        made = parts[0]
        for part in parts[1:]:
            kind, rest = part.split(">", 1)
            made += (self.r.choice(("1", "2", "3", "5", "8", "20", "0")) if kind == "small" else
                     self.r.choice(("1", "2", "3", "4", "10")) if kind == "width" else
                     repr(self.r.choice(ROLES)) if kind == "member" else
                     self.value(kind, depth + 1)) + rest
        return made

    def applied(self, kind, depth):
        """A filter or a method that gives `kind`, or None."""
        if depth > 3:
            return None
        table = self.pick(FILTERS, FILTERS, METHODS)
        row = self.r.choice([row for row in table if row[2] == kind] or [None])
        if not row:
            return None
        operand = self.value(row[0], depth + 1)
        if table is METHODS:
            return f"({operand}).{self.fill(row[1], depth)}"
        return f"({operand} | {self.fill(row[1], depth)})"

    def known(self, kind, depth):
        if self.names[kind] and self.flag(0.6):
            return self.r.choice(self.names[kind])
        return None

    def literal(self):
        text = self.r.choice(TEXTS)
        quote = "'" if self.flag(0.7) and "'" not in text else '"'
        return quote + (text if quote == "'" or '\\"' in text else text.replace('"', '\\"')) + quote

    def text_value(self, depth=0):
        if depth > 4 or self.flag(0.25):
            return self.literal()
        which = self.r.random()
        if which < 0.25:
            return self.known("text", depth) or self.literal()
        if which < 0.35:
            return self.value("dict", depth + 1) + self.pick(".role", "['role']", ".content",
                                                             "['content']")
        if which < 0.65:
            return self.applied("text", depth) or self.literal()
        if which < 0.75:
            return f"({self.value('text', depth + 1)} + {self.value('text', depth + 1)})"
        if which < 0.83:
            return f"({self.value('any', depth + 1)} ~ {self.value('any', depth + 1)})"
        if which < 0.88:
            return f"({self.value('text', depth + 1)}){self.slice()}"
        if which < 0.92:
            form = self.r.choice(FORMATS)
            return f"('{form}' % ({self.value('any', depth + 1)}, {self.value('any', depth + 1)}))"
        if which < 0.95:
            return (f"'{self.r.choice(FIELDS)}'.format({self.value('any', depth + 1)}, "
                    f"{self.value('any', depth + 1)}, a={self.value('any', depth + 1)})")
        if which < 0.97:
            return f"({self.value('text', depth + 1)} * {self.pick('2', '3', '0', '-1')})"
        return (f"({self.value('text', depth + 1)} if {self.value('bool', depth + 1)}"
                + (f" else {self.value('text', depth + 1)})" if self.flag(0.8) else ")"))

    def slice(self):
        one = [self.pick("", "0", "1", "2", "-1", "-2", "5") for _ in range(3)]
        if self.flag(0.3):
            return f"[{self.pick('0', '1', '-1', '7')}]"
        return f"[{one[0]}:{one[1]}]" if self.flag(0.6) else (
            f"[{one[0]}:{one[1]}:{self.pick('', '1', '2', '-1', '-2')}]")

    def number_value(self, depth=0):
        which = self.r.random()
        if depth > 4 or which < 0.3:
            return self.r.choice(INTEGERS if self.flag(0.7) else FLOATS)
        if which < 0.45:
            return self.known("number", depth) or "1"
        if which < 0.65:
            return self.applied("number", depth) or "2"
        if which < 0.9:
            op = self.pick("+", "-", "*", "/", "//", "%", "+", "-")
            return f"({self.value('number', depth + 1)} {op} {self.value('number', depth + 1)})"
        if which < 0.94:
            return f"({self.pick('2', '3', '1.5', '7', '0.5')} ** {self.pick('2', '3', '0.5', '-1')})"
        return f"(-{self.value('number', depth + 1)})"

    def bool_value(self, depth=0):
        which = self.r.random()
        if depth > 4 or which < 0.1:
            return self.pick("true", "false", "True", "False", "none")
        if which < 0.2:
            return self.known("bool", depth) or "true"
        if which < 0.35:
            op = self.pick("==", "!=", "<", ">", "<=", ">=")
            kind = self.pick("text", "number")
            chain = f" {self.pick('<', '==', '>=')} {self.value(kind, depth + 1)}" if self.flag(0.1) else ""
            return f"({self.value(kind, depth + 1)} {op} {self.value(kind, depth + 1)}{chain})"
        if which < 0.4:
            return f"({self.value('any', depth + 1)} {self.pick('==', '!=')} {self.value('any', depth + 1)})"
        if which < 0.6:
            test = self.fill(self.r.choice(TESTS), depth)
            return f"({self.value('any', depth + 1)} is {self.pick('', '', 'not ')}{test})"
        if which < 0.72:
            container = self.value(self.pick("text", "list", "dict", "dict"), depth + 1)
            return f"({self.value('text', depth + 1)} {self.pick('in', 'not in')} {container})"
        if which < 0.85:
            op = self.pick("and", "or")
            return f"({self.value('any', depth + 1)} {op} {self.value('any', depth + 1)})"
        if which < 0.92:
            return f"(not {self.value('any', depth + 1)})"
        return self.applied("bool", depth) or "false"

    def list_value(self, depth=0):
        which = self.r.random()
        if depth > 3 or which < 0.2:
            return self.pick("[]", "[1, 2, 3]", "['b', 'A', 'a']", "(1, 'x')", "range(3)",
                             "range(5, 0, -2)", "[3, 1, 2, 1]", "['a', none, 1.5]", "('a',)")
        if which < 0.35:
            return self.known("list", depth) or "words"
        if which < 0.65:
            return self.applied("list", depth) or "words"
        if which < 0.75:
            return f"({self.value('list', depth + 1)}){self.slice()}"
        if which < 0.8:
            return f"({self.value('list', depth + 1)} + {self.value('list', depth + 1)})"
        items = [self.value("any", depth + 1) for _ in range(self.r.randint(0, 3))]
        return f"[{', '.join(items)}]"

    def dicts_value(self, depth=0):
        which = self.r.random()
        if depth > 3 or which < 0.6:
            return self.r.choice(self.names["dicts"])
        if which < 0.8:
            return self.applied("dicts", depth) or "messages"
        return "messages" + self.pick("[1:]", "[::-1]", "[:-1]", "[:2]")

    def dict_value(self, depth=0):
        which = self.r.random()
        if depth > 3 or which < 0.6:
            return self.r.choice(self.names["dict"])
        if which < 0.75:
            return self.applied("dict", depth) or "pairs"
        if which < 0.8:
            return f"dict(a={self.value('any', depth + 1)}, b=1)"
        pairs = [f"{self.pick(self.literal(), self.literal(), '1', 'none', 'true')}: "
                 f"{self.value('any', depth + 1)}" for _ in range(self.r.randint(0, 3))]
        return "{" + ", ".join(pairs) + "}"

    def other_value(self, depth=0):
        which = self.r.random()
        member = self.r.choice(ROLES)
        if which < 0.45:
            of = self.value("dict", depth + 1)
            return self.pick(f"{of}.{member}", f"{of}['{member}']", f"{of}.get('{member}')")
        if which < 0.6:
            return self.r.choice(self.names["any"])
        if which < 0.75:
            return self.applied("any", depth) or "none"
        if which < 0.8 and self.loops:
            return "loop." + self.pick("index", "index0", "first", "last", "length", "revindex",
                                       "revindex0", "previtem", "nextitem", "depth", "depth0",
                                       "cycle('x', 'y', 'z')", f"changed({self.value('any', depth + 1)})")
        if which < 0.88 and self.macros:
            name, count = self.r.choice(self.macros)
            given = [self.value("any", depth + 1) for _ in range(self.r.randint(0, count))]
            return f"{name}({', '.join(given)})"
        if which < 0.93:
            return f"tools[0].function{self.pick('', '.name', '.parameters', '.nothing')}"
        return self.pick("none", "none", "1.0", "true", "()", "{}", "''", "nothing")

    # Statements.

    def tag(self, words):
        begin = self.pick("{%", "{%", "{%-", "{%-", "{%+")
        end = self.pick("%}", "%}", "-%}", "+%}")
        return f"{begin} {words} {end}"

    def data(self):
        return self.pick("", "\n", " ", "  \n  ", "text\n", "\n\n", "<|x|>", " a ", "\t", "    ",
                         "{# a\nnote #}", "{#- b -#}\n", "\r\n", "# x\n", "}}", "{ %")

    def body(self, depth):
        count = self.r.randint(1, 3 if depth else 6)
        return "".join(self.data() + self.statement(depth) for _ in range(count)) + self.data()

    def inside(self, depth, bound=()):
        """A body with names that only it has."""
        before = {kind: list(names) for kind, names in self.names.items()}
        macros = list(self.macros)
        for kind, name in bound:
            self.names[kind].append(name)
        made = self.body(depth + 1)
        self.names, self.macros = before, macros
        return made

    def statement(self, depth):
        kinds = ["output"] * 6
        if depth < 3:
            kinds += ["condition"] * 4 + ["loop"] * 4 + ["set"] * 3 + [
                "block_set", "space", "macro", "with_", "filter_", "call", "raw", "generation", "do"]
        return getattr(self, self.r.choice(kinds))(depth)

    def output(self, depth):
        begin, end = self.pick("{{", "{{", "{{-"), self.pick("}}", "}}", "-}}")
        kind = self.pick("text", "text", "any", "number", "list", "bool", "dict")
        return f"{begin} {self.value(kind)} {end}"

    def condition(self, depth):
        made = self.tag(f"if {self.value(self.pick('bool', 'bool', 'any'))}") + self.inside(depth)
        for _ in range(self.r.randint(0, 2) if self.flag(0.4) else 0):
            made += self.tag(f"elif {self.value('bool')}") + self.inside(depth)
        if self.flag():
            made += self.tag("else") + self.inside(depth)
        return made + self.tag("endif")

    def loop(self, depth):
        kind = self.pick("messages", "messages", "list", "items", "tools", "text", "calls")
        one, two = self.name(), self.name()
        rows = {"messages": (one, self.value("dicts", 1), (("dict", one),)),
                "list": (one, self.value("list", 1), (("any", one),)),
                "items": (f"{one}, {two}", self.value("dict", 1) + self.pick(
                    ".items()", " | items", " | dictsort"), (("text", one), ("any", two))),
                "tools": (one, "(tools or [])", (("dict", one), ("dict", f"{one}.function"))),
                "text": (one, self.value("text", 2), (("text", one),)),
                "calls": (one, f"({self.value('dict', 1)}.tool_calls or [])",
                          (("dict", f"{one}.function"), ("any", f"{one}.id")))}
        target, over, bound = rows[kind]
        guard = f" if {self.value('bool', 2)}" if self.flag(0.15) else ""
        made = self.tag(f"for {target} in {over}{guard}")
        self.loops += 1
        made += self.inside(depth, bound)
        if self.flag(0.15):
            made += self.tag(f"if {self.value('bool', 2)}") + self.tag(
                self.pick("break", "continue")) + self.tag("endif") + self.data()
        self.loops -= 1
        if self.flag(0.15):
            made += self.tag("else") + self.inside(depth)
        return made + self.tag("endfor")

    def set(self, depth):
        kind = self.pick("text", "number", "list", "dict", "any", "bool", "dicts")
        value, name = self.value(kind), self.name()
        if self.flag(0.1):
            other = self.name()
            self.names["any"] += [name, other]
            return self.tag(f"set {name}, {other} = {value}, {self.value('any')}")
        self.names[kind].append(name)
        return self.tag(f"set {name} = {value}")

    def block_set(self, depth):
        name = self.name()
        filters = self.pick("", "", " | upper", " | trim", " | replace('a', 'b')")
        made = self.tag(f"set {name}{filters}") + self.inside(depth) + self.tag("endset")
        self.names["text"].append(name)
        return made

    def space(self, depth):
        name = self.name()
        made = self.tag(f"set {name} = namespace(a={self.value('any')}, t={self.value('text')})")
        self.names["any"].append(f"{name}.a")
        self.names["text"].append(f"{name}.t")
        return made + self.tag("for v0 in messages") + self.tag(
            f"set {name}.{self.pick('a', 't')} = {self.value('text')} ~ loop.index") + self.tag("endfor")

    def macro(self, depth):
        name, count = f"m{self.name()}", self.r.randint(0, 3)
        names = [self.name() for _ in range(count)]
        given = [one + (f"={self.value('any', 2)}" if index >= count - 1 and self.flag() else "")
                 for index, one in enumerate(names)]
        loops, self.loops = self.loops, 0
        made = self.tag(f"macro {name}({', '.join(given)})")
        made += self.inside(depth, [("any", one) for one in names])
        if self.flag(0.2):
            made += "{{ varargs }}{{ kwargs }}"
        if self.flag(0.2):
            made += "{{ caller() if caller else 'none' }}"
        self.loops = loops
        self.macros.append((name, count))
        return made + self.tag("endmacro") + f"{{{{ {name}({', '.join(self.value('any', 2) for _ in names)}) }}}}"

    def with_(self, depth):
        name = self.name()
        made = self.tag(f"with {name} = {self.value('any')}")
        return made + self.inside(depth, (("any", name),)) + self.tag("endwith")

    def filter_(self, depth):
        row = self.r.choice([row for row in FILTERS if row[0] == row[2] == "text"])
        return self.tag(f"filter {self.fill(row[1], 2)}") + self.inside(depth) + self.tag("endfilter")

    def call(self, depth):
        name = f"m{self.name()}"
        made = self.tag(f"macro {name}(a='x')") + "[{{ caller(a) }}|{{ caller(a, 2) }}]" + self.tag("endmacro")
        one, two = self.name(), self.name()
        made += self.tag(f"call({one}, {two}=1) {name}({self.value('any', 2)})")
        loops, self.loops = self.loops, 0
        made += self.inside(depth, (("any", one), ("any", two))) + self.tag("endcall")
        self.loops = loops
        return made

    def raw(self, depth):
        return self.tag("raw") + self.pick("{{ a }}", "{% if %}", "{# b #}", " {{ '\n") + self.tag("endraw")

    def generation(self, depth):
        return self.tag("generation") + self.inside(depth) + self.tag("endgeneration")

    def do(self, depth):
        """Errors, where a program says so."""
        return self.tag(f"if {self.value('bool', 3)}") + "{{ raise_exception(" + self.value(
            "text", 3) + ") }}" + self.tag("endif")


class Constants(Draw):
    """Draws expressions that are constant, or nearly so: jinja2 evaluates them before it
    runs a program."""
    def __init__(self, seed):
        super().__init__(seed)
        self.names = {"text": ["'a b'"], "number": ["10", "1e308"], "list": ["[1, 2]"],
                      "bool": ["true"], "dict": ["{'a': 1}", "{'role': 'user', 2: none}"],
                      "dicts": ["[{'role': 'user'}, {'role': 'a'}]"], "any": ["none", "limit"]}

    def other_value(self, depth=0):
        if self.flag(0.7):
            return f"({self.value('any', depth + 1)}){self.slice()}"
        return self.pick("none", "1e999", "-1e999", "(1)", "().x", "('nan' | float)", "words",
                         "18446744073709551616", "(2 ** 70)", "1 or words")

    def whole(self):
        value = self.value(self.pick("any", "any", "number", "text", "list"))
        form = self.pick("{{ @ }}", "{% set x = @ %}{{ x }}", "{% if @ %}a{% else %}b{% endif %}",
                         "{{ [@, words] }}", "{{ (@) ~ limit }}", "{{ (@) | string }}",
                         "{% set x = (@) | string %}{{ x }}", "{% if words %}a{% else %}{{ @ }}{% endif %}")
        return form.replace("@", value)


def tokenizer():
    import tokenizers
    import transformers
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, BOS: 1, EOS: 2}, unk_token="a"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, bos_token=BOS, eos_token=EOS)


def answers(made, template):
    """The text of each conversation, without and with tools; None for an error."""
    for conversation in CONVERSATIONS.values():
        for tools in (None, TOOLS):
            try:
                yield made.apply_chat_template(
                    json.loads(json.dumps(conversation)), tools=tools, tokenize=False,
                    chat_template=template, add_generation_prompt=True, **VARIABLES)
            except Exception:  # Of any kind: what jinja2 refuses, anec must refuse.
                yield None


def works(texts):
    return sum(text is not None for text in texts)


def make(seed, folder):
    """A template, and the texts that it makes: statement by statement, of which most that
    end in an error are drawn again, and those that print an address."""
    made, draw = tokenizer(), Draw(seed)
    template, texts = "", list(answers(made, ""))
    for _ in range(draw.r.randint(2, 9)):
        for _ in range(8):
            before = {kind: list(names) for kind, names in draw.names.items()}
            macros = list(draw.macros)
            longer = template + draw.data() + draw.statement(0) + draw.data()
            now = list(answers(made, longer))
            odd = any(text and (" at 0x" in text or len(text) > 50000) for text in now)
            if not odd and (works(now) == works(texts) or draw.flag(0.04)):
                template, texts = longer, now
                break
            draw.names, draw.macros = before, macros
    (folder / "case.json").write_text(json.dumps({"template": template, "texts": texts}))


def make_constants(seeds, folder):
    """Templates of one expression, and their texts of plain messages."""
    made, cases = tokenizer(), []
    for seed in seeds:
        template = Constants(seed).whole()
        texts = list(answers(made, template))[:2]
        if not any(text and " at 0x" in text for text in texts):
            cases.append({"template": template, "texts": texts})
    (folder / "case.json").write_text(json.dumps(cases))
