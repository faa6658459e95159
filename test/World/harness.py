"""What the sections of test/World share: items, outcomes, tools, and a cache of what
peers compute.

A section is a module with `items()`. An item's `check` returns one outcome for each
step, in the order in which a user meets them:

  right     the result is the peer's
  refused   anec says what it does not take, and exits with 1
  wrong     another result, an internal error, a crash, or a peer refuses what was written

A step that could not be tried because one before it failed is left out. The outcome of
an item whose file no peer makes is `absent`: there is nothing to compare, and counts
leave it out. What is `measured` is kept and shown, and is neither right nor wrong. What
is `counted` may only become fewer."""
import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import inspect
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import typing

CACHE = pathlib.Path(os.environ.get("ANEC_WORLD_CACHE")
                     or os.path.join(os.environ.get("XDG_CACHE_HOME")
                                     or os.path.expanduser("~/.cache"), "anec-world"))

# From the best to the worst.
OUTCOMES = ("right", "refused", "wrong")
ABSENT = "absent"
MEASURED = "measured"
COUNTED = "counted"


@dataclasses.dataclass(frozen=True)
class Outcome:
    kind: str
    note: str = ""


RIGHT = Outcome("right")


def refused(note):
    return Outcome("refused", one_line(note))


def wrong(note):
    return Outcome("wrong", one_line(note))


def absent(note):
    return Outcome(ABSENT, one_line(note))


def measured(ours, theirs, peer):
    """Times in milliseconds."""
    return Outcome(MEASURED, f"{ours:.3g} ms, {peer} {theirs:.3g} ms: {ours / theirs:.2f}")


def counted(number, note=""):
    return Outcome(COUNTED, one_line(f"{number}: {note}" if note else str(number)))


def number_of(note):
    """The number of what is `counted`."""
    return int(note.split(":")[0])


def one_line(text, limit=160):
    """The first error of a tool's output, or the first line, without paths, tabs and
    colors."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(text))
    lines = [line for line in text.splitlines() if line.strip()]
    chosen = next((line for line in lines if "error: " in line), lines[0] if lines else "")
    chosen = chosen.split("error: ")[-1].replace("\t", " ").strip()
    return chosen[:limit]


@dataclasses.dataclass(frozen=True)
class Item:
    """One subject in one form. `sample` items are those that `--world` compares, and
    `turn` those that stand for a subject where there are many forms. One that may build
    the tools again is checked `alone`, after all others. One whose peer is `missing`, for
    that reason, is skipped."""
    name: str
    variant: str
    check: typing.Callable
    sample: bool = True
    turn: bool = True
    seconds: int = 120
    alone: bool = False
    missing: str = ""


def processor_seconds(pid):
    """The time on processors of a process and its descendants, where /proc tells."""
    times, children = {}, {}
    # A glob looks whether each file exists, and fails where a process ends meanwhile.
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit():
            continue
        try:
            words = pathlib.Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # It has ended.
            continue
        one = int(name)
        times[one] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
        children.setdefault(int(words[1]), []).append(one)
    if pid not in times:
        return None
    found, waiting = 0.0, [pid]
    while waiting:
        one = waiting.pop()
        found += times.get(one, 0.0)
        waiting += children.get(one, [])
    return found


@functools.cache
def fetched(packages):
    """The folder of the packages that a list beside this file names: FOLDER/NAME/..."""
    script = pathlib.Path(__file__).with_name("models")
    return pathlib.Path(subprocess.run([str(script), packages], check=True,
                                       capture_output=True, text=True).stdout.strip())


def is_fetched(packages):
    """Whether the folder of `fetched` is there already, as after `install`."""
    file = pathlib.Path(__file__).with_name(packages)
    version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    return (CACHE / f"{file.stem}-{version}" / "complete").exists()


@functools.cache
def other_process(script, packages):
    """A script beside this file that has the packages of a list on its path, and answers
    requests, as _requests.py does, until this process ends."""
    folder = fetched(packages)
    path = os.pathsep.join(str(one) for one in folder.iterdir() if one.is_dir())
    return subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name(script)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True,
                            env=os.environ | {"PYTHONPATH": path})


def ask(script, packages, *request):
    """Sends a request to `other_process`: a function and its arguments. Raises what was
    raised there."""
    process = other_process(script, packages)
    print(json.dumps([str(one) if isinstance(one, pathlib.Path) else one for one in request]),
          file=process.stdin, flush=True)
    answer = json.loads(process.stdout.readline() or '{"error": "the process died"}')
    if answer:
        raise RuntimeError(answer["error"])


def own_seconds():
    """The time on processors of this process and of those that it has waited for."""
    times = os.times()
    return sum(times[:4])


def limited(command, seconds, **options):
    """subprocess.run, which ends what takes longer on processors, and what only waits.
    Other processes may take as much of the machine as they like. A shell sets the limit:
    with a function between fork and exec, the page tables of this process, which has
    imported peers, would be copied, which takes ten times what most commands do."""
    limit = 'ulimit -S -t "$0"; ulimit -H -t "$(($0 + 5))"; exec "$@"'
    return subprocess.run(["/bin/sh", "-c", limit, str(seconds), *map(str, command)],
                          capture_output=True, timeout=PATIENCE * seconds, **options)


PATIENCE = 10  # Time on the clock for a second of a processor.


class Context:
    """What an item's check works with: the tools, a folder of its own, the cache."""

    def __init__(self, build, folder):
        self.build = pathlib.Path(build)
        self.folder = pathlib.Path(folder)

    def run(self, tool, *words, seconds=100):
        """Runs `anec` or `ane-run`; the result has returncode, stdout and stderr."""
        command = [str(self.build / "bin" / tool)] + [str(word) for word in words]
        try:
            result = limited(command, seconds, text=True, cwd=self.folder)
        except subprocess.TimeoutExpired:
            result = None
        if result and result.returncode not in (-signal.SIGXCPU, -signal.SIGKILL):
            return result
        return subprocess.CompletedProcess(command, 124, "", f"no end in {seconds} s")

    def step(self, result):
        """The outcome of a command that must succeed: None when it did."""
        if result.returncode == 0:
            return None
        if result.returncode == 1:
            return refused(result.stderr)
        return wrong(f"exit {result.returncode}: {one_line(result.stderr)}")

    def outputs(self, program, inputs, *flags, name="run"):
        """Runs a program on arrays by name: (arrays by name, None) or (None, outcome)."""
        import numpy
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = []
        for key, array in inputs.items():
            numpy.save(folder / f"in-{len(words)}.npy", array)
            words += ["--input", f"{key}={folder / f'in-{len(words)}.npy'}"]
        out = folder / "out"
        outcome = self.step(self.run("ane-run", program, *words, "--output-dir", out, *flags))
        if outcome:
            return None, outcome
        return {path.stem: numpy.load(path) for path in sorted(out.glob("*.npy"))}, None

    @contextlib.contextmanager
    def cached(self, *parts):
        """A folder that is computed once for `parts`: text, and functions, which count
        by their source. Yields (folder, is it to be filled). What fails leaves
        nothing behind."""
        words = [part if isinstance(part, str) else inspect.getsource(part) for part in parts]
        key = hashlib.sha256("\0".join(words + [VERSIONS()]).encode()).hexdigest()[:24]
        folder = CACHE / "artifacts" / key[:2] / key
        if folder.is_dir():
            yield folder, False
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = pathlib.Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            yield made, True
            try:
                made.rename(folder)
            except OSError:  # Another process was first.
                shutil.rmtree(made, ignore_errors=True)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise

    def computed(self, fill, *parts):
        """The folder that `fill` filled, now or in another run: see `cached`."""
        for _ in range(2):  # The first time it may still have the name of a draft.
            with self.cached(*parts) as (folder, empty):
                if empty:
                    fill(folder)
        return folder


def VERSIONS():
    """The versions of the peers that the results depend on."""
    global _versions
    if _versions is None:
        names = ("coremltools", "numpy", "onnx", "onnxruntime", "onnxscript", "timm", "torch",
                 "torchvision", "transformers")
        _versions = " ".join(f"{name}-{importlib.metadata.version(name)}" for name in names)
    return _versions


_versions = None


def relative_error(got, expected):
    """The largest difference over the largest magnitude; infinite for another shape, or
    where only one of them is finite."""
    import numpy
    got, expected = (numpy.asarray(array).astype(numpy.float64) for array in (got, expected))
    if got.shape != expected.shape:
        return float("inf")
    if expected.size == 0:
        return 0.0
    finite = numpy.isfinite(expected)
    if (numpy.isfinite(got) != finite).any() or not numpy.array_equal(
            got[~finite], expected[~finite], equal_nan=True):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = max(numpy.abs(expected[finite]).max(), 1e-30)
    return float(numpy.abs(got[finite] - expected[finite]).max() / scale)


def relative_norm(got, expected):
    """The norm of the difference over that of `expected`; infinite where
    `relative_error` is."""
    import numpy
    if not numpy.isfinite(relative_error(got, expected)):
        return float("inf")
    got, expected = (numpy.asarray(array).astype(numpy.float64) for array in (got, expected))
    finite = numpy.isfinite(expected)
    scale = max(float(numpy.linalg.norm(expected[finite])), 1e-30)
    return float(numpy.linalg.norm(got[finite] - expected[finite])) / scale


def half_error(draws):
    """The error of a program in fp16: of each output the root of the mean square of its
    relative norms over several draws of inputs, `draws` having a list for each draw; of
    these the largest. It is the sum of many roundings: those of one draw, or of the one
    element that is off by most, say little about which of two programs is nearer."""
    import numpy
    norms = numpy.array(draws, dtype=numpy.float64)
    return float(numpy.sqrt((norms ** 2).mean(axis=0)).max()) if norms.size else 0.0


def near(error, limit):
    return RIGHT if error <= limit else wrong(f"off by {error:.2g}")


def save_arrays(path, arrays):
    import numpy
    numpy.savez(path, **arrays)


def load_arrays(path):
    import numpy
    with numpy.load(path) as file:
        return {name: file[name] for name in file.files}


def write_json(path, value):
    pathlib.Path(path).write_text(json.dumps(value, indent=1))
