#!/usr/bin/env python3
"""Runs packages and compares their outputs with the expected ones: as packages, and as
the MIL that anec writes of them.

  run_models.py ANEC ANE_RUN MODELS FOLDER"""
import json
import pathlib
import subprocess
import sys

import numpy

wrong = []


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        wrong.append(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.returncode == 0


def compare(name, case, about, run_of, folder):
    tolerance = about["tolerance"]
    for output, file in run_of["outputs"].items():
        expected = numpy.load(case / file).astype(numpy.float64)
        got = numpy.load(folder / (output + ".npy")).astype(numpy.float64)
        limit = tolerance["rel"] * abs(expected)
        limit += tolerance["abs_of_max"] * abs(expected).max()
        if got.shape != expected.shape or (abs(got - expected) > limit).any():
            wrong.append(f"{name}: {output} is off by {abs(got - expected).max()}")
    if "classLabel" in run_of and "mil" not in name:
        label = str(numpy.load(folder / "classLabel.npy"))
        if label != str(run_of["classLabel"]):
            wrong.append(f"{name}: the label is {label}")


def check(anec, ane_run, case, folder):
    about = json.loads((case / "about.json").read_text())
    package = case / "model.mlpackage"
    if about.get("bad"):
        for command in ([anec, package, "--emit=mil"], [ane_run, package]):
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 1 or "model.mlmodel: error: " not in result.stderr:
                wrong.append(f"{case.name}: {result.returncode}, {result.stderr}")
        return 0
    states = {one["name"] for function in about["functions"] for one in function["states"]}
    before = {}
    for index, run_of in enumerate(about["runs"]):
        function = ["--function=" + run_of["function"]] if "function" in run_of else []
        inputs = [f"--input={name}={case / file}" for name, file in run_of["inputs"].items()]
        shapes = ["--shape=" + name + "=" + "x".join(map(str, numpy.load(case / file).shape))
                  for name, file in run_of["inputs"].items()
                  if name != "image" or "image_layout" not in run_of]
        text = folder / f"{index}.mil"
        if not run(anec, package, *function, *shapes, "-o", text):
            return 0
        run(anec, "diff", text, text)
        for form, program in (("package", package), ("mil", text)):
            # Text knows arrays, not images.
            if form == "mil" and "image_layout" in run_of:
                continue
            out = folder / f"{index}-{form}"
            carried = [f"--state={name}={before[form] / (name + '.npy')}"
                       for name in states if run_of.get("carry_state")]
            flags = function if form == "package" else []
            if run(ane_run, program, *flags, *inputs, *carried, "--output-dir", out):
                compare(f"{case.name} {form} {index}", case, about, run_of, out)
            before[form] = out
    return len(about["runs"])


def main(anec, ane_run, models, folder):
    cases = sorted(path.parent for path in pathlib.Path(models).glob("*/about.json"))
    runs = 0
    for case in cases:
        work = pathlib.Path(folder) / case.name
        work.mkdir(parents=True, exist_ok=True)
        runs += check(anec, ane_run, case, work)
    print("\n".join(wrong + [f"{len(cases)} packages, {runs} runs, {len(wrong)} wrong"]))
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
