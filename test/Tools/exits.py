#!/usr/bin/env python3
"""exits.py CODE COMMAND...: runs a command, and fails unless it exits so."""
import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exit code {code} instead of {sys.argv[1]}")
