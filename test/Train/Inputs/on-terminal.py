"""Runs a command with a terminal for its output, and tells about its lines."""
import os
import pty
import sys

written = b""


def read(descriptor):
    global written
    piece = os.read(descriptor, 65536)
    written += piece
    return piece


status = pty.spawn(sys.argv[1:], read)
lines = written.decode().replace("\r\n", "\n").split("\n")
progress = next(line for line in lines if line.startswith("\rstep "))
shown = progress.split("\r")[1:]
print("rewritten:", len(shown) > 2)
print("longest:", max(map(len, shown)))
print("last lines:", len(lines) - 1 - lines.index(progress))
assert status == 0, status
