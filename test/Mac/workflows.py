#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what actionlint does not: actions of others have a version of three numbers, steps
run scripts of the repository that are there, and no step names a host.

usage: workflows.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
wrong = []
steps = 0
for path in sorted((root / ".github/workflows").glob("*.yml")):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        place = f"{path.relative_to(root)}:{number}"
        if match := re.match(r"\s*(?:- )?uses: (.*)", line):
            own = match[1].startswith("./") and (root / match[1] / "action.yml").is_file()
            if not own and not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", match[1]):
                wrong.append(f"{place}: `{match[1]}` has no version of three numbers")
        if match := re.match(r"\s*(?:- )?run: (.*)", line):
            steps += 1
            script = re.fullmatch(r"bash ([\w./-]+)( [\w-]+)*", match[1])
            if script and not (root / script[1]).is_file():
                wrong.append(f"{place}: there is no {script[1]}")
            if not script and not match[1].startswith("apt-get "):
                wrong.append(f"{place}: `{match[1]}` is no script of the repository")
        if re.search(r"https?://|\b[\w-]+\.(com|org|io|dev|sh)\b", line):
            wrong.append(f"{place}: a host")
print(*wrong, sep="\n", end="\n" if wrong else "")
print(f"{steps} steps")
sys.exit(bool(wrong or not steps))
