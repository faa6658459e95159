#!/usr/bin/env python3
"""interrupt.py REPORT.json RULE COMMAND...: runs a command, interrupts it when
the report says that RULE is being tried, and prints how it ended and whether it
left processes behind."""
import os
import pathlib
import signal
import subprocess
import sys
import time

report, rule, *command = sys.argv[1:]
# The signal can be ignored here, as in a background job of a shell, and a tool
# leaves it so.
process = subprocess.Popen(
    command, stdout=subprocess.PIPE, text=True,
    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def children(parent):
    listed = subprocess.run(["pgrep", "-P", str(parent)], text=True,
                            stdout=subprocess.PIPE).stdout
    return [int(word) for word in listed.split()]


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


deadline = time.time() + 60
path = pathlib.Path(report)
while time.time() < deadline:
    if path.exists() and f'"running": "{rule}"' in path.read_text():
        break
    time.sleep(0.05)
started = []
while time.time() < deadline and not started:
    started = children(process.pid)
    time.sleep(0.05)
process.send_signal(signal.SIGINT)
print(process.communicate(timeout=60)[0], end="")
left = [pid for pid in started if is_running(pid)]
print(f"exit code {process.returncode},", f"{left} are left" if left or not started
      else "no process is left")
