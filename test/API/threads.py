#!/usr/bin/env python3
"""threads.py: threads of Python that share a session, which take turns, and Ctrl-C while
they compute."""
import os
import signal
import sys
import threading
import time

import anec
import numpy

KERNEL = """kernel k(x: fp16[256, 64]) -> fp16[256, 64] {
  weight w: fp16[256, 256];
  a = w @ x;
  b = w @ a;
  c = w @ b;
  return w @ c;
}
"""
session = anec.Session(anec.compile_text(KERNEL, seed=7))
inputs = [{"x": numpy.random.default_rng(seed).random((256, 64)).astype(numpy.float16)}
          for seed in range(4)]


def run(index):
    return next(iter(session.run(inputs[index]).values()))


def test_turns():
    right = [run(index) for index in range(4)]
    wrong = []

    def work(index):
        for _ in range(50):
            if not numpy.array_equal(run(index), right[index]):
                wrong.append(index)
            session.inputs()

    threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(4)]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 60
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    assert not wrong, wrong
    print("turns")


def test_interrupt():
    """The main thread runs and waits for its turn, in turn with another."""
    stop, before = threading.Event(), run(0)

    def work():
        while not stop.is_set():
            run(1)

    other = threading.Thread(target=work, daemon=True)
    other.start()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        while True:
            run(0)
    except KeyboardInterrupt:
        print("KeyboardInterrupt")
    stop.set()
    other.join(60)
    assert not other.is_alive()
    assert numpy.array_equal(run(0), before)


def test_interrupt_run():
    """One long run."""
    lines = [f"  a{i} = w @ a{i - 1};" for i in range(1, 4000)]
    long = anec.Session(anec.compile_text("\n".join([
        "kernel k(a0: fp16[512, 512]) -> fp16[512, 512] {", "  weight w: fp16[512, 512];",
        *lines, "  return a3999;", "}"]), seed=7))
    given = {"a0": numpy.ones((512, 512), numpy.float16)}
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, long.interrupt).start()
    errors = []

    def work():
        try:
            long.run(given)
        except anec.Error as error:
            errors.append(error)

    other = threading.Thread(target=work, daemon=True)
    other.start()
    other.join(60)
    print(errors[0] if errors else "no error")
    threading.Timer(0.5, interrupt).start()
    try:
        long.run(given)
        raise SystemExit("the run was not interrupted")
    except KeyboardInterrupt:
        assert time.monotonic() - sent[0] < 5, time.monotonic() - sent[0]
        print("interrupted run")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    run(0)


# In the background, as the tests run, Python may ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
test_turns()
test_interrupt()
test_interrupt_run()
sys.stdout.flush()
