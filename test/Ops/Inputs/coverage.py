"""Lists what of the op table the tests beside this folder leave out.

usage: coverage.py FOLDER < `anec debug --dump-docs=ops`

Every op takes a file of values, FOLDER/NAME.ir, and every numbered constraint a
function @NAME_cN in FOLDER/NAME-errors.ir that breaks it.
"""
import os
import re
import sys

# Ops of host functions have no values of their own; test/Frontend makes them.
WITHOUT_VALUES = {"accumulate", "call", "repeat", "update_state"}


def read(path):
    return open(path).read() if os.path.exists(path) else ""


folder = sys.argv[1]
missing = []
op = None
ops = 0
for line in sys.stdin:
    heading = re.match(r"### (\w+)", line)
    if heading:
        op = heading[1]
        ops += 1
        uses = rf"(= |^  ){op}\("
        values = read(f"{folder}/{op}.ir")
        if op not in WITHOUT_VALUES and not re.search(uses, values, re.M):
            missing.append(f"{op}: no {op}.ir that uses it")
    constraint = re.match(r"- \(C(\d+)\)", line)
    if constraint:
        function = rf"@{op}_c{constraint[1]}\b|@{op}_c{constraint[1]}_"
        if not re.search(function, read(f"{folder}/{op}-errors.ir")):
            missing.append(f"{op}: no @{op}_c{constraint[1]} in {op}-errors.ir")

print("\n".join(missing) or f"all of {ops} ops are tested")
sys.exit(1 if missing or not ops else 0)
