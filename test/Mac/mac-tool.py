#!/usr/bin/env python3
"""A tool as a Mac has it: it refuses what the Mac's refuses, and else runs the one of
this system. MAC_TOOLS is the folder of these, MAC_TOOLS_LOG a file that gets a line for
everything that is refused.

  mac-tool.py NAME ARGUMENTS...
  mac-tool.py --names             prints the names that there are"""
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import tools

name, arguments = sys.argv[1], sys.argv[2:]


if name == "--names":
    print(*sorted(set(tools.REFUSED) - {"ulimit"}), "bash", "sh", "python3")
    sys.exit()


def refuse(why, code):
    if log := os.environ.get("MAC_TOOLS_LOG"):
        with open(log, "a") as file:
            file.write(f"{name} {' '.join(arguments)}: {why}\n"[:300])
    print(f"{name}: {why}", file=sys.stderr)
    sys.exit(code)


def scripts():
    """What a shell is to run."""
    for index, word in enumerate(arguments):
        if re.fullmatch(r"-[a-z]*c", word):
            return arguments[index + 1]
        if not word.startswith("-"):
            try:
                with open(word, errors="replace") as file:
                    return file.read()
            except OSError:
                return ""
    return ""


if name in ("bash", "sh"):
    script = scripts()
    for line, why in tools.refuse_script(script):
        refuse(f"line {line}: {why}", 2)
    if found := re.search(r"\bulimit\s+(-[A-Za-z]+)", script):
        if why := tools.refuse("ulimit", [found[1]]):
            refuse(why, 1)
elif name == "python3":
    refuse("not the interpreter that the tests run with", 127)
elif why := tools.refuse(name, arguments):
    refuse(why, 127 if tools.REFUSED[name] is tools.missing else 2)
# The next one of this name.
path = os.pathsep.join(folder for folder in os.environ["PATH"].split(os.pathsep)
                       if os.path.realpath(folder) != os.environ["MAC_TOOLS"])
program = shutil.which(name, path=path)
if not program:
    refuse("command not found", 127)
if name == "wc":  # which indents its numbers
    done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        print(re.sub(r"^(\s*\d+)+", lambda all: "".join(
            f" {count:>7}" for count in all[0].split()), line))
    sys.exit(done.returncode)
os.execv(program, [program, *arguments])
