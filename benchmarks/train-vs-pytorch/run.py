#!/usr/bin/python3
"""Trains one small Llama twice, with `ane-run train` and in PyTorch fp32: same
weights to begin with, same windows in the same order, same optimizer. Prints the
validation losses after the last step, and fails when they differ by more than
--limit. See ../README.md."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

FORTUNES = pathlib.Path("/usr/share/games/fortunes")
SIZES = dict(layers=4, dim=128, hidden=344, heads=4, kv_heads=2, seq=64, vocab=256)
FLAGS = {"batch": 4, "lr": 2e-3, "min-lr": 2e-4, "warmup": 50, "decay-steps": 500,
         "weight-decay": 0.1, "clip": 1, "seed": 3, "validation-windows": 64}


def text(folder, size):
    """English prose and verse of Debian's package `fortunes`, `size` bytes."""
    names = ["literature", "wisdom", "songs-poems", "people", "science", "startrek",
             "politics", "humorists", "education", "work", "fortunes", "cookie"]
    if not (folder / names[0]).exists():
        sys.exit(f"error: there is no {folder}/{names[0]}; apt-get install fortunes, "
                 "or give --text")
    joined = b"".join((folder / name).read_bytes() for name in names)
    return re.sub(rb"\n%\n", b"\n\n", joined)[:size]


def run(*command):
    subprocess.run([str(part) for part in command], check=True,
                   stdout=subprocess.DEVNULL)


def losses(folder):
    """Training losses by step, and the last validation loss."""
    with open(folder / "train.jsonl") as file:
        lines = [json.loads(line) for line in file]
    return [line["loss"] for line in lines], lines[-1]["val_loss"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--text", type=pathlib.Path, help="instead of Debian's fortunes")
    parser.add_argument("--fortunes", type=pathlib.Path, default=FORTUNES)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--numerics", nargs="+", default=["fp16", "m4"])
    parser.add_argument("--limit", type=float, default=0.02)
    options = parser.parse_args()
    tools = options.build / "bin"
    python = peers.python()

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        data = work / "text.txt"
        data.write_bytes(options.text.read_bytes() if options.text
                         else text(options.fortunes, 1_000_000))
        defines = [f"--define={key}={value}" for key, value in SIZES.items()]
        run(tools / "anec", ROOT / "examples/llama.tdsl", *defines, "--init=7",
            "-o", work / "llama.anepkg")
        flags = [f"--{key}={value}" for key, value in FLAGS.items()]
        weights = work / "llama.anepkg/weights/model.safetensors"
        reference = json.loads(subprocess.run(
            [python, HERE / "torch_run.py", weights, data, str(options.steps),
             json.dumps(SIZES), json.dumps(FLAGS)],
            check=True, stdout=subprocess.PIPE, env=os.environ).stdout)
        print(f"{data.stat().st_size} bytes, {options.steps} steps of "
              f"{FLAGS['batch']} windows of {SIZES['seq']}")
        print(f"PyTorch fp32   first loss {reference['losses'][0]:.4f}, "
              f"last {reference['losses'][-1]:.4f}, validation {reference['validation']:.4f}")
        worst = 0
        for numerics in options.numerics:
            run(tools / "ane-run", "train", work / "llama.anepkg", "--data", data,
                f"--steps={options.steps}", f"--numerics={numerics}", *flags,
                "--validate-every=0", "--save-every=0",
                "--checkpoint", work / numerics)
            steps, validation = losses(work / numerics)
            difference = validation / reference["validation"] - 1
            worst = max(worst, abs(difference))
            print(f"anec {numerics:9} first loss {steps[0]:.4f}, last {steps[-1]:.4f}, "
                  f"validation {validation:.4f}: {difference:+.2%}", flush=True)
    print(f"limit {options.limit:.0%}: {'kept' if worst <= options.limit else 'PASSED'}")
    return 0 if worst <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
