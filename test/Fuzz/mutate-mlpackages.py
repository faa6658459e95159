#!/usr/bin/env python3
"""Damages Core ML packages and runs them: each run must end with exit code 0 or 1, in
10 seconds and 1 GB of memory, and an error must name a file.

  mutate-mlpackages.py ANE_RUN MODELS [--count=1000] [--seed=1] [--work=DIR]

MODELS holds folders with a model.mlpackage each. Prints the failing packages, which
stay in the folder --work, and returns 1 when there are any."""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Shell"))
import memory
from damage import damage
from outcomes import Outcomes

FILES = ["Manifest.json", "Data/com.apple.CoreML/model.mlmodel",
         "Data/com.apple.CoreML/weights/weight.bin"]
WORDS = [b"\0", b"\xff" * 4, b"\x7f", b"\x80\x80\x80\x80\x08", b"main", b"CoreML8", b"../",
         b"\x12\0", b"const", b"while_loop", b"cond", b"make_list", b"\xef\xbe\xad\xde"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work or pathlib.Path(tempfile.mkdtemp())
    packages = sorted(arguments.models.glob("*/model.mlpackage"))
    outcomes = Outcomes(arguments.seed)
    for number in range(arguments.count):
        choose = random.Random(f"{arguments.seed}.{number}")
        target = work / f"{number}.mlpackage"
        shutil.copytree(choose.choice(packages), target)
        name = choose.choices(FILES, [1, 8, 2])[0]
        if not (target / name).exists():
            name = FILES[1]
        (target / name).write_bytes(damage((target / name).read_bytes(), WORDS,
                                           choose))
        command = [arguments.ane_run, "bench", target, "--iterations=1", "--warmup=0",
                   "--threads=1"]
        result, why, text = None, "", ""
        try:
            result = subprocess.run(memory.within(1 << 30, command),
                                    capture_output=True, timeout=10)
            text = result.stderr.decode(errors="replace")
            if result.returncode not in (0, 1):
                why = f"exit code {result.returncode}"
            elif "[bug" in text or (result.returncode == 1 and "error: " not in text):
                why = "no error of the package"
        except subprocess.TimeoutExpired:
            why = "more than 10 seconds"
        outcomes.add(number, command, result, why, text)
        if not why:
            shutil.rmtree(target)
    if not outcomes.failed and not arguments.work:
        shutil.rmtree(work)
    outcomes.exit()


if __name__ == "__main__":
    main()
