#!/usr/bin/env python3
"""Runs random convolutions with one and with three threads: the results must have the
same bits, and be those of the reference in double precision.

  random-convs.py ANE_RUN FOLDER [--cases=N] [--seed=N]

A failing case is made smaller, one number at a time, before it is printed."""
import argparse
import pathlib
import random
import re
import subprocess
import sys

TOLERANCE = {"fp32": 2e-6, "fp16": 1e-3}


def draw(source):
    spatial = source.choice([1, 2, 2, 2, 3])
    groups = source.choice([1, 1, 1, 2, 3])
    case = {
        "dtype": source.choice(["fp32", "fp16"]),
        "images": source.choice([1, 1, 2, 3]),
        "groups": groups,
        "inputs": source.choice([1, 3, 16, 33, 65, source.randint(1, 80)]),
        "outputs": source.choice([1, 2, 6, 17, 48, 50, source.randint(1, 100)]),
        "bias": source.random() < 0.5,
        "axes": [],
    }
    for axis in range(spatial):
        most = {1: 700, 2: 40, 3: 10}[spatial]
        kernel = source.choice([1, 1, 2, 3, 3, 5])
        dilation = source.choice([1, 1, 2, 3])
        case["axes"].append({
            "kernel": kernel, "dilation": dilation, "stride": source.choice([1, 1, 2, 3]),
            "before": source.randint(0, 3), "after": source.randint(0, 3),
            "extent": source.randint(1, most) + (kernel - 1) * dilation})
    return case


def program(case):
    axes, dtype = case["axes"], case["dtype"]

    def tensor(*shape):
        return f"tensor<{dtype}, [{', '.join(map(str, shape))}]>"

    def const(name, values):
        kind = f"tensor<int32, [{len(values)}]>"
        return (f"    {kind} {name} = const()[name = string(\"{name}\"), "
                f"val = {kind}({list(values)})];")

    outputs = case["outputs"] * case["groups"]
    x = tensor(case["images"], case["inputs"] * case["groups"], *(a["extent"] for a in axes))
    w = tensor(outputs, case["inputs"], *(a["kernel"] for a in axes))
    y = tensor(case["images"], outputs,
               *((a["extent"] + a["before"] + a["after"] - (a["kernel"] - 1) * a["dilation"] - 1)
                 // a["stride"] + 1 for a in axes))
    bias = "bias = b, " if case["bias"] else ""
    ports = f"{x} x, {w} w" + (f", {tensor(outputs)} b" if case["bias"] else "")
    return "\n".join([
        "program(1.3)", "{", f"  func main<ios18>({ports}) {{",
        const("st", [a["stride"] for a in axes]), const("di", [a["dilation"] for a in axes]),
        const("pd", [a[side] for a in axes for side in ("before", "after")]),
        '    string pt = const()[name = string("pt"), val = string("custom")];',
        f'    int32 gr = const()[name = string("gr"), val = int32({case["groups"]})];',
        f"    {y} y = conv({bias}dilations = di, groups = gr, pad = pd, pad_type = pt, "
        'strides = st, weight = w, x = x)[name = string("y")];',
        "  } -> (y);", "}", ""])


def problem(ane_run, folder, case):
    """What is wrong with a case; empty when nothing is."""
    file = folder / "conv.mil"
    file.write_text(program(case))
    inputs = ["--input=x=random:1", "--input=w=random:2"]
    inputs += ["--input=b=random:3"] if case["bias"] else []
    results = []
    for threads in (1, 3):
        out = folder / f"threads{threads}"
        result = subprocess.run(
            [ane_run, file, f"--numerics={case['dtype']}", f"--threads={threads}", *inputs,
             "--compare", "--output-dir", out], capture_output=True, text=True)
        if result.returncode:
            return result.stderr or f"exit code {result.returncode}"
        error = float(re.search(r"relative error (\S+) against", result.stdout)[1])
        if not error <= TOLERANCE[case["dtype"]]:
            return f"relative error {error}"
        results.append((out / "y.npy").read_bytes())
    return "" if results[0] == results[1] else "the bits depend on the number of threads"


def smaller(case):
    """Cases with one number less."""
    for key in ("images", "groups", "inputs", "outputs"):
        if case[key] > 1:
            yield {**case, key: case[key] // 2}
            yield {**case, key: case[key] - 1}
    if case["bias"]:
        yield {**case, "bias": False}
    for at, axis in enumerate(case["axes"]):
        for key, least in (("kernel", 1), ("dilation", 1), ("stride", 1), ("before", 0),
                           ("after", 0), ("extent", (axis["kernel"] - 1) * axis["dilation"] + 1)):
            if axis[key] > least:
                axes = list(case["axes"])
                axes[at] = {**axis, key: axis[key] - 1}
                yield {**case, "axes": axes}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for number in range(args.cases):
        case = draw(random.Random(args.seed * 1000003 + number))
        said = problem(args.ane_run, args.folder, case)
        if not said:
            continue
        while True:
            for less in smaller(case):
                if problem(args.ane_run, args.folder, less):
                    case = less
                    break
            else:
                break
        sys.exit(f"case {number}: {said}\nsmaller: {case}\n{program(case)}")
    print(f"{args.cases} convolutions, 0 failed")


main()
