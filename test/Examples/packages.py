#!/usr/bin/env python3
"""Packages every model of the examples for every target, with weights passed
and baked, checks that no kernel breaks a rule, and compares loss and gradients
with those of the package that is made for no target.

usage: packages.py ANEC ANE_RUN EXAMPLES OUTPUT_FOLDER"""
import pathlib
import re
import subprocess
import sys

import numpy as np

# What changes shapes stays: widths that are not a multiple of 32, several heads.
SMALLER = {"dim": 48, "hidden": 80, "heads": 2, "kv_heads": 2, "seq": 24,
           "layers": 2, "vocab": 96, "batch": 8, "size": 12, "channels": 4,
           "pixels": 36, "blocks": 2, "head_dim": 20, "experts": 3, "state": 10,
           "patch": 4, "source_seq": 20, "words": 4, "features": 20}
INTEGERS = {"tokens": "vocab", "targets": "vocab", "sources": "vocab",
            "labels": "classes", "pairs": "batch"}
MODES = [["--weight-mode=packed"], ["--weight-mode=packed", "--io=separate"],
         ["--weight-mode=baked", "--init=1"],
         ["--weight-mode=baked", "--init=1", "--io=separate"]]
# Nothing is rounded inside (--numerics=fp32), so that what differs is how
# numbers like 1/n are rounded, and what passes between kernels in fp16.
TOLERANCE = 2e-3


def run(*arguments):
    return subprocess.run(arguments, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def entries_of(text):
    """Of `config`: names and expressions."""
    config = re.search(r"config \{(.*?)\n?\}", text, re.S)[1]
    return dict(re.findall(r"(\w+) = ([^;]*);", config))


def defines_of(text):
    """Only numbers: what is computed from others follows them."""
    return {name: SMALLER[name] for name, value in entries_of(text).items()
            if name in SMALLER and re.fullmatch(r"[\d.e-]+", value)}


def values_of(text, config):
    values = {}
    for name, expression in entries_of(text).items():
        expression = expression.replace("/", "//" if "." not in expression else "/")
        values[name] = config.get(name) or eval(expression, {}, values)
    return values


def write_inputs(text, config, folder):
    """An array for each input of the model, as flags of ane-run."""
    values = values_of(text, config)
    random = np.random.default_rng(1)
    flags = []
    parameters = re.search(r"^model \w+\((.*?)\)\s*->", text,
                           re.S | re.M)[1]
    for name, dtype, shape in re.findall(r"(\w+): (\w+)\[([^\]]*)\]",
                                         parameters):
        extents = [int(eval(extent, {}, values)) for extent in shape.split(", ")]
        if dtype == "int32":
            most = values[INTEGERS[name]]
            array = random.integers(0, most, extents, dtype=np.int32)
        else:
            array = random.standard_normal(extents).astype(
                np.float16 if dtype == "fp16" else np.float32)
        path = folder / f"{name}.npy"
        np.save(path, array)
        flags += ["--input", f"{name}={path}"]
    return flags


class Example:
    def __init__(self, anec, ane_run, path, output):
        self.anec, self.ane_run, self.path = anec, ane_run, path
        self.folder = pathlib.Path(output, path.stem)
        self.folder.mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        config = defines_of(text)
        self.defines = [flag for name, value in config.items()
                        for flag in ("--define", f"{name}={value}")]
        self.inputs = write_inputs(text, config, self.folder)

    def package(self, mode, *flags):
        place = self.folder / "model.anepkg"
        made = run(self.anec, str(self.path), *self.defines, *mode, *flags,
                   "-o", str(place))
        return place, made

    def check_own_size(self, target, flags):
        """At the sizes of the example itself; weights come later."""
        place = self.folder / "whole.anepkg"
        made = run(self.anec, str(self.path), f"--target={target}", *flags,
                   "-o", str(place))
        if made.returncode:
            return made.stdout
        checked = run(self.anec, "check", f"--target={target}", str(place))
        return checked.stdout if checked.returncode else None

    def results(self, package):
        """Loss and gradients, or why there are none."""
        done = run(self.ane_run, str(package), *self.inputs, "--init=1",
                   "--numerics=fp32", "--threads=1",
                   "--output-dir", str(self.folder / "out"),
                   "--gradients", str(self.folder / "gradients"))
        if done.returncode:
            return None, done.stdout
        arrays = [np.load(self.folder / "out" / "output.npy")]
        arrays += [np.load(path) for path in
                   sorted((self.folder / "gradients").glob("*.npy"))]
        return arrays, None

    def difference(self, target, mode, reference):
        """What is wrong with the package for `target`; nothing if all is well."""
        package, made = self.package(mode, f"--target={target}")
        if made.returncode:
            return made.stdout, 0
        checked = run(self.anec, "check", f"--target={target}", str(package))
        if checked.returncode:
            return checked.stdout, 0
        arrays, problem = self.results(package)
        if problem:
            return problem, 0
        if len(arrays) != len(reference):
            return "other gradients", 0
        if not all(np.isfinite(array).all() for array in arrays):
            return "not finite", 0
        worst = max(float(np.max(np.abs(one - other), initial=0)
                          / max(np.max(np.abs(other), initial=0), 1e-6))
                    for one, other in zip(arrays, reference))
        return (None if worst <= TOLERANCE else f"differs by {worst:.2e}"), worst


def main(anec, ane_run, examples, output):
    targets = [line.split()[0] for line in
               run(anec, "--list-targets").stdout.splitlines()]
    problems, count, worst = [], 0, 0
    for path in sorted(pathlib.Path(examples).glob("*.tdsl")):
        if "\nmodel " not in path.read_text():
            continue
        example = Example(anec, ane_run, path, output)
        for target in targets:
            for flags in ([], ["--io=separate"]):
                count += 1
                problem = example.check_own_size(target, flags)
                if problem:
                    problems.append(f"{path.stem} {flags} {target}: {problem}")
        for mode in MODES:
            # Without a target, `legalize` keeps what every chip takes anyway.
            package, made = example.package(mode, "--skip-passes=legalize")
            reference, problem = example.results(package)
            if problem:
                problems.append(f"{path.stem} {mode}: {made.stdout}{problem}")
                continue
            for target in targets:
                count += 1
                problem, error = example.difference(target, mode, reference)
                worst = max(worst, error)
                if problem:
                    problems.append(f"{path.stem} {mode} {target}: {problem}")
    print("\n".join(problems + [f"{count} packages, {len(problems)} problems, "
                                f"differences up to {worst:.1e}"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
