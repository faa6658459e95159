"""Checks action.yml beside its script: inputs that are used are declared, those that are
declared are used, and the script reads the variables that the action sets.

usage: action.py FOLDER"""
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
action = (folder / "action.yml").read_text()
script = (folder / "check.py").read_text()
inputs = re.search(r"^inputs:\n(.*?)^outputs:", action, re.M | re.S)[1]
declared = set(re.findall(r"^  ([a-z-]+):$", inputs, re.M))
used = set(re.findall(r"\binputs\.([a-z-]+)", action))
assert declared == used, declared ^ used
set_here = set(re.findall(r"^ +(ANEC_\w+): \$\{\{", action, re.M))
read = set(re.findall(r"ANEC_[A-Z_]+", script))
assert set_here == read, set_here ^ read
outputs = set(re.findall(r"steps\.check\.outputs\.(\w+)", action))
written = set(re.findall(r"(\w+)=\{", script.replace("\\n", " ")))
assert outputs <= written, outputs - written
