"""Changes a field of a state.json, or removes it, and its digest accordingly.

usage: restate.py STATE.json FIELD [VALUE]"""
import hashlib
import json
import re
import sys

path, field, *value = sys.argv[1:]
# Numbers keep the digits that they have in the file.
state = json.load(open(path), parse_float=lambda digits: "@" + digits)
if value:
    state[field] = int(value[0]) if value[0].isdigit() else value[0]
else:
    del state[field]
del state["sha256"]


def text():
    compact = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return re.sub(r'"@([^"]*)"', r"\1", compact)


state["sha256"] = hashlib.sha256(text().encode()).hexdigest()
open(path, "w").write(text())
