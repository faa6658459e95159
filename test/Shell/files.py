#!/usr/bin/env python3
"""files.py FOLDER: prints the paths of the files in and below a folder, sorted."""
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
for path in sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*")
                   if p.is_file()):
    print(path)
