#!/usr/bin/python3
"""Times forward, loss and backward of a 12-layer Llama of 110M parameters: anec's
package on the CPU backend beside PyTorch, taking turns; with --optimizer whole
steps, and the peak of memory. See ../README.md.
"""

import argparse
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

SEQ, VOCAB = 256, 32000
LIMIT = 1.0
# Of whole steps: time beside PyTorch's, bytes of a parameter, and bytes besides.
STEP_LIMIT, PARAMETER_BYTES, OTHER_BYTES = 1 / 1.5, 16, 1e9
PARAMETERS = 109_529_856
FLOP = 176e9  # of the products, forward and backward


def require(build):
    for name in ("anec", "anec-session-worker", "anec-peak-worker"):
        if not (build / "bin" / name).exists():
            sys.exit(f"error: {build}/bin/{name} is missing; build with "
                     "-DANEC_BUILD_BENCHMARKS=ON, or give --build")


def start_contenders(options, work, python):
    import interleaved
    import numpy as np
    random = np.random.default_rng(1)
    for name in ("tokens", "targets"):
        random.integers(0, VOCAB, SEQ).astype("i4").tofile(work / f"{name}.bin")
    subprocess.run([options.build / "bin" / "anec",
                    ROOT / "examples" / "llama.tdsl",
                    "-o", work / "llama.anepkg"], check=True)
    threads = str(options.threads)
    data = [work / "tokens.bin", work / "targets.bin"]
    extra = ["adamw"] if options.optimizer else []
    workers = [
        interleaved.Worker(
            f"anec {numerics}",
            [options.build / "bin" / "anec-session-worker", threads, numerics,
             work / "llama.anepkg", "1", *data, work / f"{numerics}.txt",
             *extra])
        for numerics in options.numerics.split(",")]
    workers.append(interleaved.Worker(
        "PyTorch fp32",
        [python, HERE / "torch_worker.py", threads, *data, work / "torch.txt",
         *extra],
        peers.environment(threads)))
    for name in [*options.numerics.split(","), "torch"]:
        loss = float((work / f"{name}.txt").read_text())
        print(f"{name}: loss {loss:.4f} at random weights "
              f"(ln {VOCAB} = {math.log(VOCAB):.4f})")
        if not abs(loss / math.log(VOCAB) - 1) < 0.1:
            sys.exit(f"error: {name} computes something else")
    return workers


def print_usage(worker, has_limit):
    """Prints a worker's memory and parts; whether it is within the limit, which
    is not the peer's."""
    usage = worker.batch("usage")
    limit = PARAMETERS * PARAMETER_BYTES + OTHER_BYTES
    parts = ", ".join(f"{name} {usage[name]:.0f} ms" for name in
                      ("kernels", "host", "optimizer") if name in usage)
    print(f"{worker.name}: peak memory {usage['bytes'] / 1e9:.3f} GB"
          + (f"; last step: {parts}" if parts else "")
          + (f" (limit {limit / 1e9:.3f} GB)" if parts and has_limit else ""))
    return not (parts and has_limit) or usage["bytes"] <= limit


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path,
                        help="folder for the package (default: "
                             "BUILD/benchmarks/train-step)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--numerics", default="fp32,fp16")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--optimizer", action="store_true",
                        help="whole steps: clipping and AdamW as well")
    parser.add_argument("--foreign", type=float, default=0.05,
                        help="repeat a round in which others took more than "
                             "this share of the processors")
    options = parser.parse_args()
    options.build = options.build.resolve()
    work = (options.work or options.build / "benchmarks" / "train-step").resolve()
    work.mkdir(parents=True, exist_ok=True)
    require(options.build)
    python = peers.run_by()

    import interleaved
    import machine
    workers = start_contenders(options, work, python)
    for worker in workers:
        worker.batch(1)  # warm up
    results, share = interleaved.measure(workers, options.rounds,
                                         options.batch, options.foreign)
    print(interleaved.table(results))
    peak = machine.peak(options.build, options.threads)
    for result in results:
        print(machine.share(FLOP, result, peak))
    peer = results[-1]
    ratio = interleaved.ratio_of_rounds(results[0], peer)
    limit = STEP_LIMIT if options.optimizer else LIMIT
    print(f"{results[0].name} / {peer.name}: "
          f"{results[0].median() / peer.median():.3f} (medians), "
          f"{results[0].minimum() / peer.minimum():.3f} (minima), "
          f"{ratio:.3f} (median over rounds; limit {limit:.3f})")
    print(f"{len(peer.times)} runs each, measured; other processes took "
          f"{share * 100:.1f}% of the processors")
    fits = all([print_usage(worker, options.optimizer) for worker in workers])
    for worker in workers:
        worker.stop()
    return 0 if ratio <= limit and fits else 1


sys.exit(main())
