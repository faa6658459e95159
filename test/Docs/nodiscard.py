"""Functions of headers that report to a Diagnostics and return something are
[[nodiscard]]: a result that nobody looks at is an error that is lost (docs/develop/style.md).

usage: nodiscard.py ROOT [--mend]"""
import pathlib
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
PARAMETER = re.compile(r"(?<!const )\bDiagnostics\s*&\s*(?:\w+\s*)?[,)]")
NAME = re.compile(r"(?:operator\s*\S+|[A-Za-z_]\w*)\s*$")
LABEL = re.compile(r"\b(?:public|private|protected)\s*:\s*$")
TEMPLATE = re.compile(r"\s*template\s*<")
# Nothing, a constructor, or a report, to which notes can be added.
NO_RESULT = re.compile(r"^(?:(?:static|virtual|inline|constexpr|explicit)\b\s*)*"
                       r"(?:void\b(?!\s*\*)|Diagnostics::Report\b|$)")


def blank(text):
    """The text without comments and directives, with the same places."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def opening(text, place):
    """Where the parentheses open that surround a place; -1 outside of any."""
    depth = 0
    for i in range(place - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth < 0:
            return i
        if text[i] in ";{}":
            return -1
    return -1


def start_of(text, place):
    """Where the declaration begins whose name ends at a place."""
    i = place
    while i > 0 and text[i - 1] not in ";{}" and not LABEL.search(text, max(0, i - 12), i):
        i -= 1
    while text[i].isspace():
        i += 1
    template = TEMPLATE.match(text, i)
    if template:
        depth, i = 1, template.end()
        while depth:
            depth += (text[i] == "<") - (text[i] == ">")
            i += 1
        while text[i].isspace():
            i += 1
    return i


def discardable(text):
    """The places of declarations that want [[nodiscard]]."""
    found = []
    for match in PARAMETER.finditer(text):
        begin = opening(text, match.start())
        name = NAME.search(text, max(0, begin - 80), begin) if begin > 0 else None
        if not name:
            continue
        place = start_of(text, name.start())
        before = text[place:name.start()].strip()
        # A type of functions, a friend, a name within another list of parameters.
        if re.search(r"\busing\b|\bfriend\b|\breturn\b|[=<(,]\s*$|\(", before):
            continue
        if "nodiscard" in before or "noreturn" in before or NO_RESULT.match(before):
            continue
        if before.endswith("::") or before.count("<") != before.count(">"):
            continue
        found.append(place)
    return sorted(set(found))


def main():
    root = pathlib.Path(sys.argv[1])
    mend = "--mend" in sys.argv
    count = 0
    files = sorted([*root.glob("include/anec/**/*.h"), *root.glob("lib/**/*.h"),
                    *root.glob("tools/**/*.h")])
    for path in files:
        text = path.read_text()
        for place in reversed(discardable(blank(text))):
            line = text.count("\n", 0, place) + 1
            shown = text[place:text.index("(", place)].split("\n")[0]
            print(f"{path.relative_to(root)}:{line}: {shown}...: reports what fails, and is "
                  "not [[nodiscard]]")
            count += 1
            text = text[:place] + "[[nodiscard]] " + text[place:]
        if mend:
            path.write_text(text)
    print(f"{len(files)} headers, {count} errors")
    return 1 if count else 0


sys.exit(main())
