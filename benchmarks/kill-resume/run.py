#!/usr/bin/env python3
"""Kills a training run at random moments, resumes it each time, and compares
what it logged in the end with a run that nothing disturbed: every loss has to be
the same, bit for bit, and every step there once. See ../README.md.

The moments are spread over the whole of a process's life, its start and its
checkpoints included; with --signal=term it is asked to end instead."""
import argparse
import json
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = ["layers=2", "dim=32", "hidden=64", "heads=2", "kv_heads=2", "seq=32",
         "vocab=256"]


def losses(folder):
    rows = [json.loads(line)
            for line in (folder / "train.jsonl").read_text().splitlines()]
    return [(row["step"], row["loss"], row.get("val_loss")) for row in rows]


class Run:
    """A run in a folder, begun or gone on with."""

    def __init__(self, options, package, folder):
        self.folder = folder
        self.command = [
            str(options.ane_run), "train", str(package), f"--data={options.data}",
            f"--steps={options.steps}", f"--checkpoint={folder}",
            f"--save-every={options.save_every}",
            f"--validate-every={options.save_every}", "--validation-windows=2",
            "--keep=2", "--seed=3", f"--threads={options.threads}"]

    def start(self):
        # A process killed before it had a folder leaves nothing to resume.
        begun = (self.folder / "train.jsonl").exists()
        return subprocess.Popen(
            self.command + (["--resume"] if begun else []),
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def finish(self):
        process = self.start()
        error = process.communicate()[1]
        if process.returncode:
            sys.exit(f"error: a run ended with {process.returncode}:\n{error}")


def disturb(run, options, life, random):
    """Kills until it has been done as often as wanted; how often a run had
    come to its end before, and so began anew."""
    kills = ends = 0
    while kills < options.kills:
        process = run.start()
        try:
            error = process.communicate(timeout=random.uniform(0, life))[1]
        except subprocess.TimeoutExpired:
            process.send_signal(options.signal)
            error = process.communicate()[1]
            kills += 1
        if process.returncode not in (0, -options.signal):
            sys.exit(f"error: after {kills} kills, the run ended with "
                     f"{process.returncode}:\n{error}")
        if process.returncode == 0 and run.folder.joinpath(
                f"step-{options.steps:08}").exists():
            yield kills
            shutil.rmtree(run.folder)
            ends += 1
    yield kills


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--life", type=float,
                        help="longest time in seconds before a kill (default: "
                             "a tenth of what all steps take)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--signal", choices=["kill", "term"], default="kill")
    options = parser.parse_args()
    options.signal = {"kill": signal.SIGKILL, "term": signal.SIGTERM}[
        options.signal]
    options.ane_run = options.build.resolve() / "bin" / "ane-run"
    work = pathlib.Path(tempfile.mkdtemp())
    try:
        package = work / "model.anepkg"
        defines = [word for size in SIZES for word in ("--define", size)]
        subprocess.run([options.build / "bin" / "anec",
                        ROOT / "examples" / "llama.tdsl", *defines, "-o",
                        package], check=True)
        quiet = Run(options, package, work / "quiet")
        start = time.perf_counter()
        quiet.finish()
        whole = time.perf_counter() - start
        expected = losses(quiet.folder)
        disturbed = Run(options, package, work / "disturbed")
        life = options.life or whole / 10
        checked = 0
        numbers = random.Random(options.seed)
        for kills in disturb(disturbed, options, life, numbers):
            disturbed.finish()
            if losses(disturbed.folder) != expected:
                sys.exit(f"error: after {kills} kills the losses differ")
            checked += 1
        print(f"{kills} kills within {life * 1e3:.0f} ms each, {checked} runs "
              f"of {options.steps} steps: all {len(expected)} losses the same "
              f"({whole:.1f} s undisturbed, measured)")
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
