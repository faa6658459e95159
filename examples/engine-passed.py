#!/usr/bin/env python3
"""engine-passed.py FILE.json: exits with 0 when `ane-run doctor --run -o FILE.json` found
that this machine's engine computes all of its programs right, by the default path."""
import json
import sys

try:
    with open(sys.argv[1]) as file:
        report = json.load(file)
except (OSError, ValueError) as error:
    sys.exit(f"no report of an engine: {error}")
if report.get("backend") != "ane" or report.get("framework") != "system":
    sys.exit("the report is not of an engine")
if report.get("running"):
    sys.exit(f"`{report['running']}` did not end; `--resume` continues the report")
tried = {trial.get("trial"): trial.get("verdict") for trial in report.get("trials", [])
         if trial.get("path") == "in-memory" and trial.get("verdict") != "not-tried"}
wrong = [name for name, verdict in tried.items() if verdict != "right"]
if wrong:
    sys.exit("not right on this engine: " + ", ".join(wrong))
if "training-step" not in tried:
    sys.exit("the report has no step of training")
