#!/usr/bin/env python3
"""concurrent.py PROGRAM [TIMES]: four compilers write one package again and
again, with two sets of weights, while others read it. Every compiler and every
reader must succeed, and a reader sees one of the two sets."""
import os
import subprocess
import sys
import threading

PROGRAM = sys.argv[1]
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 5
errors = []


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        errors.append(f"{' '.join(command)}: {result.returncode}\n"
                      f"{result.stdout}{result.stderr}")
    return result.stdout


def compile_to(package, init):
    run("anec", PROGRAM, f"--init={init}", "--weight-mode=baked", "-o", package)


def outputs(package):
    text = run("ane-run", package, "--input=images=ones", "--input=labels=zeros")
    return [line for line in text.splitlines() if "mean" in line]


def write(init):
    for _ in range(TIMES):
        compile_to("m.anepkg", init)


def read(expected):
    while any(writer.is_alive() for writer in writers):
        found = outputs("m.anepkg")
        if found not in expected:
            errors.append(f"a reader finds {found}, not one of {expected}")
        run("ane-run", "info", "m.anepkg")


compile_to("one.anepkg", 1)
compile_to("m.anepkg", 2)
expected = [outputs("one.anepkg"), outputs("m.anepkg")]
assert expected[0] != expected[1] and all(expected), expected
writers = [threading.Thread(target=write, args=[1 + number % 2])
           for number in range(4)]
readers = [threading.Thread(target=read, args=[expected]) for _ in range(2)]
for thread in writers + readers:
    thread.start()
for thread in writers + readers:
    thread.join()
left = sorted(os.listdir())
if left != ["m.anepkg", "one.anepkg"]:
    errors.append(f"there is {left}")
for error in errors[:3]:
    print(error, file=sys.stderr)
sys.exit(1 if errors else 0)
