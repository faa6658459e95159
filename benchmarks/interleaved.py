"""Measures contenders in turn, so that a disturbance of the machine hits all.

A shared machine changes speed by tens of percent from one minute to the next,
so numbers of different runs say nothing about each other. Here every round
runs a short batch of each contender, in an order that rotates; a round in which
other processes took more than a little of the processors is done again.
"""

import json
import os
import statistics
import subprocess
import sys
import time

TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count()


def busy_seconds():
    """Processor time spent by anyone since the machine started."""
    with open("/proc/stat") as stat:
        user, nice, system, _, _, irq, softirq = map(
            int, stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / TICKS


def process_seconds(pid):
    """Processor time spent by one process and the children it waited for."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


class Worker:
    """A process that stays: it prints `ready`, then answers every line `N` on
    its standard input with a JSON list of N times in milliseconds."""

    def __init__(self, name, command, env=None, cwd=None):
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(env or {})}, cwd=cwd)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"error: {name} did not start: "
                     f"{' '.join(map(str, command))}")

    def batch(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"error: {self.name} ended early")
        return json.loads(answer)

    def seconds(self):
        return process_seconds(self.process.pid)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class Command:
    """A command timed as a whole, from start to exit: the time that passes, or
    with `processor` the time it spends on the processor, which is the steadier
    measure of a single thread that waits for nothing."""

    def __init__(self, name, command, processor=False, before=None):
        self.name = name
        self.command = list(map(str, command))
        self.processor = processor
        self.before = before
        self.peak_kilobytes = 0
        self.used = 0

    def batch(self, count):
        return [self.once() for _ in range(count)]

    def once(self):
        if self.before:
            self.before()
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = (time.perf_counter() - start) * 1e3
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"error: {self.name} failed: {' '.join(self.command)}")
        self.peak_kilobytes = max(self.peak_kilobytes, usage.ru_maxrss)
        used = usage.ru_utime + usage.ru_stime
        self.used += used
        return used * 1e3 if self.processor else elapsed

    def seconds(self):
        return self.used


class Result:
    def __init__(self, name):
        self.name = name
        self.times = []  # all runs
        self.rounds = []  # the median of each round

    def median(self):
        return statistics.median(self.times)

    def minimum(self):
        return min(self.times)


def own_seconds(contenders):
    """What this process and its contenders used so far."""
    return time.process_time() + sum(c.seconds() for c in contenders)


def wait_until_idle(limit, patience=20):
    for _ in range(patience):
        start = busy_seconds()
        time.sleep(0.25)
        if (busy_seconds() - start) / (0.25 * CORES) < limit:
            return


def measure(contenders, rounds, batch, foreign_limit, retries=3, pause=0.03):
    """Runs `rounds` rounds of `batch` runs each; returns the results in the
    contenders' order and the share of the processors that others took."""
    results = {c.name: Result(c.name) for c in contenders}
    shares = []
    for number in range(rounds):
        for attempt in range(retries + 1):
            wait_until_idle(foreign_limit)
            shift = number % len(contenders)
            times = {}
            start = time.perf_counter()
            busy, own = busy_seconds(), own_seconds(contenders)
            for contender in contenders[shift:] + contenders[:shift]:
                times[contender.name] = contender.batch(batch)
                # Let the other threads of the last one stop spinning.
                time.sleep(pause)
            elapsed = time.perf_counter() - start
            foreign = (busy_seconds() - busy) - (own_seconds(contenders) - own)
            share = max(0.0, foreign) / (elapsed * CORES)
            if share <= foreign_limit or attempt == retries:
                break
        shares.append(share)
        for name, values in times.items():
            results[name].times += values
            results[name].rounds.append(statistics.median(values))
    return [results[c.name] for c in contenders], statistics.median(shares)


def table(results, unit="ms"):
    width = max(len(result.name) for result in results)
    lines = [f"{'':{width}}  {'median':>9}  {'min':>9}   ({unit})"]
    for result in results:
        lines.append(f"{result.name:{width}}  {result.median():9.2f}  "
                     f"{result.minimum():9.2f}")
    return "\n".join(lines)


def ratio_of_rounds(ours, peer):
    """The median over rounds of ours / peer: insensitive to slow drift."""
    return statistics.median(
        o / p for o, p in zip(ours.rounds, peer.rounds))
