#!/usr/bin/python3
"""Times one call of each of the Silero VAD models (weights in fp16, in int8, and
as a 4-bit palette): `ane-run bench` with fp16 numerics beside the same ops in
PyTorch, eagerly in fp32, taking turns. See ../README.md.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MODELS = ROOT / "test" / "Runtime" / "Inputs"
WEIGHTS = ("fp16", "int8", "palette-4bit")
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402


class AneRunBench:
    """A batch is one run of the tool, which loads the model first. It gives the
    median and the minimum of its runs, and they stand for all of them."""

    def __init__(self, name, command):
        self.name = name
        self.command = list(map(str, command))

    def batch(self, count):
        result = json.loads(subprocess.run(
            [*self.command, f"--iterations={count}"], check=True,
            capture_output=True).stdout)
        return [result["min_ms"]] + [result["median_ms"]] * (count - 1)

    def seconds(self):
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime


def check_results(build, work, model):
    """Both contenders must have computed the same: in fp32, as PyTorch does,
    and as the model says, with the result that Core ML gives."""
    import numpy
    inputs = [f"--input={array.stem[3:]}={array}"
              for array in sorted(model.glob("in_*.npy"))]

    def output(numerics):
        subprocess.run([build / "bin" / "ane-run", model / "model.mil", *inputs,
                        f"--numerics={numerics}", "--output-dir", work],
                       check=True, stdout=subprocess.DEVNULL)
        return numpy.load(work / "vad_output.npy").item()

    recorded = numpy.load(model / "out_vad_output.npy").item()
    computed = numpy.load(work / "torch.npy").item()
    for name, got, want, limit in (
            ("anec fp16 and Core ML", output("fp16"), recorded, 1e-3),
            ("anec fp32 and PyTorch", output("fp32"), computed, 1e-4)):
        error = abs(got / want - 1)
        print(f"{name}: relative difference {error:.1e} (limit {limit:.0e})")
        if not error <= limit:
            sys.exit(f"error: {name} differ")


def compare(build, weights, options):
    """Times one model; the ratio of its time to PyTorch's."""
    import interleaved
    model = MODELS / f"silero-vad-{weights}"
    work = build / "benchmarks" / "silero" / weights
    work.mkdir(parents=True, exist_ok=True)
    threads = str(options.threads)
    ours = AneRunBench("anec fp16",
                       [build / "bin" / "ane-run", "bench", model / "model.mil",
                        f"--threads={threads}", "--json"])
    peer = interleaved.Worker(
        "PyTorch fp32",
        [sys.executable, HERE / "torch_worker.py", model, work / "torch.npy", threads],
        peers.environment(threads))
    print(f"weights in {weights}, threads: {threads}")
    check_results(build, work, model)
    for contender in (ours, peer):
        contender.batch(options.batch)  # warm up
    results, share = interleaved.measure(
        [ours, peer], options.rounds, options.batch, options.foreign)
    ratio = interleaved.ratio_of_rounds(*results)
    for result in results:
        result.times = [milliseconds * 1e3 for milliseconds in result.times]
    print(interleaved.table(results, unit="microseconds"))
    print(f"ratio to PyTorch: {results[0].median() / results[1].median():.3f} "
          f"(medians), {ratio:.3f} (median over rounds); limit 1")
    print(f"{len(results[0].times)} runs each, measured; other processes took "
          f"{share * 100:.1f}% of the processors\n")
    peer.stop()
    return ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--weights", choices=WEIGHTS, nargs="+",
                        default=WEIGHTS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--foreign", type=float, default=0.05,
                        help="repeat a round in which others took more than "
                             "this share of the processors")
    options = parser.parse_args()
    build = options.build.resolve()
    peers.run_by()

    ratios = [compare(build, weights, options) for weights in options.weights]
    sys.exit(0 if max(ratios) < 1 else 1)


main()
