"""Runs a command with a terminal for its output, and tells about its lines.
The terminal has as many columns as TERMINAL_COLUMNS says, 0 without it."""
import os
import pty
import sys

written = b""


def read(descriptor):
    global written
    piece = os.read(descriptor, 65536)
    written += piece
    return piece


# The width is set before the command begins, in the process that becomes it.
columns = int(os.environ.get("TERMINAL_COLUMNS", 0))
run = "import fcntl, os, struct, sys, termios\n" \
      "size = struct.pack('4H', 24, %d, 0, 0)\n" \
      "fcntl.ioctl(1, termios.TIOCSWINSZ, size)\n" \
      "os.execvp(sys.argv[1], sys.argv[1:])" % columns
status = pty.spawn([sys.executable, "-c", run] + sys.argv[1:], read)
lines = written.decode().replace("\r\n", "\n").split("\n")
progress = next(line for line in lines if line.startswith("\rstep "))
shown = progress.split("\r")[1:]
print("rewritten:", len(shown) > 2)
print("longest:", max(map(len, shown)))
print("ETA in all:", all("ETA" in line for line in shown))
print("last lines:", len(lines) - 1 - lines.index(progress))
assert status == 0, status
