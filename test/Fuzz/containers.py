#!/usr/bin/env python3
"""Two processes, each in a PID namespace of its own, as in two containers on one
volume, write the same outputs at the same time; some are killed. Each output must be
a whole one of either, no process may lose its output to the other's cleaning, and
after the next run nothing may be under a temporary name.

  containers.py BUILD [--rounds=200] [--seed=1] [--work=DIR]

Ends with 77, and a reason, where namespaces are not allowed."""
import argparse
import hashlib
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = ["layers=1", "dim=32", "hidden=64", "heads=2", "kv_heads=2", "seq=16",
         "vocab=256"]
LLAMA = ["anec", ROOT / "examples/llama.tdsl", *[f"--define={size}" for size in SIZES]]
DIGITS = ["anec", ROOT / "examples/digits.tdsl"]
KERNEL = ["anec", ROOT / "examples/conv_block.tdsl", "--define=height=VERSION6"]


def outputs():
    """Commands that write, by output; VERSION is 1 or 2, and the bytes depend on it."""
    init = "--init=VERSION"
    hidden = "--define=hidden=VERSION6"
    yield "k.mil", [*KERNEL, init]
    yield "k.mlpackage", [*KERNEL, init]
    yield "k.mlmodelc", [*KERNEL, init]
    yield "k.html", [*KERNEL, "--emit=html"]
    yield "d.ir", [*DIGITS, hidden, "--emit=ir"]
    yield "d.anepkg", [*DIGITS, hidden, init]
    yield "l.anepkg", [*LLAMA, init]
    yield "l.ir", [*LLAMA, "--define=seq=VERSION6", "--emit=ir"]
    weights = "run-VERSION/step-00000001/weights.safetensors"
    convert = ["anec", "convert", weights, "--config=trained-VERSION.anepkg"]
    yield "h", [*convert, "--to=hf"]
    yield "w.safetensors", [*convert, "--to=hf"]
    yield "w.bin", [*convert, "--to=llama2c"]
    yield "q.mlpackage", [*KERNEL, init, "--quantize=int8"]


class Outputs:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder

    def words(self, command, version, name):
        words = [str(word).replace("VERSION", str(version)) for word in command]
        return [str(self.tools / words[0]), *words[1:], "-o", name]

    def run(self, words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            self.fail(f"{' '.join(words)} ends with {done.returncode}:\n{done.stderr}")

    def train(self, version):
        """What the conversions convert."""
        package = f"trained-{version}.anepkg"
        self.run(self.words([*LLAMA, "--init=VERSION"], version, package))
        self.run([str(self.tools / "ane-run"), "train", package, "--steps=1",
                  f"--data={ROOT / 'docs/reference/language.md'}", f"--checkpoint=run-{version}"])

    def digest(self, name):
        """Of a file, or of all files of a folder , with its path."""
        path = self.folder / name
        files = [path] if path.is_file() else sorted(
            each for each in path.rglob("*")
            if each.is_file() and each.suffix != ".tmp")
        text = hashlib.sha256()
        for each in files:
            text.update(str(each.relative_to(self.folder)).encode() + b"\0")
            text.update(each.read_bytes())
        return text.hexdigest()

    def temporary(self, name):
        return [str(path) for path in self.folder.rglob("*")
                if str(path.relative_to(self.folder)).startswith(name)
                and path.name.endswith((".tmp", ".tmp-old"))]

    def fail(self, message):
        sys.exit(f"error: {message}\n{self.folder} has "
                 f"{sorted(path.name for path in self.folder.iterdir())}")

    def write_at_once(self, name, command, choose, life):
        """Two containers write the output, and both must succeed; a third is killed."""
        apart = ["unshare", "--pid", "--fork", "--kill-child"]
        started = [subprocess.Popen(apart + self.words(command, version, name),
                                    cwd=self.folder, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
                   for version in (1, 2, choose.choice((1, 2)))]
        time.sleep(choose.uniform(0, life))
        started[2].kill()
        for process in started:
            errors = process.communicate()[1]
            if process is not started[2] and (process.returncode or errors):
                self.fail(f"{name}: a writer ends with {process.returncode}:\n{errors}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    tried = subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True,
                           text=True) if shutil.which("unshare") else None
    if not tried or tried.returncode:
        print("skipped: namespaces are not allowed here")
        sys.exit(77)
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    held = Outputs(options.build.resolve() / "bin", work)
    choose = random.Random(options.seed)
    for version in (1, 2):
        held.train(version)
    jobs = {}
    for name, command in outputs():
        whole, start = [], time.perf_counter()
        for version in (1, 2):
            held.run(held.words(command, version, name))
            whole.append(held.digest(name))
        if whole[0] == whole[1]:
            held.fail(f"{name}: both versions are equal")
        jobs[name] = command, whole, time.perf_counter() - start
    for _ in range(options.rounds):
        for name, (command, whole, life) in jobs.items():
            held.write_at_once(name, command, choose, life)
            if held.digest(name) not in whole:
                held.fail(f"{name} is neither writer's output")
    for name, (command, whole, _) in jobs.items():
        held.run(held.words(command, 1, name))
        if held.digest(name) != whole[0] or held.temporary(name):
            held.fail(f"{name}: the next run leaves {held.temporary(name)}")
    if not options.work:
        shutil.rmtree(work)
    print(f"{options.rounds} rounds of {len(jobs)} outputs, written by two containers "
          "while a third is killed: each is whole")


main()
