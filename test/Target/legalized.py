#!/usr/bin/env python3
"""Checks that `legalize` mends what it says it does: the program that breaks a
rule with a rewrite, legalized, keeps the rule, and computes the same.

usage: legalized.py ANEC FOLDER OUTPUT_FOLDER"""
import json
import pathlib
import re
import subprocess
import sys

# Rewrites that are passes of their own, or done when files are written.
OTHER_PASSES = {"assign-layout", "form-kernels", "isolate-results",
                "matmul-to-conv", "separate-files"}


def run(*arguments):
    return subprocess.run(arguments, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def rewritten_rules(anec):
    """The rules that legalize rewrites for, each with a chip it is for."""
    page = run(anec, "debug", "--dump-docs=rules").stdout
    for rule, body in re.findall(r"^### (\S+)$(.*?)(?=^##|\Z)", page,
                                 re.M | re.S):
        rewrite = re.search(r"^- rewrite: `([^`]*)`", body, re.M)
        if not rewrite or rewrite[1] in OTHER_PASSES:
            continue
        chips = re.search(r"^- chips: (.*)$", body, re.M)[1]
        yield rule, "m4" if chips == "all" else chips.split(", ")[0]


def mend(anec, rule, target, folder, output):
    fixed = output / f"{rule}.mil"
    # Also rules that legalize leaves alone because they are doubtful.
    done = run(anec, str(folder / f"{rule}.bad.mil"), "--passes=legalize,dce",
               f"--target={target}", f"--assume={rule}=deny",
               "--verify-numerics", "--emit=mil")
    if done.returncode:
        return f"{rule}: {done.stderr}"
    fixed.write_text(done.stdout)
    report = json.loads(run(anec, "check", str(fixed), f"--target={target}",
                            "--format=json").stdout)
    left = {finding["rule"] for finding in report["findings"]}
    if rule in left:
        return f"{rule}: still broken on {target}"
    unread = [said["message"] for said in report["diagnostics"]
              if said["severity"] == "error"]
    return f"{rule}: {unread[0]}" if unread else None


def main(anec, folder, output):
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    rules = list(rewritten_rules(anec))
    problems = [mend(anec, rule, target, pathlib.Path(folder), output)
                for rule, target in rules]
    problems = [problem for problem in problems if problem]
    print("\n".join(problems + [f"{len(rules)} rules, {len(problems)} problems"]))
    return 1 if problems or not rules else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
