# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python as a Mac has it, where this folder is on PYTHONPATH: `resource` limits no
address space, has no prlimit, and counts memory in bytes; `os` lacks what Linux's kernel
alone has; there is no /proc; and `sys.platform` says so."""
import os
import resource
import select
import sys

sys.platform = "darwin"

set_limit = resource.setrlimit


def setrlimit(which, limits):
    if which == resource.RLIMIT_AS and limits[0] not in (resource.RLIM_INFINITY, -1):
        raise ValueError("current limit exceeds maximum limit")
    return set_limit(which, limits)


class Usage:
    def __init__(self, usage):
        self.usage = usage

    @property
    def ru_maxrss(self):
        return self.usage.ru_maxrss * 1024

    def __getattr__(self, name):
        return getattr(self.usage, name)


def with_usage(call):
    def wait(*arguments):
        process, status, usage = call(*arguments)
        return process, status, Usage(usage)
    return wait


resource.setrlimit = setrlimit
get_usage = resource.getrusage
resource.getrusage = lambda who: Usage(get_usage(who))
os.wait3, os.wait4 = with_usage(os.wait3), with_usage(os.wait4)
LINUX = {
    os: ["memfd_create", "O_DIRECT", "O_PATH", "O_TMPFILE", "pidfd_open", "pipe2",
         "posix_fadvise", "posix_fallocate", "sched_getaffinity", "sched_setaffinity",
         "setresuid", "setresgid", "splice", "waitid"],
    resource: ["prlimit", "RLIMIT_OFILE"],
    select: ["epoll"],
}
for module, names in LINUX.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def hide(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and str(arguments[0]).startswith(
            ("/proc/", "/sys/", "/dev/shm/", "/dev/full")):
        raise FileNotFoundError(2, "No such file or directory", str(arguments[0]))


sys.addaudithook(hide)
