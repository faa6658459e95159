#!/usr/bin/env python3
"""Writes the code blocks of a Markdown page to files named by their language
and place among those: FOLDER/1.tdsl, FOLDER/2.tdsl, ...

usage: code-blocks.py PAGE FOLDER"""
import collections
import pathlib
import re
import sys

page, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True, exist_ok=True)
count = collections.Counter()
for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(),
                                 flags=re.M | re.S):
    count[language] += 1
    folder.joinpath(f"{count[language]}.{language}").write_text(text)
