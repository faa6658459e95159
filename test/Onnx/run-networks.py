#!/usr/bin/env python3
"""Runs networks with ane-run in fp32, and compares them with onnxruntime.

usage: run-networks.py ANE_RUN FOLDER [--small] [--times] [--threads=N] [--rounds=N]
                       [--write] [--only=NETWORK]

With ANEC_ONNXRUNTIME (see onnxruntime.py), results must agree within 1e-4 of the
largest; --times prints the median and the least time of both with as many threads, each
measured in turns. Without it, --small networks must give what onnxruntime gave when
--write wrote Inputs/networks.json.
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
BATCH, WARMUP = 10, 3
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


def time_anec(ane_run, model, feeds, folder, threads):
    """The median and the least of a batch of runs, in milliseconds."""
    command = [ane_run, "bench", model, "--numerics=fp32",
               f"--threads={threads}", f"--iterations={BATCH}",
               f"--warmup={WARMUP}", "--json"]
    for name in feeds:
        command += ["--input", f"{name}={folder}/{name}.npy"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result = json.loads(done.stdout)
    return result["median_ms"], result["min_ms"]


def time_both(ane_run, worker, model, feeds, folder, args):
    """A line with the times of both, which take turns, so that what else runs
    on the machine disturbs both alike. The ratio is that of the least times, to
    which other processes add nothing."""
    ours, theirs = [], []
    for _ in range(args.rounds):
        ours.append(time_anec(ane_run, model, feeds, folder, args.threads))
        _, times = worker.run(model, feeds, WARMUP + BATCH)
        theirs.append((numpy.median(times[WARMUP:]), min(times[WARMUP:])))
    (median, least), (their_median, their_least) = (
        (numpy.median([m for m, _ in each]), min(l for _, l in each))
        for each in (ours, theirs))
    return (f"median and least {median:.2f} {least:.2f} ms, onnxruntime "
            f"{their_median:.2f} {their_least:.2f} ms, ratio "
            f"{least / their_least:.2f}")


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
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", action="append")
    args = parser.parse_args()
    peer = onnxruntime.is_installed()
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    worker = onnxruntime.Worker(args.folder / "peer", args.threads) if peer else None
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
            results, _ = worker.run(model, network.feeds)
            error = max(largest_error(outputs[key], results[key])
                        for key in outputs)
            if args.times:
                line += ", " + time_both(args.ane_run, worker, model,
                                         network.feeds, folder, args)
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
