#!/usr/bin/env python3
"""Compares random models in ONNX with onnxruntime, value by value.

usage: ANEC_ONNXRUNTIME=FOLDER random-models.py ANE_RUN FOLDER [--seed=N] [--models=N]
                                                [--seconds=N]

Every value of a model is an output. At the first that differs, the node is written to
FOLDER/SEED.onnx as a model of its own, with the values that onnxruntime computed as
inputs, and run again.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys
import time

import numpy

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))
import onnxruntime
from onnx_writer import Graph
from random_graph import RandomGraph

OPSET = 16


class Refused(Exception):
    pass


def run_anec(ane_run, model, feeds, folder):
    command = [ane_run, model, "--numerics=fp32", f"--output-dir={folder}/out"]
    for name, array in feeds.items():
        numpy.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                          timeout=60)
    if done.returncode == 0:
        return
    line = next((line for line in done.stderr.splitlines() if "error: " in line),
                "")
    if done.returncode != 1 or not re.search(r"\[[a-z0-9-]+\]$", line):
        raise AssertionError(f"crash, exit code {done.returncode}: {done.stderr}")
    raise Refused(line.split("error: ", 1)[1])


def difference(got, expected, slack=0):
    """None, or what differs by more than rounding and `slack`."""
    if got.shape != expected.shape:
        return f"shape {list(got.shape)}, not {list(expected.shape)}"
    got, expected = got.astype(numpy.float64), expected.astype(numpy.float64)
    finite = numpy.isfinite(expected) & (numpy.abs(expected) < 1e30)
    scale = numpy.abs(expected[finite]).max() if finite.any() else 1
    good = numpy.abs(got - expected) <= (
        1e-4 * numpy.abs(expected) + 1e-5 * scale + slack)
    bad = finite & ~good
    if not bad.any():
        return None
    index = tuple(numpy.argwhere(bad)[0])
    return f"{got[index]}, not {expected[index]}, at {list(map(int, index))}"


def one_node(graph, node, values, path):
    """Writes a model of that node, with known values of its inputs."""
    own = Graph("node")
    constants = {tensor["name"]: tensor for tensor in graph.initializers}
    feeds = {}
    for name in node["input"]:
        if name in constants:
            own.initializers.append(constants[name])
        elif name and name not in feeds:
            feeds[name] = values[name]
            own.input(name, values[name].dtype, list(values[name].shape))
    own.nodes.append(node)
    for name in node["output"]:
        own.output(name, values[name].dtype, None)
    own.save(path, OPSET)
    return feeds


def check(seed, worker, ane_run, folder):
    """None, or what is wrong with the model of a seed."""
    random = RandomGraph(seed)
    graph, model = random.graph, folder / "model.onnx"
    graph.save(model, OPSET)
    expected, _ = worker.run(model, random.feeds, optimize=False)
    values = {**random.feeds, **expected}
    try:
        run_anec(ane_run, model, random.feeds, folder)
        if all(not difference(numpy.load(folder / "out" / f"{name}.npy"), array)
               for name, array in expected.items()):
            return None
    except Refused:
        pass
    # A node is right if it is right with the peer's inputs.
    for node in graph.nodes:
        path = folder / f"{seed}.onnx"
        feeds = one_node(graph, node, values, path)
        if any(numpy.isnan(array).any() for array in feeds.values()):
            continue  # where NaN goes in an order or a maximum is not defined
        try:
            run_anec(ane_run, path, feeds, folder)
        except Refused as error:
            raise Refused(f"{node['op_type']}: {error}") from None
        # What large inputs cancel to.
        slack = 1e-6 * max((numpy.abs(array[numpy.isfinite(array)]).max(initial=0)
                            for array in feeds.values()), default=0) + 1e-7
        for name in node["output"]:
            text = difference(numpy.load(folder / "out" / f"{name}.npy"),
                              expected[name], slack)
            if text:
                return f"{node['op_type']}: {text}; {path}"
        path.unlink()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    worker = onnxruntime.Worker(args.folder / "peer")
    counts, reasons = collections.Counter(), collections.Counter()
    end = time.monotonic() + args.seconds
    for seed in range(args.seed, args.seed + args.models):
        if time.monotonic() > end:
            break
        try:
            text = check(seed, worker, args.ane_run, args.folder)
        except onnxruntime.Refused as error:
            counts["refused by onnxruntime"] += 1
            reasons[str(error).splitlines()[0][:150]] += 1
            continue
        except Refused as error:
            counts["refused"] += 1
            reasons[re.sub(r"`[^`]*`|[0-9]+", "#", str(error))] += 1
            continue
        except (AssertionError, subprocess.TimeoutExpired) as error:
            text = str(error)
        counts["wrong" if text else "equal"] += 1
        if text:
            print(f"seed {seed}: {text}", flush=True)
    worker.close()
    for reason, count in reasons.most_common():
        print(f"{count} x {reason}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return 1 if counts["wrong"] or not counts["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
