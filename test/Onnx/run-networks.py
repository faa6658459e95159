#!/usr/bin/env python3
"""Runs networks with ane-run in fp32, and compares them with onnxruntime.

usage: run-networks.py ANE_RUN FOLDER [--small] [--times] [--write] [--only=NETWORK]

With ANEC_ONNXRUNTIME (see onnxruntime.py), results must agree within 1e-4 of the
largest; --times prints times of both on one thread. Without it, --small networks must
give what onnxruntime gave when --write wrote Inputs/networks.json.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import numpy

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "Inputs"))
import networks
import onnxruntime

TOLERANCE = 1e-4
EXPECTED = HERE / "Inputs" / "networks.json"


def digest(array):
    """A few numbers that depend on every element."""
    flat = array.astype(numpy.float64).ravel()
    waves = numpy.cos(numpy.outer(numpy.arange(1, 6), numpy.arange(flat.size)))
    scale = numpy.sqrt(flat.size)
    return [flat.mean(), flat.std(), *(waves @ flat / scale)]


def run_anec(ane_run, model, feeds, folder):
    command = [ane_run, model, "--numerics=fp32", f"--output-dir={folder}/out"]
    for name, array in feeds.items():
        numpy.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder}/{name}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def time_anec(ane_run, model, feeds, folder):
    command = [ane_run, "bench", model, "--numerics=fp32", "--threads=1",
               "--iterations=10", "--warmup=3", "--json"]
    for name in feeds:
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def largest_error(got, expected):
    scale = max(float(numpy.abs(expected).max()), 1e-30)
    difference = numpy.abs(got.astype(numpy.float64) - expected)
    return float(difference.max()) / scale if got.shape == expected.shape else 1e30


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ane_run")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", action="append")
    args = parser.parse_args()
    peer = onnxruntime.is_installed()
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    worker = onnxruntime.Worker(args.folder / "peer") if peer else None
    wrong = compared = 0
    for name in args.only or networks.NETWORKS:
        network, opset = networks.NETWORKS[name](args.small)
        folder = args.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        model = folder / f"{name}.onnx"
        network.save(model, opset)
        run_anec(args.ane_run, model, network.feeds, folder)
        outputs = {value["name"]: numpy.load(folder / "out" / f"{value['name']}.npy")
                   for value in network.outputs}
        line = f"{name}: {len(network.nodes)} nodes"
        if peer:
            results, times = worker.run(model, network.feeds,
                                        13 if args.times else 1)
            error = max(largest_error(outputs[key], results[key])
                        for key in outputs)
            if args.times:
                own = time_anec(args.ane_run, model, network.feeds, folder)
                line += (f", {own['median_ms']:.2f} ms, onnxruntime "
                         f"{numpy.median(times[3:]):.2f} ms")
            if args.write:
                expected[name] = [digest(results[key]) for key in outputs]
        else:
            digests = [digest(outputs[key]) for key in outputs]
            error = largest_error(numpy.array(digests),
                                  numpy.array(expected[name]))
        line += f", largest difference {error:.1e}"
        compared += 1
        if not error <= TOLERANCE:
            wrong += 1
            line += ": wrong"
        print(line, flush=True)
    if worker:
        worker.close()
    if args.write:
        EXPECTED.write_text(json.dumps(expected, indent=1) + "\n")
    print(f"{compared} networks, {wrong} wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
