#!/usr/bin/env python3
"""Checks that `--help` of each command of a tool fits a screen, that `--help-all` has each
flag under a heading, and that the flags for most people, in the sources, are flags.
usage: screens.py TOOL FOLDER-OF-THE-SOURCES"""
import os
import pathlib
import re
import subprocess
import sys

MOST = 50
WIDTH = 100


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True,
                          env=os.environ | {"COLUMNS": str(WIDTH)}).stdout


def flags_in(text):
    options = text.partition("\nOPTIONS:\n")[2].partition("\n\n")[0]
    return set(re.findall(r"^ +--?([a-z][a-z0-9-]*)(?=[ =\[<\n])", options, re.M)) - {"help-all"}


def usual_flags(folder):
    """The names of commands, and the flags of each that its source calls usual."""
    for path in folder.glob("*Command.cpp"):
        text = path.read_text()
        usual = re.search(r'\.usual\s*=((?:\s*"[^"]*")+)', text)
        if usual:
            name = re.search(r'\.name = "([^"]*)"', text)
            yield (name[1] if name else ""), "".join(re.findall(r'"([^"]*)"', usual[1])).split()


def check(tool, name, usual):
    words = [tool] + ([name] if name else [])
    text, full = output(*words, "--help"), output(*words, "--help-all")
    lines = text.splitlines()
    if len(lines) > MOST:
        yield f"--help has {len(lines)} lines"
    if any(len(line) > WIDTH for line in flags_of_screen(text)):
        yield f"a line of a flag has more than {WIDTH} columns"
    flags = "\n".join(flags_of_screen(text))
    if flags.count("(") != flags.count(")"):
        yield "a bracket is not closed"
    shown, flags = flags_in(text), flags_in(full)
    if "\n  Others:\n" in full:
        yield "a flag has no topic in FlagTopics.cpp"
    if not shown <= flags:
        yield f"only --help has {sorted(shown - flags)}"
    if usual and set(usual) != shown:
        yield f"{sorted(set(usual) ^ shown)} are usual, or shown"


def flags_of_screen(text):
    return text.partition("\nOPTIONS:\n")[2].partition("\n\n")[0].splitlines()


def main(tool, folder):
    usual = dict(usual_flags(pathlib.Path(folder)))
    listed = output(tool, "--help").partition("\nCOMMANDS:\n")[2].partition("\n\n")[0]
    names = [""] + re.findall(r"^    (\S+) +- ", listed, re.M)
    errors = [f"{tool} {name}: {error}" for name in names
              for error in check(tool, name, usual.get(name))]
    print("\n".join(errors + [f"{len(names)} screens, {len(errors)} errors"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
