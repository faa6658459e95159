#!/usr/bin/env python3
"""limits.py FIRST LAST [STEP SECONDS] -- COMMAND...: runs a command with limits of its
address space, FIRST to LAST MB in steps of STEP (20). It has to do its work, or to end with
exit code 3 and a message, in SECONDS (60); once it has enough memory, it does the work with
any more. Prints the smallest limit at which the loader starts it, the smallest at which it
works, and the longest time."""
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Shell"))
from memory import within  # noqa: E402


def is_loader(done):
    """Whether there was not enough for the program's libraries."""
    return done.returncode == 127 and "shared libraries" in done.stderr


# A machine of tests can be slow; a hang never ends.
def main(first, last, command, step=20, seconds=60):
    starts = works = None
    longest = 0
    for megabytes in range(int(first), int(last) + 1, int(step)):
        begin = time.monotonic()
        done = subprocess.run(within(megabytes * 1000 * 1000, command),
                              capture_output=True, text=True, timeout=int(seconds))
        longest = max(longest, time.monotonic() - begin)
        says = done.returncode == 3 and "out of memory" in done.stderr
        may_fail = says or (starts is None and is_loader(done))
        if done.returncode and (works or not may_fail):
            sys.exit(f"with {megabytes} MB: exit code {done.returncode}\n{done.stderr}")
        starts = starts or (None if is_loader(done) else megabytes)
        works = works or (None if done.returncode else megabytes)
    if not works:
        sys.exit(f"it needs more than {last} MB")
    print(f"starts with {starts} MB, works with {works} MB, at most {longest:.2f} s")


if __name__ == "__main__":
    separator = sys.argv.index("--")
    first, last, *steps = sys.argv[1:separator]
    main(first, last, sys.argv[separator + 1:], *steps)
