"""Runs every model of a folder on its inputs, and compares the results.

usage: check-bundles.py ANE_RUN WORK_FOLDER MODEL_FOLDER...

The norm of the difference is at most 1e-3 of the result's; 1e-2 for the states
of recurrent models, which sum up what every step rounded.
"""

import pathlib
import shutil
import subprocess
import sys

import numpy

TOLERANCE = 1e-3
STATE_TOLERANCE = 1e-2


def check(ane_run, work, model):
    arguments = [ane_run, model / "model.mil", "--output-dir", work]
    for array in sorted(model.glob("in_*.npy")):
        arguments += ["--input", f"{array.stem[3:]}={array}"]
    subprocess.run(arguments, check=True)
    expected = sorted(model.glob("out_*.npy"))
    assert expected, f"{model} has no results to compare with"
    passed = True
    for array in expected:
        name = array.stem[4:]
        want = numpy.load(array)
        got = numpy.load(work / f"{name}.npy")
        assert got.shape == want.shape, f"{model.name}: {name} is {got.shape}"
        assert got.dtype == want.dtype, f"{model.name}: {name} is {got.dtype}"
        difference = numpy.linalg.norm(
            got.astype(numpy.float64) - want.astype(numpy.float64))
        norm = numpy.linalg.norm(want.astype(numpy.float64))
        limit = STATE_TOLERANCE if "state" in name else TOLERANCE
        if not difference <= limit * norm:
            print(f"{model.name}: {name} is off by {difference / norm:g}, "
                  f"more than {limit:g}")
            passed = False
    return passed


def main():
    ane_run, work = sys.argv[1], pathlib.Path(sys.argv[2])
    models = [pathlib.Path(model) for model in sys.argv[3:]]
    assert models
    passed = True
    for model in models:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        passed &= check(ane_run, work, model)
    sys.exit(0 if passed else 1)


main()
