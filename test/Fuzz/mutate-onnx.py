#!/usr/bin/env python3
"""Damages ONNX models and reads them: each run must end with exit code 0 or 1, in 10
seconds and 1 GB of memory, and an error must name a file.

  mutate-onnx.py ANEC MODELS [--count=1000] [--seed=1] [--work=DIR]

MODELS has .onnx files, at any depth. Prints the failing models, which stay in the folder
--work, and returns 1 when there are any."""
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

WORDS = [b"\0", b"\xff" * 4, b"\x7f", b"\x80\x80\x80\x80\x08", b"main", b"../", b"If",
         b"Loop", b"Reshape", b"\x08\x01", b"\x12\0", b"\xff" * 9 + b"\x01", b"x", b"y"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    models = sorted(arguments.models.rglob("*.onnx"))
    outcomes = Outcomes(arguments.seed)
    for number in range(arguments.count):
        choose = random.Random(f"{arguments.seed}.{number}")
        target = work / f"{number}.onnx"
        target.write_bytes(damage(choose.choice(models).read_bytes(), WORDS, choose))
        command = [arguments.anec, target, "-o", "/dev/null"]
        result, why, text = None, "", ""
        try:
            result = subprocess.run(memory.within(1 << 30, command),
                                    capture_output=True, timeout=10)
            text = result.stderr.decode(errors="replace")
            if result.returncode not in (0, 1):
                why = f"exit code {result.returncode}"
            elif "[bug" in text or (result.returncode == 1 and "error: " not in text):
                why = "no error of the model"
        except subprocess.TimeoutExpired:
            why = "more than 10 seconds"
        outcomes.add(number, command, result, why, text)
        if not why:
            target.unlink()
    if not outcomes.failed and not arguments.work:
        shutil.rmtree(work)
    outcomes.exit()


if __name__ == "__main__":
    main()
