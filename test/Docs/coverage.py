#!/usr/bin/env python3
"""Checks that what anec has a table of is tested: every pass has
test/Passes/PASS.ir, and every diagnostic is expected by some test: as `[id]`;
notes, which print no id, and messages that unit tests compare, by the longest
run of words between their placeholders. (test/Ops/coverage.test has the ops.)

usage: coverage.py ANEC TEST_FOLDER"""
import pathlib
import re
import subprocess
import sys

# What no test can reach, each with the reason.
EXEMPT = {
    "pass-broke-ir": "needs a pass with a bug",
    "no-program-for": "needs a package that anec does not write",
    "cannot-restart": "needs a program that runs and cannot be run again",
}


def listed(anec, page, pattern):
    text = subprocess.run([anec, "debug", f"--dump-docs={page}"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return re.findall(pattern, text, flags=re.M)


class Tests:
    """The texts of all tests below a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.lit = self.texts(folder, ".tdsl", ".ir", ".mil", ".test")
        self.unit = self.texts(folder, ".cpp", ".h", ".mm")

    @staticmethod
    def texts(folder, *suffixes):
        return "\n".join(path.read_text("latin-1")
                         for path in sorted(folder.rglob("*"))
                         if path.suffix in suffixes)

    def has(self, *parts):
        return self.folder.joinpath(*parts).exists()

    def expect(self, name, severity, text):
        words = max(re.split(r"\{\d[^}]*\}", text), key=len)
        return (f"[{name}]" in self.lit or f"[{name}]" in self.unit
                or words in self.unit
                or severity == "note" and words in self.lit)


def missing(anec, tests):
    passes = listed(anec, "passes", r"^## ([\w-]+)$")
    diagnostics = listed(anec, "diagnostics",
                         r"^## ([a-z0-9-]+)\n\n\*\*(\w+):\*\* (.*)$")
    if not (passes and diagnostics):
        yield "a page of --dump-docs has no rows"
    for name in passes:
        if not tests.has("Passes", f"{name}.ir"):
            yield f"pass {name}: no test/Passes/{name}.ir"
    for name, severity, text in diagnostics:
        tested = tests.expect(name, severity, text)
        if not tested and name not in EXEMPT:
            yield f"diagnostic {name}: no test expects [{name}]"
        if tested and name in EXEMPT:
            yield f"diagnostic {name}: exempt, and tested; drop the exemption"
    for name in sorted(set(EXEMPT) - {row[0] for row in diagnostics}):
        yield f"diagnostic {name}: exempt, and there is none of that name"


def main(anec, tests):
    lines = list(missing(anec, Tests(pathlib.Path(tests))))
    print("\n".join(lines + [f"{len(lines)} untested"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
