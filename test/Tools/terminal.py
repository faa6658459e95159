#!/usr/bin/env python3
"""terminal.py COMMAND...: runs it on a terminal with colours, and prints what it wrote."""
import os
import pty
import sys

process, terminal = pty.fork()
if process == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        chunk = os.read(terminal, 1 << 16)
    except OSError:  # Linux's answer when the other end is closed.
        break
    if not chunk:
        break
    text += chunk
os.waitpid(process, 0)
sys.stdout.write(text.decode().replace("\r\n", "\n"))
