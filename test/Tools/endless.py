#!/usr/bin/env python3
"""endless.py PROGRAM: runs a program with a loop that never ends, and ends it with each
signal that asks for it."""
import signal
import subprocess
import sys
import time

for number in (signal.SIGINT, signal.SIGTERM):
    process = subprocess.Popen(
        ["ane-run", sys.argv[1], "--input", "x=zeros", "--output-dir", "out"],
        preexec_fn=lambda: [signal.signal(each, signal.SIG_DFL)
                            for each in (signal.SIGINT, signal.SIGTERM)])
    # It works on the loop then, or has not begun.
    time.sleep(1)
    if process.poll() is not None:
        sys.exit(f"error: it ends by itself with {process.returncode}")
    process.send_signal(number)
    try:
        status = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"error: {number!r} does not end it")
    if status != -number:
        sys.exit(f"error: exit status {status} after {number!r}")
