"""Compiles each header of a folder alone, and writes a file that includes all of them.
A header that another one includes first is alone there.

usage: public_headers.py FOLDER FILE COMMAND..., which compiles C++"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys


def compile_alone(header, folder, command):
    """What the compiler says of a file that includes only this header."""
    run = subprocess.run([*command, f"-I{folder}", "-x", "c++", "-"], text=True,
                         input=f'#include "{header}"\n', capture_output=True)
    return run.stderr or (f"{header}: failed" if run.returncode else "")


def main(folder, file, *command):
    headers, first = [], set()
    for path in sorted(pathlib.Path(folder).rglob("*.h")):
        headers.append(str(path.relative_to(folder)))
        included = re.search(r'^#include ["<]([^">]+)', path.read_text(), re.M)
        first.add(included and included[1])
    pathlib.Path(file).write_text("".join(f'#include "{name}"\n' for name in headers))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(
            lambda header: compile_alone(header, folder, command),
            [header for header in headers if header not in first]) if text]
    print("".join(said) + f"{len(headers)} headers, {len(said)} with errors")
    return 1 if said or not headers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
