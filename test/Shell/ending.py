"""Ends this process as another ended."""
import os
import signal
import sys


def end_as(code):
    """`code` is subprocess's: an exit code, or the negative of a signal."""
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
