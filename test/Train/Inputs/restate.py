"""Changes a field of a state.json, or removes it, and its digest accordingly.

usage: restate.py STATE.json FIELD [VALUE]

A field of an object is OBJECT.FIELD."""
import hashlib
import json
import re
import sys

path, field, *value = sys.argv[1:]
# Numbers keep the digits that they have in the file.
state = json.load(open(path), parse_float=lambda digits: "@" + digits)
*objects, field = field.split(".")
owner = state
for name in objects:
    owner = owner[name]
if value:
    is_number = re.fullmatch("-?[0-9]+", value[0])
    owner[field] = int(value[0]) if is_number else value[0]
else:
    del owner[field]
del state["sha256"]


def text():
    compact = json.dumps(state, sort_keys=True, separators=(",", ":"))
    return re.sub(r'"@([^"]*)"', r"\1", compact)


state["sha256"] = hashlib.sha256(text().encode()).hexdigest()
open(path, "w").write(text())
