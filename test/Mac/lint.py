#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds what a Mac's tools refuse (tools.py) in RUN lines, shell scripts, the steps of
workflows and the Python programs of tests.

usage: lint.py ROOT"""
import pathlib
import re
import shlex
import sys

sys.dont_write_bytecode = True
import tools

# Words before a command, with the number of words that they take.
BEFORE = {"not": 0, "!": 0, "if": 0, "then": 0, "else": 0, "elif": 0, "while": 0, "do": 0,
          "time": 0, "exec": 0, "command": 0, "--crash": 0, "{": 0, "%{exits}": 1,
          "%{within}": 1, "%{memory}": 1, "%{usage}": 0}
SHARED = "test/Shell/memory.py"
PYTHON = [
    (r"RLIMIT_(AS|DATA|RSS|VMEM)", f"macOS limits no address space; use {SHARED}"),
    (r"\bprlimit\b", f"a Mac has no prlimit; use {SHARED}"),
    (r"\bru_maxrss\b", f"macOS counts in bytes; use {SHARED}"),
    (r"sched_getaffinity|memfd_create|posix_fadvise|\bepoll\b|pipe2", "Linux alone has it"),
    (r"""["'(]/(proc|sys)/|/dev/shm""", "a Mac has no such folder"),
    (r"""\[\s*["']python3?["']""", "a Mac's python3 may be another; use sys.executable"),
]
TEXT = [
    (r"(?<![\w.])/(proc|sys)/(?!none)|/dev/shm", "a Mac has no such folder"),
    (r"/usr/lib/llvm|/usr/bin/(?!env\b)", "packages of a Mac are elsewhere"),
]
# The scripts of .ci that a Mac runs.
OF_A_MAC = {".ci/install-dependencies", ".ci/mac-runner"}
# With the reason.
EXEMPT = {
    "test/Shell/memory.py": "it is what others use",
    "test/Tools/Inputs/threads.py": "tests with `REQUIRES: proc` use it",
    "test/World/install": "its peers are compared on Linux",
    "test/World/models": "its peers are compared on Linux",
    "test/lit.cfg.py": "it looks for what tests require",
}


def commands(line):
    """The simple commands of a line of a shell, as lists of words."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&;<>()")
    words.whitespace_split = True
    words.commenters = ""
    try:
        split = list(words)
    except ValueError:  # part of a quoted text of several lines
        return
    command = []
    for word in [*split, ";"]:
        if re.fullmatch(r"[|&;()]+", word):
            if command:
                yield command
            command = []
        else:
            command.append(word)


def bare(command):
    """The command without what runs it."""
    while command:
        first = command[0]
        if first == "env":
            if why := tools.refuse("env", command[1:]):
                return command
            command = command[1:]
            while command and (re.match(r"\w+=", command[0]) or command[0] == "-u"):
                command = command[2 if command[0] == "-u" else 1:]
        elif first == "%python" and len(command) > 2 and command[1].endswith("exits.py"):
            command = command[3:]
        elif first in BEFORE:
            command = command[1 + BEFORE[first]:]
        elif re.match(r"\w+\+?=", first):
            command = command[1:]
        else:
            return command
    return command


def check_line(line):
    for expression, why in TEXT:
        if match := re.search(expression, line):
            yield f"{match[0]}: {why}"
    for command in commands(line):
        command = bare(command)
        if not command:
            continue
        name, arguments = command[0], command[1:]
        if name in ("python3", "python"):
            yield f"{name}: a Mac's may be another; use %python"
        elif why := tools.refuse(name, arguments):
            yield f"{name}: {why}"
        elif name == "xargs":
            rest = " ".join(map(shlex.quote, arguments[0:]))
            yield from check_line(rest)
        elif name in ("bash", "sh") and "-c" in arguments:
            script = arguments[arguments.index("-c") + 1]
            for number, why in tools.refuse_script(script):
                yield why
            yield from check_line(script)
    for inner in re.findall(r"[$<]\(([^()]*)\)", line):
        yield from check_line(inner)


def check_test(text):
    if "RUN:" not in text:
        return
    requires = " ".join(re.findall(r"REQUIRES: (.*)", text))
    joined, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        match = re.search(r"(?:RUN|DEFINE):\s?(?:%\{[\w-]+\} = )?(.*)", line)
        if not match:
            continue
        start = start or number
        joined += match[1]
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        for why in check_line(joined):
            yield start, why
        if "/dev/full" in joined and "full-device" not in requires:
            yield start, "/dev/full: the test does not require full-device"
        joined, start = "", 0


def check_script(text):
    yield from tools.refuse_script(text)
    text = re.sub(r"<<-?'?(\w+)'?.*?^\1$", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.S | re.M)
    for number, line in enumerate(text.splitlines(), 1):
        if not re.match(r"\s*#", line):
            for why in check_line(re.sub(r"\s#\s.*", "", line)):
                yield number, why


def check_python(text):
    for number, line in enumerate(text.splitlines(), 1):
        for expression, why in PYTHON:
            if match := re.search(expression, line):
                yield number, f"{match[0]}: {why}"


def check_workflow(text):
    """The steps `run: ...`, of one line or of a block."""
    block = None
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if match := re.match(r"\s*(?:- )?run: *(.*)", line):
            block = indent if match[1] in ("|", ">", "|-") else None
            if block is None:
                for why in check_line(match[1]):
                    yield number, why
        elif block is not None and line.strip() and indent > block:
            for why in check_line(line):
                yield number, why
        elif line.strip():
            block = None


def checked(path, name):
    if path.suffix in (".test", ".tdsl", ".ir", ".mil"):
        return check_test
    if path.suffix == ".py" and not name.startswith(("test/World/", "test/Mac/", "docs/")):
        return check_python
    if path.suffix in (".yml", ".yaml"):
        return check_workflow
    with open(path, "rb") as file:
        if re.match(rb"#!.*\b(ba)?sh\b", file.read(40)):
            return check_script
    return None


def main(root):
    found = 0
    for folder in ("test", "examples", ".ci", ".github"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if not path.is_file() or name in EXEMPT or "node_modules" in path.parts:
                continue
            if name.startswith("test/Mac/Inputs/") or (
                    folder == ".ci" and name not in OF_A_MAC):
                continue
            if check := checked(path, name):
                text = path.read_text(errors="replace")
                for line, why in dict.fromkeys(check(text)):
                    print(f"{name}:{line}: {why}")
                    found += 1
    return bool(found)


sys.exit(main(pathlib.Path(sys.argv[1])))
