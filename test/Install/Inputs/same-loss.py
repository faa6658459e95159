"""Checks that a line `loss X` has the number that ane-run reports, which prints
five digits.

usage: same-loss.py FILE REPORT"""
import re
import sys

printed = float(open(sys.argv[1]).read().split()[1])
reported = re.search(r"output: fp32  min (\S+)", open(sys.argv[2]).read())
assert f"{printed:.5g}" == reported[1], (printed, reported[1])
