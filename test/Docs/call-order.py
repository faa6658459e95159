#!/usr/bin/env python3
"""Looks for calls of which two arguments build ops.

Compilers evaluate the arguments of a call in different orders, so that the ops of
`e.add(e.abs(x), e.sign(x))` come in an order that depends on the compiler: one of the
arguments has to be a variable. Arguments in braces are in order, and gradient rules may
do so, because `Gradient::give` orders what they build.

  call-order.py ROOT
  call-order.py --text FILE    # FILE as one of lib/Onnx"""
import pathlib
import re
import sys

# Folders, and what functions return there that build ops.
VALUES = r"(?:Value|Op) \*"
FOLDERS = {"lib/Onnx": r"Vals?\s", "lib/Ops": None, "lib/Passes": VALUES,
           "lib/Frontend": VALUES, "lib/Import": VALUES, "lib/MIL": VALUES,
           "lib/Quantize": VALUES, "lib/Package": VALUES, "lib/Train": VALUES}
# What looks things up.
LOOKUPS = {"operand", "result", "definingOp", "x", "get", "find", "lookup"}
# What a function takes that builds ops.
TAKEN = re.compile(r"\b(?:Emitter|Node|Rewriter|Decomposition|Builder) &")


def without_text(source):
    """`source` with comments and the contents of strings blanked."""
    def blank(match):
        return re.sub(r"[^\n\"]", " ", match[0])
    return re.sub(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", blank, source)


def closing(text, start):
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return len(text) - 1


def functions(texts, values):
    """The functions and methods that return values and can build ops: those that take a
    builder, and methods that are not const."""
    names = set()
    for text in texts:
        for match in re.finditer(values + r"\s*((?:\w+::)*)(\w+)\(", text):
            end = closing(text, match.end() - 1)
            line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            is_method = match[1] or (line.strip() == "" and line != "")
            is_const = text[end + 1:end + 7] == " const"
            if TAKEN.search(text[match.end():end]) or (is_method and not is_const):
                names.add(match[2])
    return names - LOOKUPS


def pattern(names):
    return re.compile(r"(?<!::)\b(?:" + "|".join(sorted(names)) + r")\(")


def lambdas(text, calls):
    """The lambdas of a file that build ops."""
    names = set()
    for match in re.finditer(r"\bauto (\w+) = \[", text):
        if calls.search(text[match.end():closing(text, text.find("{", match.end()))]):
            names.add(match[1])
    return names


def arguments(text, start):
    """The arguments of the call whose bracket is at `start`; lambdas are empty."""
    end, depth, begin = closing(text, start), 0, start + 1
    found = []
    for at in range(start, end + 1):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
        if (text[at] == "," and depth == 1) or at == end:
            argument = text[begin:at].strip()
            found.append("" if re.match(r"\[[^\]]*\]\s*[({]", argument) else argument)
            begin = at + 1
    return found


def problems(text, calls):
    """The line, the name and the arguments of each call that is to be taken apart."""
    for match in re.finditer(r"\b([A-Za-z_]\w*)\(", text):
        if match[1] in ("if", "for", "while", "switch", "return"):
            continue
        building = [each for each in arguments(text, match.end() - 1)
                    if calls.search(each)]
        # `g` is the gradient of a rule.
        if len(building) >= 2 and not any(re.search(r"\bg\.", each)
                                          for each in building):
            yield text.count("\n", 0, match.start()) + 1, match[1], building


def check(path, shown, calls):
    text = without_text(path.read_text())
    if "  Decomposition d;" in text:  # a class around one
        calls = re.compile(calls.pattern + "|" + pattern(functions([text], VALUES)).pattern)
    own = lambdas(text, calls)
    if own:
        calls = re.compile(calls.pattern + "|" + pattern(own).pattern)
    found = list(problems(text, calls))
    for line, call, building in found:
        print(f"{shown}:{line}: arguments of `{call}` build ops: "
              + "; ".join(" ".join(each.split())[:50] for each in building))
    return len(found)


def main(words):
    if words[0] == "--text":
        path = pathlib.Path(words[1])
        return 1 if check(path, path.name, pattern({"make", "add", "scalar"})) else 0
    root, failed, builders = pathlib.Path(words[0]), 0, 0
    for folder, values in FOLDERS.items():
        files = sorted((root / folder).rglob("*.cpp"))
        texts = [without_text(path.read_text())
                 for path in files + sorted((root / folder).rglob("*.h"))]
        if values:
            names = functions(texts, values) | {"build", "create"}
            calls = pattern(names)
        else:
            # Decompositions; the others there are gradient rules.
            names = {name for text in texts for name in re.findall(
                r"\n(?:static )?[\w:]+ \*?(\w+)\(Decomposition &", text)}
            calls = re.compile(pattern(names).pattern + r"|\bd\.\w+\(")
        builders += len(names)
        failed += sum(check(path, path.relative_to(root), calls) for path in files)
    print(f"{builders} builders, {failed} calls to take apart")
    return 1 if failed or builders < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
