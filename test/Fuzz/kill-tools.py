#!/usr/bin/env python3
"""Ends the tools with signals at random moments while they compile, train and
convert. Afterwards there must be the old or the new output, complete, and after
the next run nothing under a temporary name. A signal that can be caught leaves
nothing even before that.

  kill-tools.py BUILD [--kills=1000] [--seed=1] [--work=DIR]
"""
import argparse
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
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def take_signals():
    # Whoever runs this may ignore some.
    for number in SIGNALS[1:]:
        signal.signal(number, signal.SIG_DFL)


class Job:
    """A command that writes `output`. `versions` are commands that write
    different ones, in turn."""

    def __init__(self, tools, folder, name):
        self.tools = tools
        self.folder = folder / name
        self.folder.mkdir(parents=True)
        self.turn = 0
        self.whole = []

    def run(self, *words):
        result = subprocess.run(self.words(words), capture_output=True,
                                text=True, cwd=self.folder)
        if result.returncode:
            self.fail(f"{' '.join(map(str, words))} ends with "
                      f"{result.returncode}:\n{result.stderr}")
        return result.stdout

    def words(self, words):
        return [self.tools / words[0], *words[1:]]

    def fail(self, message):
        sys.exit(f"error: {type(self).__name__}: {message}\n"
                 f"{self.folder} has "
                 f"{sorted(p.name for p in self.folder.iterdir())}")

    def temporary(self):
        return [path for path in self.folder.rglob("*")
                if path.name.endswith((".tmp", ".tmp-old"))]

    def prepare(self):
        """Makes the output once in each version; how long that takes."""
        start = time.perf_counter()
        for version in range(2):
            self.run(*self.command(version))
            self.whole.append(self.contents())
        assert self.whole[0] != self.whole[1]
        return (time.perf_counter() - start) / 2

    def disturb(self, number, moment):
        """Starts the command and ends it at a moment."""
        self.turn += 1
        before = set(self.temporary())
        process = subprocess.Popen(
            self.words(self.command(self.turn % 2)), cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=take_signals)
        time.sleep(moment)
        process.send_signal(number)
        error = process.communicate()[1]
        if process.returncode not in (0, -number) or error:
            self.fail(f"it ends with {process.returncode} after {number!r}:\n"
                      f"{error}")
        # SIGKILL before may have left something.
        own = sorted(set(self.temporary()) - before)
        if number != signal.SIGKILL and own:
            self.fail(f"{number!r} leaves {own}")
        if self.contents() not in self.whole:
            self.fail(f"the output is neither the old nor the new one after "
                      f"{number!r}")
        return process.returncode != 0

    def finish(self):
        self.run(*self.command(0))
        if self.contents() != self.whole[0]:
            self.fail("the output of the next run is not complete")
        if self.temporary():
            self.fail(f"the next run leaves {self.temporary()}")


class CompilePackage(Job):
    def command(self, version):
        defines = [f"--define={size}" for size in SIZES]
        return ["anec", ROOT / "examples" / "llama.tdsl", *defines,
                f"--init={version}", "-o", "m.anepkg"]

    def contents(self):
        if not (self.folder / "m.anepkg").exists():
            return None
        return self.run("ane-run", "info", "m.anepkg", "--json") + "".join(
            str(path.stat().st_size) + path.read_bytes().hex()
            for path in sorted((self.folder / "m.anepkg").rglob("*.safetensors")))


class CompileText(Job):
    def command(self, version):
        return ["anec", ROOT / "examples" / "digits.tdsl",
                f"--define=hidden={64 + version}", "--emit=ir", "-o", "out.ir"]

    def contents(self):
        return (self.folder / "out.ir").read_text()


class Convert(Job):
    def prepare(self):
        for version in range(2):
            self.run(*CompilePackage.command(self, version)[:-1],
                     f"{version}.anepkg")
            self.run("ane-run", "train", f"{version}.anepkg", "--steps=1",
                     f"--data={ROOT / 'docs' / 'reference' / 'language.md'}",
                     f"--checkpoint=run{version}")
        return super().prepare()

    def command(self, version):
        weights = f"run{version}/step-00000001/weights.safetensors"
        return ["anec", "convert", weights, "--config=1.anepkg", "--to=hf",
                "-o", "out.safetensors"]

    def contents(self):
        return (self.folder / "out.safetensors").read_bytes()


class Train(Job):
    """Training goes on after each signal, and ends as if there had been none."""
    STEPS = 40

    def prepare(self):
        self.run(*CompilePackage.command(self, 1))
        start = time.perf_counter()
        self.run(*self.command(0))
        self.whole = [self.losses()]
        time_taken = time.perf_counter() - start
        shutil.rmtree(self.folder / "run")
        return time_taken

    def command(self, version):
        resume = (["--resume"] if (self.folder / "run" / "train.jsonl").exists()
                  else [])
        return ["ane-run", "train", "m.anepkg", f"--steps={self.STEPS}",
                f"--data={ROOT / 'docs' / 'reference' / 'language.md'}", "--checkpoint=run",
                "--save-every=5", "--keep=2", "--seed=3", "--threads=1",
                "--validation-windows=1", "--validate-every=10", *resume]

    def losses(self):
        log = self.folder / "run" / "train.jsonl"
        return [line[:line.index(',"lr"')]
                for line in log.read_text().splitlines()]

    def contents(self):
        for checkpoint in self.folder.glob("run/step-*"):
            if checkpoint.name.endswith((".tmp", ".tmp-old")):
                continue
            for name in ("state.json", "weights.safetensors",
                         "optimizer.safetensors"):
                if not (checkpoint / name).exists():
                    self.fail(f"{checkpoint} has no {name}")
        return self.whole[0]

    def disturb(self, number, moment):
        ended = super().disturb(number, moment)
        if (self.folder / "run" / f"step-{self.STEPS:08}").exists():
            self.finish()
            shutil.rmtree(self.folder / "run")
        return ended

    def finish(self):
        self.run(*self.command(0))
        if self.losses() != self.whole[0]:
            self.fail("the losses are not those of a run without signals")
        if self.temporary():
            self.fail(f"the next run leaves {self.temporary()}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    jobs = [kind(options.build.resolve() / "bin", work, kind.__name__)
            for kind in (CompilePackage, CompileText, Convert, Train)]
    lives = [job.prepare() for job in jobs]
    ended = 0
    for count in range(options.kills):
        number = choose.randrange(len(jobs))
        ended += jobs[number].disturb(choose.choice(SIGNALS),
                                      choose.uniform(0, lives[number]))
        if count % 10 == 9:
            jobs[number].finish()
    for job in jobs:
        job.finish()
    if not options.work:
        shutil.rmtree(work)
    print(f"{options.kills} signals, {ended} before the end: all outputs are "
          "complete")


main()
