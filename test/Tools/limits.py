#!/usr/bin/env python3
"""limits.py FIRST LAST [STEP SECONDS] -- COMMAND...: runs a command with limits of its
address space, FIRST to LAST MB in steps of STEP (20). It has to do its work, or to end with
exit code 3 and a message, in SECONDS (60); once it has enough memory, it does the work with
any more."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Shell"))
from memory import within  # noqa: E402


# A machine of tests can be slow; a hang never ends.
def main(first, last, command, step=20, seconds=60):
    works = False
    for megabytes in range(int(first), int(last) + 1, int(step)):
        done = subprocess.run(within(megabytes * 1000 * 1000, command),
                              capture_output=True, text=True, timeout=int(seconds))
        loader = done.returncode == 127 and "shared libraries" in done.stderr
        says = done.returncode == 3 and "out of memory" in done.stderr
        if done.returncode and not (not works and (loader or says)):
            sys.exit(f"with {megabytes} MB: exit code {done.returncode}\n{done.stderr}")
        works = works or done.returncode == 0
    if not works:
        sys.exit(f"it needs more than {last} MB")


if __name__ == "__main__":
    separator = sys.argv.index("--")
    first, last, *steps = sys.argv[1:separator]
    main(first, last, sys.argv[separator + 1:], *steps)
