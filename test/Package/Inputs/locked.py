"""Runs a command while a file or a folder is locked, as by its writer.

  locked.py PATH COMMAND..."""
import fcntl
import os
import subprocess
import sys

descriptor = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(descriptor, fcntl.LOCK_EX)
sys.exit(subprocess.run(sys.argv[2:]).returncode)
