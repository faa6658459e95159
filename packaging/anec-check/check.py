#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The step `check` of action.yml: runs `anec check` with the inputs of the action, writes
its SARIF log, and adds a table of findings to the summary of the job.

usage: check.py FILE.sarif

Reads ANEC_FILES, ANEC_TARGET, ANEC_FOR, ANEC_FAIL_ON and ANEC_BASELINE. Writes to the files
that GITHUB_STEP_SUMMARY and GITHUB_OUTPUT name, or prints: `code` is what `anec check` ended
with, so that a later step can fail after the log is uploaded. Ends with an error itself
where the command line is wrong or the system fails."""
import json
import os
import pathlib
import shlex
import subprocess
import sys

SEVERITY = {"error": "error", "warning": "warning", "note": "remark"}


def command():
    """`anec check` with the inputs that are not empty."""
    words = ["anec", "check", *shlex.split(os.environ["ANEC_FILES"]), "--format=sarif"]
    for flag in ("target", "for", "fail-on", "baseline"):
        value = os.environ.get("ANEC_" + flag.upper().replace("-", "_"))
        if value:
            words.append(f"--{flag}={value}")
    return words


def cell(text):
    """A text in a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def place(result):
    """FILE:LINE of a result; its message says how many there are besides. Empty where it has
    no place, as a result about all files has none."""
    if "locations" not in result:
        return ""
    where = result["locations"][0]["physicalLocation"]
    line = where.get("region", {}).get("startLine")
    text = where["artifactLocation"]["uri"] + (f":{line}" if line else "")
    return f"`{text}`"


def summary(results, rules, known):
    """Markdown."""
    advice = {rule["id"]: rule.get("help", {}).get("text", "") for rule in rules}
    yield "### anec check\n"
    if results:
        yield "| severity | rule | finding | place | instead |"
        yield "|---|---|---|---|---|"
    order = list(SEVERITY)
    for result in sorted(results, key=lambda result: order.index(result["level"])):
        yield "| " + " | ".join([
            SEVERITY[result["level"]], f"`{result['ruleId']}`",
            cell(result["message"]["text"]), place(result),
            cell(advice.get(result["ruleId"], ""))]) + " |"
    yield f"\nnew findings: {len(results)}, known ones: {known}\n"


def append(variable, text):
    name = os.environ.get(variable)
    if name:
        with open(name, "a", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text, end="")


def main():
    log = pathlib.Path(sys.argv[1])
    run = subprocess.run(command(), stdout=subprocess.PIPE)
    if run.returncode not in (0, 1):
        return run.returncode
    # A program that cannot be read is an error without a log.
    if not run.stdout.strip():
        append("GITHUB_OUTPUT", f"code={run.returncode}\nsarif=\nfindings=\n")
        return 0
    log.write_bytes(run.stdout)
    found = json.loads(run.stdout)["runs"][0]
    new = [result for result in found["results"]
           if result.get("baselineState") != "unchanged"]
    append("GITHUB_STEP_SUMMARY", "\n".join(summary(
        new, found["tool"]["driver"]["rules"], len(found["results"]) - len(new))))
    append("GITHUB_OUTPUT",
           f"code={run.returncode}\nsarif={log}\nfindings={len(new)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
