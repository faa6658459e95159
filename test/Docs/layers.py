#!/usr/bin/env python3
"""Checks which file includes what: a folder of include/anec/ and lib/ includes
folders of lower floors only, an installed header includes installed headers only, a
library underneath stays in its one folder, and the library neither exits nor prints."""
import pathlib
import re
import sys

# From the ground up; folders of one floor do not see each other.
FLOORS = [
    ["Support"],
    ["IR", "Protobuf"],
    ["Ops", "Arrays"],
    ["Frontend", "MIL", "Quantize"],
    ["CoreML", "Onnx", "Target"],
    ["Torch"],
    ["Passes"],
    ["Package"],
    ["Formats"],
    ["Runtime"],
    ["Text"],
    ["Generate"],
    ["Train", "Import", "Serve"],
    ["Bench"],
    ["API"],
    ["Probe"],
    ["Report"],
    ["anec.h"],
    ["Driver"],
    ["C"],
]
# What programs include. Other headers are installed because one of these includes them.
ENTRIES = {"anec/anec.h", "anec/API/WholeModel.h", "anec/Generate/IncrementalModel.h",
           "anec/Generate/StatefulModel.h", "anec/Runtime/ANE/AneBackend.h",
           "anec/Runtime/CoreML/CoreMLBackend.h"}
INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*["<]([^">]+)', re.M)
# An include, and the only place in lib/ that may have it.
CONFINED = [
    (r"antlr4|TDSL(Lexer|Parser)\.h", "lib/Frontend/"),
    (r"cblas|Accelerate/", "lib/Runtime/CPU/"),
    (r"pcre2|utf8proc", "lib/Text/HuggingFace/"),
    (r"fmt/", "lib/"),
]
# What starts a thread, and the only files that may.
THREADS = re.compile(r"\bstd::(thread|jthread|async)\b|\bpthread_create\b|"
                     r"ThreadPool\b|\bhardware_concurrency\b")
EXECUTOR = ("include/anec/Support/Executor.h", "lib/Support/Executor.cpp")
# A variable of the process or of a thread that is no constant, and the only
# ones that there are: what else changes belongs to an object.
VARIABLE = re.compile(r"^\s*(?:(?:inline|constinit)\s+)*(?:static|thread_local)\s+"
                      r"(?!.*\b(?:const|constexpr)\b)[^()]*[;={]")
VARIABLES = {
    # Which worker a thread is, for nested calls.
    ("lib/Support/Executor.cpp", "thread_local CurrentWorker current;"),
    # What a signal handler says of a file that was truncated, and removes.
    ("lib/Support/MappedRanges.cpp", "static MappedRanges ranges;"),
    ("lib/Support/Unfinished.cpp", "static UnfinishedList list;"),
    # The kernels for this processor; tests ask for others.
    ("lib/Runtime/CPU/VectorKernels.cpp",
     "static std::atomic<const Choice *> active{nullptr};"),
    # OpenBLAS has one thread count for the process.
    ("lib/Runtime/CPU/Products/BlasProducts.cpp", "static constinit inline std::mutex mutex;"),
    ("lib/Runtime/CPU/Products/BlasProducts.cpp",
     "static constinit inline unsigned products = 0;"),
    ("lib/Runtime/CPU/Products/BlasProducts.cpp", "static constinit inline int before = 1;"),
}
# What code of the library never does.
FORBIDDEN = [
    (r"\b(exit|abort|_Exit|quick_exit)\s*\(", "ends the process"),
    (r"\b(llvm::)?(errs|outs)\(\)", "prints; report a diagnostic"),
    (r"\bstd::(cout|cerr|clog)\b|\bf?printf\s*\(", "prints; report a diagnostic"),
    (r"\bcl::(opt|list|bits)\b", "has a command line option"),
    (r"\bgetenv\s*\(", "reads the environment"),
]


def floor_of(folder):
    return next((i for i, floor in enumerate(FLOORS) if folder in floor), None)


def own_folder(path):
    """The folder a file belongs to; files beside the folders are the API."""
    inside = path.parts[2:] if path.parts[0] == "include" else path.parts[1:]
    return inside[0] if len(inside) > 1 else "anec.h"


def without_comments(text):
    """The text with its line numbers, and no word of a comment."""
    text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text,
                  flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def check_include(path, header):
    folder = own_folder(path)
    for pattern, place in CONFINED:
        if re.match(pattern, header) and not str(path).startswith(place):
            return f"includes {header}, which only {place} may"
    parts = header.split("/")
    if path.parts[0] == "include" and (parts[0] == "lib" or ".." in parts):
        return f"includes {header}, which is not installed"
    if parts[0] not in ("anec", "lib"):
        return None
    target = parts[1]
    if target == folder:
        return None
    mine, theirs = floor_of(folder), floor_of(target)
    if theirs is None:
        return f"includes {header}, which is on no floor"
    if theirs >= mine:
        return f"includes {header}, and {folder} is not above {target}"
    return None


def check(path, text):
    if floor_of(own_folder(path)) is None:
        yield 1, f"the folder {own_folder(path)} is on no floor"
        return
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        message = include and check_include(path, include.group(1))
        if message:
            yield number, message
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        without_arguments = re.sub(r"<[^<>]*>", "", line)
        if (VARIABLE.match(without_arguments) and
                (str(path), line.strip()) not in VARIABLES):
            yield number, "has a variable of the process"
        if THREADS.search(line) and str(path) not in EXECUTOR:
            yield number, "has threads of its own; use the Executor"
        for pattern, what in FORBIDDEN:
            if path.parts[0] == "lib" and re.search(pattern, line):
                yield number, what


def check_installed(root):
    """An installed header that programs do not need belongs beside its source."""
    folder = root / "include"
    includes = {str(path.relative_to(folder)): INCLUDE.findall(path.read_text())
                for path in sorted((folder / "anec").rglob("*")) if path.is_file()}
    needed, todo = set(), list(ENTRIES)
    while todo:
        header = todo.pop()
        if header not in needed:
            needed.add(header)
            todo.extend(includes.get(header, []))
    return [f"include/{header}: is installed, and no header for programs includes it; "
            "move it beside its source" for header in includes if header not in needed]


def main(root):
    files = sorted(path for folder in ("include/anec", "lib")
                   for path in (root / folder).rglob("*")
                   if path.suffix in (".h", ".def", ".cpp", ".mm"))
    errors = [f"{path.relative_to(root)}:{number}: {message}"
              for path in files
              for number, message in check(path.relative_to(root),
                                           path.read_text())]
    errors += check_installed(root)
    print("\n".join(errors + [f"{len(files)} files, {len(errors)} errors"]))
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
