"""Checks that the pages of a tool have every command and flag of its --help-all.

usage: pages.py TOOL"""
import re
import subprocess
import sys

tool = sys.argv[1]


def said(*words):
    return subprocess.run([tool, *words], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def flags(text):
    options = re.search(r"^OPTIONS:\n(.*?)(?:^\n|\Z)", text, re.M | re.S)
    return set(re.findall(r"^  (--?[A-Za-z][\w-]*)", options[1] if options else "", re.M))


commands = re.findall(r"^    ([a-z]+) +- ", said("--help"), re.M)
assert len(commands) > 5, commands
pages = {form: said("help", f"--as={form}") for form in ("man", "bash", "zsh", "fish")}
for command in commands:
    for form, page in pages.items():
        assert command in page, (form, command)
for command in ["", *commands]:
    for flag in flags(said(*filter(None, [command]), "--help-all")):
        name = flag.lstrip("-")
        assert "\\fB" + flag.replace("-", "\\-") + "\\fR" in pages["man"], (command, flag)
        assert re.search(rf"{flag}[= ']", pages["bash"]), (command, flag)
        assert f"'{flag}:" in pages["zsh"], (command, flag)
        assert re.search(rf" -[sl] {name} ", pages["fish"]), (command, flag)
