#!/usr/bin/env python3
"""Checks which file includes what: a folder of include/anec/ and lib/ includes the folders
that LAYERS lists for it and no others, an installed header includes installed headers only,
a library underneath stays in its one folder, and the library neither exits nor prints."""
import os
import pathlib
import re
import sys

# Layers from the lowest, their folders likewise, and what each folder includes besides
# itself: all of it stands before the folder, and some file has each of these includes.
LAYERS = {
    "core": {
        "Support": "",
        "Protobuf": "",
        "IR": "Support",
        "Ops": "Support IR",
        "Arrays": "Support IR",
    },
    "languages": {
        "Frontend": "Support IR Ops",
        "MIL": "Support IR Ops Arrays",
        "CoreML": "Support Protobuf IR Ops MIL",
        "Onnx": "Support Protobuf IR Ops MIL",
        "Torch": "Support IR Ops MIL Onnx",
    },
    "compiler": {
        "Quantize": "Support IR Ops",
        "Target": "Support IR Ops MIL",
        "Passes": "Support IR Ops Target",
        "Package": "Support IR Ops Arrays MIL Quantize Target Passes",
        "Formats": "Support IR Ops Frontend MIL CoreML Onnx Torch Passes Package",
    },
    "runtime": {
        "Runtime": "Support IR Ops Arrays MIL CoreML Quantize Target Passes Package",
        "Train": "Support IR Ops Arrays MIL Package Runtime",
    },
    "tasks": {
        "Bench": "Support IR Ops MIL Target Runtime",
        "API": "Support IR Ops Arrays MIL CoreML Quantize Target Passes Package Formats "
               "Runtime Train",
        "Probe": "Support IR Ops MIL Target Runtime API",
        "Report": "Support IR Ops MIL Onnx Torch Quantize Target Passes Package Formats "
                  "Runtime",
        "Driver": "Support IR Arrays Frontend MIL CoreML Package Runtime API Report",
    },
    "language models": {
        "Text": "Support Protobuf Train",
        "Generate": "Support Ops Package Runtime Train API Text",
        "Import": "Support IR Ops Arrays Passes Package Formats Train API",
        "Serve": "Support Text Generate",
    },
    "interfaces": {
        "anec.h": "CoreML Target Train API Report Generate",
        "C": "Support IR Arrays MIL CoreML Target Passes Package Runtime Train API Probe "
             "Report Driver Generate Import anec.h",
    },
}
# What a build can leave out (ANEC_LANGUAGE_MODELS): its folders, and the files outside that
# include them, which it leaves out too.
COMPONENT = set(LAYERS["language models"])
OF_COMPONENT = {"include/anec/LanguageModels.h", "lib/C/Convert.cpp", "lib/C/Evaluate.cpp",
                "lib/C/Text.cpp", "lib/C/TextHandles.h"}
INCLUDED = {folder: names.split() for folders in LAYERS.values()
            for folder, names in folders.items()}
# Files that name something of every folder: what is precompiled, and the page of all
# diagnostics.
OF_ALL = {"lib/Precompiled.h", "lib/Precompiled.cpp",
          "lib/Report/Pages/DiagnosticsPage.cpp"}
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


def own_folder(path):
    """The folder a file belongs to; files beside the folders are the API."""
    inside = path.parts[2:] if path.parts[0] == "include" else path.parts[1:]
    return inside[0] if len(inside) > 1 else "anec.h"


def folder_of(header):
    """The folder of a header as it is included, "anec/IR/IR.h"."""
    parts = header.split("/")
    return parts[1] if len(parts) > 2 else "anec.h"


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
    if path.parts[0] == "lib" and ".." in parts:
        inside = os.path.normpath(path.parent / header).split(os.sep)
        if inside[:2] != ["lib", folder]:
            return f'includes {header}, which is outside; write "{"/".join(inside)}"'
    if path.parts[0] == "include" and (parts[0] == "lib" or ".." in parts):
        return f"includes {header}, which is not installed"
    if parts[0] not in ("anec", "lib"):
        return None
    target = folder_of(header)
    # anec.h asks whether it is there.
    if ((target in COMPONENT or header == "anec/LanguageModels.h" and path.name != "anec.h")
            and folder not in COMPONENT and str(path) not in OF_COMPONENT | OF_ALL):
        return f"includes {header}, which a build without language models lacks"
    if target == folder or str(path) in OF_ALL or target in INCLUDED[folder]:
        return None
    return f"includes {header}, and LAYERS does not list {target} for {folder}"


def check(path, text):
    if own_folder(path) not in INCLUDED:
        yield 1, f"the folder {own_folder(path)} is in no layer"
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


def check_layers(texts):
    """What is listed stands before the folder, and is included by some file."""
    found = {(own_folder(path), folder_of(header))
             for path, text in texts.items() if str(path) not in OF_ALL
             for header in INCLUDE.findall(text)
             if header.split("/")[0] in ("anec", "lib")}
    there = {own_folder(path) for path in texts}
    order = list(INCLUDED)
    for folder, names in INCLUDED.items():
        for name in names:
            if name not in order or order.index(name) >= order.index(folder):
                yield f"LAYERS lists {name} for {folder}, which does not stand before it"
            elif folder in there and (folder, name) not in found:
                yield f"LAYERS lists {name} for {folder}, of which no file includes it"


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
    texts = {path.relative_to(root): path.read_text() for path in files}
    errors = [f"{path}:{number}: {message}" for path, text in texts.items()
              for number, message in check(path, text)]
    errors += check_layers(texts)
    errors += check_installed(root)
    print("\n".join(errors + [f"{len(files)} files, {len(errors)} errors"]))
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
