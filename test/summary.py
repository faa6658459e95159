#!/usr/bin/env python3
"""Prints the results in files of lit's form as one line, `N passed, N failed[, N
skipped]`, and fails when a test did, when a file is missing, or when none ran.

  summary.py RESULTS..."""
import json
import sys

tests = [test for file in sys.argv[1:] for test in json.load(open(file))["tests"]]
codes = [test["code"] for test in tests]
passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "EXCLUDED", "SKIPPED") for code in codes)
failed = len(codes) - passed - skipped
for test in tests:
    if test["code"] not in ("PASS", "XFAIL", "FLAKYPASS", "UNSUPPORTED",
                            "EXCLUDED", "SKIPPED"):
        print(f"{test['code']}: {test['name']}")
print(f"{passed} passed, {failed} failed"
      + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
