#!/usr/bin/python3
"""Times one Llama layer forward: anec's CPU backend (fp16 numerics) beside
onnxruntime and PyTorch (both fp32, PyPI's wheels), taking turns. See ../README.md.
"""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

def require_build(build):
    for name in ("anec", "anec-worker", "anec-peak-worker"):
        if not (build / "bin" / name).exists():
            sys.exit(f"error: {build}/bin/{name} is missing; build with "
                     "-DANEC_BUILD_BENCHMARKS=ON, or give --build")


def compile_layer(build, work, weights):
    """The two MIL programs of the layer."""
    import layer
    layer.write_safetensors(work / "layer.safetensors", weights)
    programs = []
    for name in ("attention", "feed_forward"):
        programs.append(str(work / f"{name}.mil"))
        subprocess.run([build / "bin" / "anec",
                        ROOT / "examples" / f"{name}.tdsl",
                        f"--weights={work / 'layer.safetensors'}",
                        "-o", programs[-1]], check=True)
    return programs


def start_contenders(options, work, python):
    import interleaved
    import layer
    import numpy as np
    import onnx_model
    weights, x = layer.weights(), layer.activations()
    x.tofile(work / "x.onnx.bin")
    x.T.astype(np.float16).tofile(work / "x16.bin")
    onnx_model.write(str(work / "model.onnx"), weights)
    shape = ["float32", [1, *x.shape]]
    (work / "ports.json").write_text(
        json.dumps({"inputs": {"x": shape}, "outputs": {"y": shape}}))
    threads = str(options.threads)
    workers = [
        interleaved.Worker(
            "anec fp16",
            [options.build / "bin" / "anec-worker", threads, work / "x16.bin",
             work / "anec.bin", *compile_layer(options.build, work, weights)]),
        interleaved.Worker(
            "onnxruntime fp32",
            [python, HERE.parent / "onnxruntime_worker.py", threads, work]),
        interleaved.Worker(
            "PyTorch fp32",
            [python, HERE / "torch_worker.py", work / "x.onnx.bin",
             work / "torch.bin", threads], peers.environment(threads)),
    ]
    check_results(work, layer.reference(x, weights))
    return workers


def check_results(work, reference):
    """All contenders must have computed the same layer."""
    import layer
    import numpy as np
    ours = np.fromfile(work / "anec.bin", np.float16)
    results = {
        "anec": (ours.reshape(layer.DIM, layer.SEQ).T, 5e-3),
        "onnxruntime": (np.fromfile(work / "y.onnx.out", np.float32)
                        .reshape(reference.shape), 1e-5),
        "torch": (np.fromfile(work / "torch.bin", np.float32)
                  .reshape(reference.shape), 1e-5),
    }
    for name, (result, limit) in results.items():
        error = np.linalg.norm(result.astype(np.float64) - reference)
        error /= np.linalg.norm(reference)
        print(f"{name}: relative error {error:.1e} (limit {limit:.0e})")
        if not error <= limit:
            sys.exit(f"error: {name} computes something else")


def report(results, share, flop, peak):
    import interleaved
    import machine
    print(interleaved.table(results))
    ours, others = results[0], results[1:]
    for result in results:
        print(machine.share(flop, result, peak))
    fastest = min(others, key=lambda peer: peer.median())
    print(f"ratio to {fastest.name}, the faster peer: "
          f"{ours.median() / fastest.median():.3f} (medians), "
          f"{ours.minimum() / fastest.minimum():.3f} (minima), "
          f"{interleaved.ratio_of_rounds(ours, fastest):.3f} (median over "
          "rounds); below 1 anec is faster")
    print(f"{len(ours.times)} runs each, measured; other processes took "
          f"{share * 100:.1f}% of the processors")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path,
                        help="folder for models and peers (default: "
                             "BUILD/benchmarks/layer-forward)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--foreign", type=float, default=0.05,
                        help="repeat a round in which others took more than "
                             "this share of the processors")
    options = parser.parse_args()
    options.build = options.build.resolve()
    work = options.work or options.build / "benchmarks" / "layer-forward"
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    require_build(options.build)
    python = peers.run_by()

    import interleaved
    import layer
    import machine
    workers = start_contenders(options, work, python)
    for worker in workers:
        worker.batch(options.batch)  # warm up
    results, share = interleaved.measure(workers, options.rounds,
                                         options.batch, options.foreign)
    report(results, share, layer.FLOP,
           machine.peak(options.build, options.threads))
    for worker in workers:
        worker.stop()


main()
