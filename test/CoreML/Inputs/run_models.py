#!/usr/bin/env python3
"""Runs packages and compares their outputs with the expected ones: as packages, and as
the MIL and the packages that anec writes of them, which must be the same programs.

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
    if "classLabel" in run_of:
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
        forms = {"package": package}
        for form, ending in (("mil", ".mil"), ("written", ".mlpackage")):
            forms[form] = folder / f"{index}{ending}"
            if not run(anec, package, *function, *shapes, "-o", forms[form]):
                return 0
        # The same program in another order of formats, and the same bytes.
        forms["again"] = folder / f"{index}-again.mlpackage"
        run(anec, forms["mil"], "-o", forms["again"])
        run(anec, "diff", forms["mil"], forms["again"])
        # A classifier in MIL is the index of the class.
        if "classLabel" not in run_of:
            run(anec, "diff", forms["mil"], forms["written"])
        if not function and not any("?" in shape for shape in shapes):
            run(anec, "diff", *shapes, package, forms["written"])
        twice = folder / f"{index}-twice.mlpackage"
        run(anec, package, *function, *shapes, "-o", twice)
        for file in ("Manifest.json", "Data/com.apple.CoreML/model.mlmodel"):
            if (forms["written"] / file).read_bytes() != (twice / file).read_bytes():
                wrong.append(f"{case.name}: {file} differs when it is written twice")
        for form, program in forms.items():
            # Text knows arrays, not images.
            if form in ("mil", "again") and "image_layout" in run_of:
                continue
            out = folder / f"{index}-{form}"
            carried = [f"--state={name}={before[form] / (name + '.npy')}"
                       for name in states if run_of.get("carry_state")]
            flags = function if form in ("package", "written") else []
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
