#!/usr/bin/env python3
"""Runs archives of torch.export.save, and compares their outputs with PyTorch's.

  compare_archives.py ANE_RUN FOLDER [NAME ...] [--verbose]

FOLDER has NAME.pt2 with NAME.in.npz, the inputs by name, and NAME.out.npz, the outputs
out0, out1, ... Keys such as `0/x` are those of successive calls, and `decode/x` those of
a model of several. Prints right, refused or wrong for each, and exits with 1 if one is
wrong. A name that begins with `refuse_` must be refused."""
import ast
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

# Of narrow floats, PyTorch rounds each result.
TOLERANCES = {"bf16": 2e-2, "fp16": 4e-3, "regions": 2e-2}


def run(command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=120)


class Array:
    """A .npy file: its bytes, shape and elements."""

    FORMATS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
               "u1": "B", "u2": "H", "u4": "I", "b1": "?"}

    def __init__(self, contents):
        self.contents = contents
        size = struct.unpack_from("<H", contents, 8)[0]
        header = ast.literal_eval(contents[10:10 + size].decode("latin-1"))
        self.shape = header["shape"]
        self.is_float = header["descr"][1] == "f"
        self.elements = [element for element, in struct.iter_unpack(
            "<" + self.FORMATS[header["descr"][1:]], contents[10 + size:])]
        if header["fortran_order"]:
            self.elements = self.transposed()

    def transposed(self):
        """Elements that are in Fortran's order in C's."""
        steps, step = [], 1
        for extent in self.shape:
            steps.append(step)
            step *= extent
        places = [0]
        for extent, step in zip(self.shape, steps):
            places = [place + i * step for place in places for i in range(extent)]
        return [self.elements[place] for place in places]


def load(path):
    """The arrays by call and name; those without calls are of the call ``."""
    calls = {}
    with zipfile.ZipFile(path) as entries:
        for entry in entries.namelist():
            call, _, name = entry.removesuffix(".npy").rpartition("/")
            calls.setdefault(call, {})[name] = Array(entries.read(entry))
    return calls


def difference(got, want):
    """How far two arrays are apart, relative to the largest number or 1."""
    if got.shape != want.shape:
        return f"shape {got.shape} and not {want.shape}"
    pairs = list(zip(got.elements, want.elements))
    if not want.is_float:
        wrong = sum(x != y for x, y in pairs)
        return f"{wrong} of {len(pairs)} integers" if wrong else 0.0
    scale = max([1.0] + [abs(y) for y in want.elements if math.isfinite(y)])
    worst = 0.0
    for x, y in pairs:
        if x == y or (math.isnan(x) and math.isnan(y)):
            continue
        if not (math.isfinite(x) and math.isfinite(y)):
            return f"{x} and not {y}"
        worst = max(worst, abs(x - y) / scale)
    return worst


def signature(program, flags, ane_run):
    done = run([ane_run, "info", program, "--json", *flags])
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


class Calls:
    """Successive calls of a model, which keep its states."""

    def __init__(self, ane_run, program, work):
        self.ane_run, self.program, self.work = ane_run, program, work
        self.states = {}

    def __call__(self, call, inputs):
        model = call if call and not call.isdigit() else ""
        flags = [f"--function={model}"] if model else []
        shapes = [f"--shape={name}={'x'.join(map(str, array.shape))}"
                  for name, array in inputs.items() if array.shape]
        info, error = signature(self.program, flags, self.ane_run)
        if info is None:
            info, error = signature(self.program, flags + shapes, self.ane_run)
        # Python numbers are inputs of the export, and none of the program.
        known = None if info is None else {entry["name"] for entry in info["inputs"]}
        for name, array in inputs.items():
            if known is not None and name not in known:
                continue
            (self.work / f"in-{name}.npy").write_bytes(array.contents)
            flags.append(f"--input={name}={self.work}/in-{name}.npy")
        for name, path in self.states.items():
            flags.append(f"--state={name}={path}")
        out = self.work / f"out{call}"
        done = run([self.ane_run, self.program, "--numerics=fp32", f"--output-dir={out}",
                    *flags])
        if done.returncode != 0:
            return None, done.stderr.strip()
        states = set() if info is None else {entry["name"] for entry in info["states"]}
        self.states = {name: out / f"{name}.npy" for name in states}
        # In the order of the outputs, which is that of what was printed.
        names = ([entry["name"] for entry in info["outputs"]] if info is not None else
                 [line.split()[0].rstrip(":") for line in done.stdout.splitlines()])
        return [Array((out / f"{name}.npy").read_bytes()) for name in names
                if (out / f"{name}.npy").exists()], ""


def check(ane_run, folder, name, work):
    """`right`, `refused` or `wrong`, and why."""
    program = folder / f"{name}.pt2"
    if name.startswith("refuse_"):
        done = run([ane_run, "info", program])
        if done.returncode == 1 and "error:" in done.stderr:
            return "right", done.stderr.splitlines()[0]
        return "wrong", "it is not refused"
    inputs, wanted = load(folder / f"{name}.in.npz"), load(folder / f"{name}.out.npz")
    calls, worst = Calls(ane_run, program, work), 0.0
    tolerance = TOLERANCES.get(name.split(".")[0], 1e-4)
    for call in wanted:
        outputs, error = calls(call, inputs.get(call, {}))
        if outputs is None:
            return "refused", error
        for index in range(len(wanted[call])):
            if index >= len(outputs):
                return "wrong", f"{call}: output {index} is missing"
            apart = difference(outputs[index], wanted[call][f"out{index}"])
            if isinstance(apart, str):
                return "wrong", f"{call}: output {index}: {apart}"
            worst = max(worst, apart)
    return ("right" if worst <= tolerance else "wrong"), f"{worst:.2g}"


def main(arguments):
    verbose = "--verbose" in arguments
    arguments = [argument for argument in arguments if argument != "--verbose"]
    ane_run, folder, names = arguments[0], pathlib.Path(arguments[1]), arguments[2:]
    names = names or sorted(path.name[:-4] for path in folder.glob("*.pt2"))
    counts = {"right": 0, "refused": 0, "wrong": 0}
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            try:
                verdict, why = check(ane_run, folder, name, pathlib.Path(work))
            except subprocess.TimeoutExpired:
                verdict, why = "wrong", "it takes more than 2 minutes"
        counts[verdict] += 1
        if verdict != "right" or verbose:
            print(f"{name}: {verdict}: {why}")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
