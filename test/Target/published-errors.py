#!/usr/bin/env python3
"""Compares what `anec explain --log` finds in published errors with what is
expected, record by record, and looks for known errors that have no record.

usage: published-errors.py ANEC RECORDS.txt ERRORS.md"""
import json
import re
import subprocess
import sys


def records(path):
    """Yields the number of the line, the source, what is expected, the log."""
    number, source, expected, lines = 0, None, {}, []
    for at, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("== "):
            if source:
                yield number, source, expected, "".join(lines)
            source, found = line[3:].rstrip().rsplit(": ", 1)
            number, lines = at, []
            expected = {} if found == "none" else {
                key: int(count) for key, count in
                (part.split("=") for part in found.split())}
        elif source and not re.match(r"# [A-Z]|$", line):
            lines.append(line)
    yield number, source, expected, "".join(lines)


def found_in(anec, log):
    run = subprocess.run([anec, "explain", "--log=-", "--format=json"],
                         input=log.encode(), stdout=subprocess.PIPE, check=True)
    result = json.loads(run.stdout)
    found = {error["id"]: error["count"] for error in result["errors"]}
    if result["unknownLines"]:
        found["unknown"] = result["unknownLines"]
    return found


def main(anec, path, page):
    wrong, count, threads, seen = 0, 0, set(), set()
    for number, source, expected, log in records(path):
        found = found_in(anec, log)
        count += 1
        seen |= set(expected)
        thread = re.match(r"[\w.-]+/[\w.-]+#\d+", source)
        if thread and expected:
            threads.add(thread[0])
        if found != expected:
            wrong += 1
            print(f"{path}:{number}: {source}\n  expected {expected}\n"
                  f"  found    {found}")
    known = set(re.findall(r"^### ([\w-]+)$", open(page).read(), re.M))
    for name in sorted(known - seen):
        wrong += 1
        print(f"{name}: no record has it")
    print(f"{count} records of {len(threads)} threads, {wrong} wrong")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
