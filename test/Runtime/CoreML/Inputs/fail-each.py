#!/usr/bin/env python3
"""Runs a command with a failure injected into each call of the double in turn: it must
fail with an error, or give the same output as without one.

  fail-each.py LEAST COMMAND...

The command must survive at least LEAST calls before it runs undisturbed."""
import os
import subprocess
import sys


def run(command, failure):
    environment = dict(os.environ, **({"ANE_DOUBLE_FAIL": failure} if failure else {}))
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def main(least, *command):
    whole = run(command, None)
    assert whole.returncode == 0, whole.stderr
    for how in ("something else", "raise", "throw"):
        for number in range(1, 200):
            result = run(command, f"{number}:{how}")
            said = "error: " in result.stderr
            if result.returncode not in (0, 3) or (result.returncode == 0) == said:
                sys.exit(f"call {number}, {how}: exit code {result.returncode}\n{result.stderr}")
            if result.returncode == 0 and result.stdout == whole.stdout:
                break
        else:
            sys.exit("every call fails")
        if number <= int(least):
            sys.exit(f"only {number} calls fail")


main(*sys.argv[1:])
