"""Names that a source file has for itself (static, or in a namespace without a name) are its
own in the folder: with ANEC_UNITY the files of a folder are compiled together, where two
functions of one name would be overloads of each other.

usage: locals.py ROOT [FOLDER...]"""
import collections
import pathlib
import re
import sys

OBJCXX = ("lib", "test/ANE/Double")
FOLDERS = ("lib", "tools", "python", "test/Unit", "test/fuzz-models", "test/ANE", "benchmarks")
STRING = r'R"(?P<end>\w*)\((?:.|\n)*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|\'(?:\\.|[^\'\\\n])\''
COMMENT = r"//[^\n]*|/\*(?:.|\n)*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
NAMESPACE = re.compile(r"\bnamespace\b([\w:\s]*)$")
TEMPLATE = re.compile(r"^template\s*<[^{}]*?>\s*(?=static|struct|class|inline|constexpr|[A-Za-z])")
LOCAL = re.compile(r"\bstatic\b|^constexpr\b|^const\b")
TYPE = re.compile(r"(?:struct|class|enum(?:\s+class)?|union)\s+(\w+)")
FUNCTION = re.compile(r"([\w:~]+)\s*\(")
VARIABLE = re.compile(r"[^=]*?(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|$)", re.S)
MACRO = re.compile(r"[A-Z][A-Z0-9_]*$")


def name_of(declaration, is_nameless):
    """The name that a declaration gives the file alone; None for others."""
    declaration = TEMPLATE.sub("", re.sub(r"\{.*", "", declaration, flags=re.S).strip())
    declaration = re.sub(r"\[\[\w+\]\]", "", declaration)
    if not (is_nameless or LOCAL.search(declaration)):
        return None
    if declaration.startswith(("using", "static_assert", "extern")):
        return None
    if match := TYPE.match(declaration):
        return match[1]
    match = FUNCTION.search(declaration)
    if match and "=" not in declaration[:match.start()]:
        name = match[1]
        return None if "::" in name or "~" in name or MACRO.match(name) else name
    match = VARIABLE.match(declaration)
    return match[1] if match else None


def locals_of(text):
    """The names that a file has for itself: those of declarations outside of functions and
    classes."""
    text = re.sub(f"(?P<text>{STRING})|{COMMENT}", lambda m: '""' if m["text"] else " ", text,
                  flags=re.M)
    names, scopes, declaration = set(), [], ""
    for part in re.split(r"([{};])", text):
        outside = "body" not in scopes
        if part == "{":
            match = NAMESPACE.search(declaration.strip())
            if outside and not match:
                names.add(name_of(declaration, "nameless" in scopes))
            scopes.append("body" if not match else "named" if match[1].strip() else "nameless")
            declaration = "" if match else declaration + part
        elif part == "}":
            scope = scopes.pop() if scopes else ""
            # After a function's body there is no semicolon.
            done = scope != "body" or re.search(r"\)[^()=]*\{", declaration)
            if "body" not in scopes:
                declaration = "" if done else declaration + part
        elif part == ";":
            if outside:
                names.add(name_of(declaration, "nameless" in scopes))
                declaration = ""
        elif outside:
            declaration += part
    return names - {None}


def main():
    root = pathlib.Path(sys.argv[1])
    count = wrong = 0
    folders = [(folder, ".cpp") for folder in sys.argv[2:] or FOLDERS]
    folders += [(folder, ".mm") for folder in sys.argv[2:] or OBJCXX]
    for folder, ending in folders:
        known = collections.defaultdict(dict)
        for path in sorted((root / folder).rglob("*" + ending)):
            count += 1
            for name in sorted(locals_of(path.read_text())):
                other = known[path.parent].setdefault(name, path)
                if other != path:
                    wrong += 1
                    print(f"{path.relative_to(root)}: {name}: {other.name} has that name, too")
    print(f"{count} files, {wrong} errors")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
