#!/usr/bin/env python3
"""Checks that test/ has the folders of lib/: tests of a folder are in the folder of its name,
in test/ or among the unit tests, and a folder of another name is in OTHERS. The tests that
.ci/ names are there.

usage: mirror.py ROOT"""
import pathlib
import re
import sys

# Folders of tests that no single folder of lib/ has, and what they test.
OTHERS = {
    "ANE": "lib/Runtime/ANE, beside a double of the engine's frameworks",
    "Darwin": "the build for macOS",
    "Docs": "pages, and rules that hold for all sources",
    "Examples": "examples/",
    "Fuzz": "what attacks readers and tools",
    "Gradients": "lib/Passes/Differentiate, an op each",
    "Install": "what a build installs, and projects that use it",
    "Instructions": "tests of the processor, run with each set of instructions",
    "Mac": "scripts of jobs on a Mac",
    "Shell": "programs that other tests share",
    "Tools": "what both tools do whatever the command is",
    "Unit": "unit tests, in folders of the same names",
    "World": "comparisons with PyTorch, coremltools and others",
}


def folders(path):
    return {entry.name for entry in path.iterdir()
            if entry.is_dir() and entry.name not in ("Inputs", "__pycache__")}


def has_tests(path):
    return any(found.suffix in (".test", ".ir", ".tdsl", ".mil") for found in path.rglob("*")
               if "Inputs" not in found.parts)


def named_tests(path):
    """The tests that a script names by patterns such as `Package/(run|write)\\.`."""
    pattern = r"\b([A-Z]\w*(?:/[A-Z]\w*)*)/\(?([\w|-]+)\)?\\\."
    for folder, names in re.findall(pattern, path.read_text()):
        yield from (f"{folder}/{name}" for name in names.split("|"))


def main(root):
    library, tests = folders(root / "lib"), folders(root / "test")
    units = folders(root / "test/Unit") if (root / "test/Unit").is_dir() else set()
    for name in sorted(library):
        own = [root / "test" / name, root / "test/Unit" / name]
        if not any(path.is_dir() and has_tests(path) for path in own):
            yield f"lib/{name} has no tests: neither test/{name} nor test/Unit/{name} has any"
    # Programs of tests have names in small letters.
    for name in sorted(tests - library - set(OTHERS)):
        if not name[0].islower():
            yield f"test/{name}: lib/ has no such folder; it goes into OTHERS if it stays"
    for name in sorted(units - library - set(OTHERS)):
        yield f"test/Unit/{name}: lib/ has no such folder"
    for name in sorted(set(OTHERS) & library):
        yield f"OTHERS has {name}, which is a folder of lib/"
    for path in sorted((root / ".ci").rglob("*")):
        if path.is_file():
            for name in named_tests(path):
                if not [*root.glob(f"test/{name}*.*"), *root.glob(f"test/Unit/{name}*.*")]:
                    yield f"{path.relative_to(root)}: there is no test {name}"


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    errors = list(main(root))
    print("\n".join(errors + [f"{len(folders(root / 'lib'))} folders, {len(errors)} errors"]))
    sys.exit(bool(errors))
