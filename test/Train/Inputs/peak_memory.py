"""Runs a command and writes the most memory that it had, in KB, to a file.

usage: peak_memory.py FILE COMMAND..."""
import os
import subprocess
import sys

process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
peak = usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1)
open(sys.argv[1], "w").write(str(peak))
sys.exit(os.waitstatus_to_exitcode(status))
