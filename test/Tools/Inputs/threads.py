"""Runs a command and counts its threads: `threads.py N COMMAND...` fails when
the most that there are at a time are not N."""
import os
import subprocess
import sys

wanted = int(sys.argv[1])
process = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
most = 0
while process.poll() is None:
    try:
        most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
    except OSError:
        pass  # it ended meanwhile
if process.returncode:
    sys.exit(process.returncode)
if most != wanted:
    sys.exit(f"{most} threads instead of {wanted}")
