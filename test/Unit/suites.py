"""Checks that each test of the programs is run by one lit test of this folder, and that
each of those runs some.

usage: suites.py FOLDER"""
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys


def tests_of(program):
    """The names of all tests of a program: `Suite.Test`."""
    names, suite = [], ""
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, text=True,
                            capture_output=True).stdout
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + name)
        elif name.endswith("."):
            suite = name
    return names


def main(folder):
    filters = collections.defaultdict(dict)
    for path in sorted(pathlib.Path(folder).rglob("*.test")):
        runs = r"^(?:# )?RUN: (?:env \S+=\S+ )?(\S+) --gtest_filter='(.*)'"
        for program, text in re.findall(runs, path.read_text(), re.M):
            filters[program][path.name] = text.split(":")
    errors = []
    for program, files in filters.items():
        run = {name: [] for name in files}
        for test in tests_of(program):
            found = [name for name, patterns in files.items()
                     if any(fnmatch.fnmatchcase(test, p) for p in patterns)]
            for name in found:
                run[name].append(test)
            if not found:
                errors.append(f"no lit test runs {test} of {program}")
        errors += [f"{name} runs no test" for name, tests in run.items() if not tests]
    print("\n".join(errors + [f"{sum(map(len, filters.values()))} tests, "
                              f"{len(errors)} errors"]))
    return 1 if errors or not filters else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
