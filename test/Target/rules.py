#!/usr/bin/env python3
"""Checks every rule against its two programs: ID.bad.mil breaks it on the chips
that it is for and on no other, and ID.good.mil, which is nearly the same, on
none.

usage: rules.py ANEC FOLDER"""
import json
import pathlib
import re
import subprocess
import sys

ALL = "m1, m2, m3, m3-ultra, m4, m5, m6"
# Rules about programs that cannot be read. They are judged from the text alone,
# and breaking them is reported by the reader as well.
UNREADABLE = {
    "known-extents", "no-data-dependent-shape", "no-neg",
    "no-random", "no-where", "untyped-literal",
}


def run(*arguments):
    return subprocess.run(arguments, text=True, stdout=subprocess.PIPE).stdout


def chips_of_rules(anec):
    """Rule -> the targets it is for."""
    page = run(anec, "debug", "--dump-docs=rules")
    rows = re.findall(r"^### (\S+)$.*?^- chips: (.*?)$", page, re.M | re.S)
    return {rule: set((ALL if chips == "all" else chips).split(", "))
            | {"generic"} for rule, chips in rows}


def rules_of_e5(anec):
    """The rules that are not about the default path, but about E5."""
    page = run(anec, "debug", "--dump-docs=rules")
    rows = re.findall(r"^### (\S+)$(.*?)(?=^##|\Z)", page, re.M | re.S)
    return {rule for rule, body in rows
            if re.search(r"^- paths: (?!.*in-memory).*e5", body, re.M)}


def check(anec, target, files, path="in-memory"):
    """File name -> the rules it breaks, and -> whether it cannot be read."""
    report = json.loads(run(anec, "check", f"--target={target}", f"--for={path}",
                            "--format=json", *map(str, files)))
    broken = {path.name: set() for path in files}
    unreadable = set()
    for finding in report["findings"]:
        broken[pathlib.Path(finding["file"]).name].add(finding["rule"])
    for said in report["diagnostics"]:
        if said["severity"] == "error":
            unreadable.add(pathlib.Path(said["file"]).name)
    return broken, unreadable


def problems(anec, folder):
    chips, of_e5 = chips_of_rules(anec), rules_of_e5(anec)
    files = sorted(folder.glob("*.mil"))
    expected = {f"{rule}.{kind}.mil" for rule in chips for kind in ("bad", "good")}
    for name in sorted(expected ^ {path.name for path in files}):
        yield f"{name}: " + ("missing" if name in expected else "of no rule")
    if not chips:
        yield "there are no rules"
    for target in ["generic"] + ALL.split(", "):
        broken, unreadable = check(anec, target, files)
        by_e5, _ = check(anec, target, files, "e5") if of_e5 else ({}, None)
        for name, rules in by_e5.items():
            broken[name] |= rules & of_e5
        for rule in sorted(chips):
            bad, good = f"{rule}.bad.mil", f"{rule}.good.mil"
            breaks = rule in broken.get(bad, ())
            if breaks != (target in chips[rule]):
                yield f"{bad}: {'breaks' if breaks else 'keeps'} the rule on {target}"
            if rule in broken.get(good, ()):
                yield f"{good}: breaks the rule on {target}"
            if good in unreadable:
                yield f"{good}: cannot be read"
            if (bad in unreadable) != (rule in UNREADABLE):
                yield f"{bad}: {'cannot' if bad in unreadable else 'can'} be read"


def main(anec, folder):
    lines = list(dict.fromkeys(problems(anec, pathlib.Path(folder))))
    print("\n".join(lines + [f"{len(lines)} problems"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
