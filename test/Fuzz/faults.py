#!/usr/bin/env python3
"""Lets single calls of the system fail (open, read, write, rename, memory, threads ...,
by the library of Faults.cpp) while the tools compile, convert, train, generate and write
packages, and while programs do so by the C API and in Python (host.py). Each run ends within 10 seconds, with exit code 0 and the output of a run
without faults, or with 1 or 3, an error, and each output as it was before or whole;
nothing under a temporary name stays, nothing else changes.

  faults.py BUILD [--faults=1000] [--seed=1] [--only=TEXT] [--jobs=2] [--work=DIR] [--table]

--only takes the commands that contain TEXT, or one fault by its seed, as a failure
prints it: --only=1.123. --table prints how many calls of which kind were seen."""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Tools"))
import host  # noqa: E402
import traps  # noqa: E402

ROOT = HERE.parent.parent
LIMIT = 10  # seconds
# Whose outputs hold times or what the machine has, and are judged by their exit codes.
UNSTABLE = ("ane-run probe", "ane-run probe-one", "ane-run doctor", "ane-run bench")
# The kinds of calls that some command makes (Faults.cpp has a table).
KINDS = ("memory", "open", "read", "write", "short-read", "short-write", "interrupt", "sync",
         "rename", "make-folder", "map", "lock", "thread")
# Calls that a tool repeats, so that one fault changes nothing.
HARMLESS = ("short-read", "short-write", "interrupt")


class Job:
    """A command in a folder of inputs, and what it does without faults."""

    def __init__(self, name, words, **settings):
        self.name, self.words, self.settings = name, words, settings
        self.counts = {}

    def __str__(self):
        return " ".join(self.words)


def more_jobs():
    """What the traps' commands do not: packages, other people's models, large weights."""
    onnx = ROOT / "test" / "Onnx" / "Inputs" / "half"
    archive = ROOT / "test" / "Torch" / "Inputs" / "mlp.pt2"
    for ending in ("mlpackage", "mlmodelc", "mil", "html"):
        yield Job("anec compile", ["anec", "k.tdsl", "--init=1", "-o", f"out.{ending}"])
    yield Job("anec compile", ["anec", "large.tdsl", "--init=1", "-o", "out.mil"])
    yield Job("anec compile", ["anec", "large.tdsl", "--init=1", "-o", "out.mlpackage"])
    yield Job("anec compile", ["anec", "large.tdsl", "--init=1", "--quantize=int8", "-o",
                               "out.mlpackage"])
    yield Job("anec compile", ["anec", "p.mlpackage", "--quantize=lut4", "-o",
                               "out.mlpackage"])
    yield Job("anec compile", ["anec", str(archive), "-o", "out.mlpackage"])
    for path in sorted(onnx.rglob("*.onnx"))[:2]:
        yield Job("anec compile", ["anec", str(path), "-o", "out.mlpackage"])
    yield Job("anec check", ["anec", "check", "p.mlpackage"])
    yield Job("anec diff", ["anec", "diff", "p.mlpackage", "k.mil"])
    yield Job("ane-run run", ["ane-run", "large.mil", "--input", "x=random:1",
                              "--output-dir", "out", "--threads=2"])
    yield Job("ane-run run", ["ane-run", "p.mlpackage", "--input", "x=random:1",
                              "--output-dir", "out"])


def host_jobs(build):
    """Operations of the library, in a process that is to live on."""
    for api in ("c", "python"):
        if not host.is_built(build, api):
            print(f"the library for {api} has not been built")
            continue
        for operation in host.OPERATIONS:
            yield Job(f"{api} API", [sys.executable, str(HERE / "host.py"), str(build), api,
                                     operation], ANEC_FAULT_ARMED="0")


def make_inputs(folder):
    traps.make_inputs(str(ROOT / "test" / "Train" / "Inputs" / "tiny.tdsl"), str(folder))
    for path in folder.glob("evil*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (folder / "large.tdsl").write_text(
        "kernel large(x: fp16[1024, 64]) -> fp16[1024, 64] {\n"
        "  weight w: fp16[1024, 1024];\n  return w @ x;\n}\n")
    for words in (["large.tdsl", "--init=1", "-o", "large.mil"],
                  ["m.tdsl", "--forward-only", "--init=1", "-o", "decode.anepkg"],
                  ["k.tdsl", "--init=1", "-o", "p.mlpackage"]):
        subprocess.run(["anec", *words], check=True, capture_output=True, cwd=folder)


def snapshot(folder):
    """{path: digest} of the files, {path: ""} of folders."""
    found = {}
    for top, folders, files in os.walk(folder):
        for name in folders:
            found[os.path.relpath(os.path.join(top, name), folder)] = ""
        for name in files:
            path = pathlib.Path(top) / name
            found[os.path.relpath(path, folder)] = hashlib.sha256(
                path.read_bytes()).hexdigest()
    return found


def leftovers(box):
    """The files and folders that have a temporary name, in the folder of inputs and in the
    system's temporary folder."""
    return sorted(str(path.relative_to(box)) for path in box.rglob("*")
                  if re.search(r"\.tmp(-old)?$", path.name)
                  or path.parent == box / "tmp")


def may_stay(left, kind, box):
    """A process that cannot open its temporary folder cannot list it, and leaves it whole,
    with the temporary folders in it; an empty one it could remove."""
    tops = [path for path in left if not any(path.startswith(other + "/") for other in left)]
    return (kind == "open" and len(tops) == 1 and (box / tops[0]).is_dir()
            and any((box / tops[0]).iterdir()))


class Runner:
    def __init__(self, build, work):
        self.library = build / "test" / "bin" / "libanec-faults.so"
        self.inputs = work / "inputs"
        self.work = work
        self.before = {}

    def run(self, job, box, settings):
        """Runs it in a copy of the inputs; the result, and what is there afterwards."""
        shutil.rmtree(box, ignore_errors=True)
        shutil.copytree(self.inputs, box / "in", symlinks=True)
        (box / "tmp").mkdir()
        # The cache of models has the same name in all boxes, as `ane-run cache` prints it.
        environment = dict(os.environ, TMPDIR=str(box / "tmp"), ANEC_CACHE="../cache",
                           OMP_NUM_THREADS="1",
                           OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                           **job.settings, **settings)
        # The shell that the loader starts has no faults: only the tool is preloaded.
        environment["LD_PRELOAD"] = str(self.library)
        process = subprocess.Popen(job.words, cwd=box / "in", stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment, start_new_session=True)
        try:
            process.out, process.err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            process.out = process.err = b""
            process.returncode = None
        return process, snapshot(box / "in")

    def prepare(self, job):
        """Runs it twice without faults: what both have alike is what a run gives."""
        box = self.work / "prepare"
        counts = box.with_suffix(".counts")
        runs = [self.run(job, box, {"ANEC_FAULT_COUNT": str(counts)}) for _ in range(2)]
        (one, after), (other, again) = runs
        job.code = one.returncode
        right = (0,) if job.settings else (0, 1, 3)  # the library is to succeed
        if one.returncode != other.returncode or one.returncode not in right:
            sys.exit(f"{job}: exit code {one.returncode} without a fault:\n"
                     f"{one.err.decode(errors='replace')}")
        self.before = snapshot(self.inputs)
        job.after = after
        job.stable = {path for path in after if after[path] == again.get(path)}
        job.out = one.out if one.out == other.out else None
        job.counts = {kind: int(count) for kind, count in
                      (line.split() for line in counts.read_text().splitlines())
                      if int(count)}

    def judge(self, job, box, process, after, kind):
        """Why the run is wrong, or nothing."""
        if process.returncode is None:
            return f"more than {LIMIT} seconds"
        code, text = process.returncode, process.err.decode(errors="replace")
        # What is wrong with a program or a log is their output.
        if job.name in ("anec check", "anec explain"):
            text += process.out.decode(errors="replace")
        if code < 0 or code not in (0, 1, 3) + (2,) * (job.name == "anec diff"):
            return f"exit code {code}"
        left = leftovers(box)
        if left and not (may_stay(left, kind, box) and self.cleared(job, box)):
            return f"it leaves {', '.join(left[:3])} ({len(left)})"
        if code == 0 and job.name not in UNSTABLE:
            # That an old checkpoint cannot be removed is a warning.
            kept = "out.d/step-" if "[checkpoint-kept]" in text else None
            return self.judge_success(job, process, after, kept)
        if code and code != job.code and "error: " not in text:
            return "no error is said"
        if code and kind in HARMLESS and code != job.code:
            return "a call that is to be repeated is an error"
        return self.judge_files(job, after)

    def cleared(self, job, box):
        """Whether the next run removes what could not be listed. (What is in the system's
        temporary folder is the system's to remove.)"""
        words = job.words + ["--resume"] * ("train" in job.name and "--resume" not in job.words)
        subprocess.run(words, cwd=box / "in", capture_output=True, timeout=LIMIT)
        return not [path for path in leftovers(box) if not path.startswith("tmp/")]

    def judge_success(self, job, process, after, kept):
        """Files whose paths begin with `kept` may be there although a run removes them."""
        if job.code:
            return "no error, but one without the fault"
        for path in job.stable:
            if after.get(path) != job.after[path]:
                return f"exit code 0, but {path} is not what a run writes"
        other = job.after.keys() ^ {path for path in after if ".tmp" not in path}
        if kept:
            other = {path for path in other if path in job.after or not path.startswith(kept)}
        if other:
            return f"exit code 0, but there should be, or should not: {sorted(other)}"
        if job.out is not None and process.out != job.out:
            return "exit code 0, but it prints something else"
        return ""

    def judge_files(self, job, after):
        """Every file is as it was before, or as the whole run leaves it."""
        for path in self.before.keys() | after.keys() | job.after.keys():
            seen = after.get(path)
            if seen in (self.before.get(path), job.after.get(path)) or ".tmp" in path:
                continue
            # A run of training has other files at each moment.
            if job.name == "ane-run train" and path.startswith(("out.d", "run/")):
                continue
            if path in job.after.keys() - job.stable:
                continue
            return f"{path} is neither the old nor the new one"
        return ""


def settings_of(kind, at, forever):
    settings = {"ANEC_FAULT_KIND": kind, "ANEC_FAULT_AT": str(at)}
    if forever:
        settings["ANEC_FAULT_FOREVER"] = "1"
    return settings


def draw(jobs, choose):
    """A job, and a fault of a call that it makes."""
    job = choose.choice(jobs)
    kind = choose.choice(sorted(job.counts))
    forever = kind not in HARMLESS and choose.random() < 0.3
    return job, kind, choose.randint(1, job.counts[kind]), forever


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    os.environ["PATH"] = f"{build / 'bin'}{os.pathsep}{os.environ['PATH']}"
    work = (options.work or pathlib.Path(tempfile.mkdtemp())).resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    runner = Runner(build, work)
    make_inputs(runner.inputs)
    repeated = re.fullmatch(r"(\d+)\.(\d+)", options.only)
    jobs = [Job(command.name, command.words) for command in traps.commands("out")] + list(more_jobs()) + list(host_jobs(build))
    if not repeated:
        jobs = [job for job in jobs if options.only in str(job)]
    for job in jobs:
        runner.prepare(job)
    # A Mac has what those with code 3 ask for; some end before any call.
    jobs = [job for job in jobs if job.code != 3 and job.counts]
    if not options.only:
        missing = set(KINDS) - {kind for job in jobs for kind in job.counts}
        if missing:
            sys.exit(f"no command makes a call of these kinds: {', '.join(sorted(missing))}")
    numbers = range(options.faults)
    seed = options.seed
    if repeated:
        seed, numbers = int(repeated[1]), [int(repeated[2])]

    def one(number):
        job, kind, at, forever = draw(jobs, random.Random(f"{seed}.{number}"))
        box = work / f"{number}"
        process, after = runner.run(job, box, settings_of(kind, at, forever))
        why = runner.judge(job, box, process, after, kind)
        if not why:
            shutil.rmtree(box)
        fault = f"{kind} {at}{' and all later' if forever else ''}"
        return number, job, kind, fault, process, why

    seen, failed = collections.Counter(), 0
    codes = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, job, kind, fault, process, why in pool.map(one, numbers):
            seen[kind] += 1
            codes[process.returncode] += 1
            if why:
                failed += 1
                print(f"seed {seed}.{number}: {why}\n  {job}\n  {fault} of "
                      f"{job.counts[kind]}\n{process.err.decode(errors='replace')[-1500:]}",
                      flush=True)
    if options.table:
        for kind, count in sorted(seen.items()):
            print(f"  {kind:12} {count}")
    if not options.work and not failed:
        shutil.rmtree(work)
    print(f"{sum(seen.values())} faults in {len(jobs)} commands: {codes[0]} without effect, "
          f"{codes[1] + codes[3]} errors, {failed} failed")
    sys.exit(1 if failed else 0)


main()
