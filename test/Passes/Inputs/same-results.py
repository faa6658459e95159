#!/usr/bin/env python3
"""Runs packages of one model with the same weights, and compares loss and
gradients with those of the first.

usage: same-results.py ANE_RUN FOLDER INPUT=LENGTH:MOST... PACKAGE..."""
import pathlib
import subprocess
import sys

import numpy as np


def main(ane_run, folder, *arguments):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(1)
    flags, packages = [], []
    for argument in arguments:
        if "=" not in argument:
            packages.append(argument)
            continue
        name, extents = argument.split("=")
        length, most = map(int, extents.split(":"))
        np.save(folder / f"{name}.npy",
                random.integers(0, most, length, dtype=np.int32))
        flags += ["--input", f"{name}={folder / name}.npy"]
    results = []
    for package in packages:
        subprocess.run([ane_run, package, *flags, "--init=1", "--output-dir",
                        folder / "out", "--gradients", folder / "gradients"],
                       check=True)
        results.append([np.load(path) for part in ("out", "gradients")
                        for path in sorted((folder / part).glob("*.npy"))])
    first, *others = results
    for package, result in zip(packages[1:], others):
        for one, other in zip(first, result, strict=True):
            error = np.max(np.abs(one - other)) / max(np.max(np.abs(one)), 1e-6)
            print(f"{pathlib.Path(package).name}: {one.shape} differs by "
                  f"{error:.1e}")
            if not error <= 4e-3:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
