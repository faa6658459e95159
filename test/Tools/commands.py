#!/usr/bin/env python3
"""Checks the help of every command that `TOOL --help` lists: it is the same by
`TOOL help COMMAND` and by `TOOL COMMAND --help`, opens with the summary of the
list, and has examples of that command.
usage: commands.py TOOL"""
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout


def check(tool, name, summary):
    text = output(tool, "help", name)
    if text != output(tool, name, "--help"):
        yield "`help` and `--help` differ"
    if not text.startswith(f"{tool} {name} - {summary}\n"):
        yield "it does not open with the summary of the list"
    if f"\nUSAGE: {tool} {name} [options]" not in text:
        yield "it does not say how the command is called"
    examples = text.partition("\nEXAMPLES:\n")[2].partition("\n\n")[0]
    lines = examples.splitlines()
    if not any(line.startswith(f"  {tool} {name}") for line in lines):
        yield "no example is of the command"
    for line in lines:
        if not line.startswith("  an"):
            yield f"`{line}` is no command line"


def main(tool):
    listed = output(tool, "--help").partition("\nCOMMANDS:\n")[2]
    commands = re.findall(r"^    (\S+) +- (.*)$", listed.partition("\n\n")[0],
                          re.M)
    errors = [f"{name}: {error}" for name, summary in commands
              for error in check(tool, name, summary)]
    if output(tool, "help") != output(tool, "--help"):
        errors.append("`help` and `--help` differ")
    print("\n".join(errors + [f"{len(commands)} commands, {len(errors)} errors"]))
    return 1 if errors or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
