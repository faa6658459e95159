#!/usr/bin/env python3
"""Memory of processes, as a script (`memory.py BYTES COMMAND...`: runs a command that
may have so much) and as a module.

Linux refuses a process more address space than a limit. macOS cannot: there a command
that has had more memory than the limit fails when it ends."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ending import end_as


def peak(usage):
    """The most memory that the processes of `usage` (getrusage, wait4) had, in bytes."""
    # Linux and the BSDs count in KB.
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def limits_addresses():
    """Whether the system refuses a process more than a limit."""
    return sys.platform != "darwin"


def is_sanitized():
    """Whether programs have a sanitizer, which reserves more addresses than any limit."""
    return "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ


def within(limit, command):
    """A command that runs `command` with so many bytes of memory."""
    command = [str(word) for word in command]
    if is_sanitized():
        return command
    if limits_addresses():  # starts faster than an interpreter
        return ["sh", "-c", f'ulimit -v {int(limit) >> 10} && exec "$@"', "sh", *command]
    return [sys.executable, os.path.abspath(__file__), str(limit), *command]


def main(limit, *command):
    if is_sanitized():
        os.execvp(command[0], command)
    if limits_addresses():
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
        os.execvp(command[0], command)
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if peak(usage) > int(limit):
        print(f"memory.py: {peak(usage) >> 20} MB of memory", file=sys.stderr)
        sys.exit(125)
    end_as(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
