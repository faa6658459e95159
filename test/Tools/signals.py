#!/usr/bin/env python3
"""signals.py CASE PROGRAM: signals while anec and ane-run work. The current
folder must be empty. PROGRAM, examples/llama.tdsl, is compiled in it."""
import os
import pathlib
import signal
import subprocess
import sys
import time

SIZES = ["layers=2", "dim=64", "hidden=128", "heads=2", "kv_heads=2", "seq=64"]
COMPILE = ["anec", sys.argv[2], "--init=1", "--threads=1", "-o", "m.anepkg",
           *(f"--define={size}" for size in SIZES)]
# Weights that take a while to write.
SLOWLY = ["--define=vocab=20000"]

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT,
           signal.SIGUSR1]


def temporary():
    return [path for path in pathlib.Path().rglob("*") if ".tmp" in path.name]


def start(command, ignored=()):
    def set_signals():
        # lit ignores some.
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN if number in ignored
                          else signal.SIG_DFL)

    return subprocess.Popen(command, stdout=subprocess.DEVNULL,
                            preexec_fn=set_signals)


def wait_for(condition, process):
    end = time.monotonic() + 60
    while not condition():
        if process.poll() is not None:
            return False
        if time.monotonic() > end:
            process.kill()
            sys.exit("error: nothing happens")
    return True


def check(is_right, message):
    if not is_right:
        sys.exit(f"error: {message}; there is {os.listdir()}")


def signal_while_compiling(number, ignored=()):
    """The exit status after a signal while there is a temporary folder."""
    process = start(COMPILE + SLOWLY, ignored)
    check(wait_for(temporary, process), "the compiler was too fast")
    process.send_signal(number)
    status = process.wait()
    check(not temporary(), f"after {number!r}, a temporary folder is left")
    return status


def compiling():
    for number in SIGNALS:
        status = signal_while_compiling(number)
        check(status == -number, f"exit status {status} after {number!r}")
        check(not os.listdir(), f"something is left after {number!r}")


def ignored():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status = signal_while_compiling(number, [number])
        check(status == 0, f"exit status {status} with {number!r} ignored")
        subprocess.run(["ane-run", "info", "m.anepkg"], check=True,
                       stdout=subprocess.DEVNULL)


def training():
    subprocess.run([*COMPILE, "--define=vocab=256"], check=True)
    pathlib.Path("text").write_text("The quick brown fox. " * 500)

    def train(number, ignored=()):
        process = start(["ane-run", "train", "m.anepkg", "--data=text",
                         "--steps=60", "--checkpoint=run", "--threads=1",
                         "--save-every=1000", "--validation=0"], ignored)
        log = pathlib.Path("run/train.jsonl")
        wait_for(lambda: log.exists() and log.stat().st_size, process)
        process.send_signal(number)
        status = process.wait()
        steps = len(log.read_text().splitlines())
        check(status == 0, f"exit status {status} after {number!r}")
        check(pathlib.Path(f"run/step-{steps:08}").exists(),
              f"no checkpoint of step {steps}")
        check(not temporary(), "something is left")
        subprocess.run(["rm", "-r", "run"], check=True)
        return steps

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        check(train(number) < 60, f"{number!r} does not stop the run")
    check(train(signal.SIGHUP, [signal.SIGHUP]) == 60,
          "the run stops at an ignored signal")


def truncated():
    """A file that training maps becomes shorter."""
    subprocess.run([*COMPILE, "--define=vocab=256"], check=True)
    data = pathlib.Path("data.bin")
    data.write_bytes(bytes(value for _ in range(500_000) for value in (65, 0)))
    process = subprocess.Popen(
        ["ane-run", "train", "m.anepkg", "--data=data.bin", "--steps=1000000",
         "--checkpoint=run", "--validation=0"], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True)
    log = pathlib.Path("run/train.jsonl")
    wait_for(lambda: log.exists() and log.stat().st_size, process)
    os.truncate(data, 1000)
    error = process.communicate()[1]
    check(process.returncode == 1, f"exit status {process.returncode}")
    check(error == "data.bin: error: cannot open the file: it became shorter "
          "while it was read [cannot-open]\n", error)
    check(not temporary(), "something is left")


{"compiling": compiling, "ignored": ignored, "training": training,
 "truncated": truncated}[sys.argv[1]]()
