#!/usr/bin/env python3
"""Checks the language of messages, in the rows of Diags.def and in the texts of the code: a
thing is "not an object", never "no object"; and words that nobody speaks are left out. Counts
the rows that end in a reason in words, which the code composes ("...: {1}"): a kind that
users meet often is better a row of its own, which can be explained. The calls that compose
such reasons are counted, too.

usage: voice.py ROOT [--reasons]     with the ids of these rows"""
import pathlib
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ROW = re.compile(r'^DIAG\(\s*\w+,\s*\w+,\s*"([^"]+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.M)
#: Calls that are given a reason in words.
REASON = re.compile(r"\b(?:fail|refuse|malformed|notSupported|unsupported|reportBad|wrong|"
                    r"mismatch)\((?:\w+, )?\s*\"|\b(?:wrong|error|why) = \"")
#: What is not written, and what is written instead.
WRONG = [
    (re.compile(r"(?<!there )\b(?:is|are) (?:no|none) (?!longer\b|more\b)"), "is not a ..."),
    (re.compile(r"\b(?:whoever|wherein|thereof|hitherto|herein)\b"), "a plain word"),
]


def texts(path):
    """The literals of a file with their lines, without comments; those that follow each other
    are one."""
    lines = [re.sub(r"^\s*//.*", "", line) for line in path.read_text().split("\n")]
    source = "\n".join(lines)
    for match in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', source):
        text = "".join(LITERAL.findall(match[0]))
        yield source.count("\n", 0, match.start()) + 1, text


def main(root, *flags):
    root = pathlib.Path(root)
    errors, files, calls = [], 0, 0
    for folder in ("include", "lib", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cpp", ".h", ".mm", ".def"):
                continue
            files += 1
            calls += len(REASON.findall(path.read_text()))
            for line, text in texts(path):
                errors += [f"{path.relative_to(root)}:{line}: `{found[0].strip()}` in a text: "
                           f"write {instead}"
                           for wrong, instead in WRONG if (found := wrong.search(text))]
    rows = {name: "".join(LITERAL.findall(text))
            for path in [*root.glob("include/**/*.def"), *root.glob("lib/**/*.def")]
            for name, text in ROW.findall(path.read_text())}
    reasons = [name for name, text in rows.items()
               if re.search(r"(?:: |^)\{\d\}$", text)]
    if "--reasons" in flags:
        print("\n".join(sorted(reasons)))
    print("\n".join(errors + [f"{files} files, {len(rows)} messages, {len(reasons)} with a "
                              f"reason in words, of {calls} calls, {len(errors)} errors"]))
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
