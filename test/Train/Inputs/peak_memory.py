"""Runs a command and writes the most memory that it had, in KB, to a file.

usage: peak_memory.py FILE COMMAND..."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Shell"))
import memory

process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
open(sys.argv[1], "w").write(str(memory.peak(usage) >> 10))
sys.exit(os.waitstatus_to_exitcode(status))
