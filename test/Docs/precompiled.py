#!/usr/bin/env python3
"""Checks that a precompiled header is only used with the options that it was compiled
with: clang refuses one of another level of optimization or another target.

  precompiled.py compile_commands.json"""
import json
import re
import shlex
import sys

# What must agree: optimization, the standard, code generation, the target.
# -fpch-instantiate-templates is of use to the header alone.
SAME = re.compile(r"-(O.|std=.*|f(?!PI[CE]$|pch-)\S+|m\S+)$")


def options(words):
    """The options that matter; of a kind that is given twice, the last counts."""
    levels = [word for word in words if re.match(r"-O.?$", word)]
    return {word for word in words if SAME.match(word) and word not in levels[:-1]}


headers, users = {}, []
for entry in json.load(open(sys.argv[1])):
    # CMake gives clang a header as -Xclang -include -Xclang HEADER.
    words = [word for word in shlex.split(entry["command"]) if word != "-Xclang"]
    included = [words[place + 1] for place, word in enumerate(words)
                if word == "-include" and "cmake_pch" in words[place + 1]]
    if "c++-header" in words:
        headers[included[0]] = options(words)
    elif included:
        users.append((entry["file"], included[0], options(words)))
wrong = [(file, header, headers[header] ^ own) for file, header, own in users
         if headers[header] != own]
for file, header, different in wrong:
    print(f"{file}: {header} was compiled with other options: {' '.join(sorted(different))}")
print(f"{len(users)} files use {len(headers)} precompiled headers")
sys.exit(1 if wrong else 0)
