#!/usr/bin/env python3
"""within.py SECONDS COMMAND...: runs a command, and ends it and what it started
when it takes longer; the exit code is then 124."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from ending import end_as

process = subprocess.Popen(sys.argv[2:], start_new_session=True)
# An interrupt reaches this process alone, since the command has its own group.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.killpg(process.pid, number))
try:
    code = process.wait(timeout=float(sys.argv[1]))
except subprocess.TimeoutExpired:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    print(f"{sys.argv[2]}: more than {sys.argv[1]} seconds", file=sys.stderr)
    sys.exit(124)
end_as(code)
