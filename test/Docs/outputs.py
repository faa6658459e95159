"""Whether each output that `anec --help-all` lists is in the table of docs/use/commands.md, and
in the type `Emit` of Python, and nothing else.

usage: anec --help-all | outputs.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
block = re.search(r"^ +--emit=<value>.*\n((?: +=.*\n)+)", sys.stdin.read(), re.M)
listed = set(re.findall(r"^ +=([\w-]+)", block[1], re.M))
places = {
    "docs/use/commands.md": r"^\| `--emit=([\w-]+)`",
    "python/anec/_build.py": r'"([\w-]+)"',
}
errors = 0
for place, pattern in places.items():
    text = (root / place).read_text()
    if place.endswith(".py"):
        text = re.search(r"^Emit = typing\.Literal\[(.*?)\]", text, re.M | re.S)[1]
    named = set(re.findall(pattern, text, re.M))
    for name in sorted(listed ^ named):
        errors += 1
        print(f"{place}: {name} is {'missing' if name in listed else 'no output'}")
print(f"{len(listed)} outputs, {errors} errors")
sys.exit(errors > 0)
