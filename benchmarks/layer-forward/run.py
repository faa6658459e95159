#!/usr/bin/python3
"""Times one Llama layer forward: anec's CPU backend (fp16 numerics) beside
onnxruntime-node and PyTorch (both fp32), taking turns. See ../README.md.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

PYTHON = "/usr/bin/python3"
ONNXRUNTIME = "onnxruntime-node@1.30.0"
OPENMP_BLAS = pathlib.Path("/usr/lib/x86_64-linux-gnu/openblas-openmp")
# Debian's torch takes whichever OpenBLAS is the default; with the pthread one
# two thread pools fight for the processors. Without mmap, malloc keeps pages.
TORCH_ENVIRONMENT = {
    "LD_LIBRARY_PATH": str(OPENMP_BLAS),
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
}


def has_module(name):
    return subprocess.run([PYTHON, "-c", f"import {name}"],
                          capture_output=True).returncode == 0


def missing_packages():
    missing = [f"python3-{name}" for name in ("numpy", "onnx", "torch")
               if not has_module(name)]
    return missing + ([] if OPENMP_BLAS.is_dir() else ["libopenblas0-openmp"])


def require_peers(work, install):
    """Installs what the peers need, or says what is missing and exits."""
    apt = ["apt-get", "install", "-y", "--no-install-recommends"]
    npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund",
           "--prefix", str(work), ONNXRUNTIME]
    wanted = []
    if missing_packages():
        wanted.append(apt + missing_packages())
    if not (work / "node_modules" / "onnxruntime-node").is_dir():
        wanted.append(npm)
    if not shutil.which("node"):
        sys.exit("error: node is missing; install Node.js 18 or later")
    if wanted and not install:
        sys.exit("error: peers are missing; run again with --install, or:\n" +
                 "\n".join("  " + " ".join(command) for command in wanted))
    for command in wanted:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def require_build(build):
    for name in ("anec", "anec-worker"):
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


def start_contenders(options, work):
    import interleaved
    import layer
    import numpy as np
    import onnx_model
    weights, x = layer.weights(), layer.activations()
    x.tofile(work / "x.bin")
    x.T.astype(np.float16).tofile(work / "x16.bin")
    onnx_model.write(str(work / "layer.onnx"), weights)
    threads = str(options.threads)
    workers = [
        interleaved.Worker(
            "anec fp16",
            [options.build / "bin" / "anec-worker", threads, work / "x16.bin",
             work / "anec.bin", *compile_layer(options.build, work, weights)]),
        interleaved.Worker(
            "onnxruntime-node fp32",
            ["node", HERE / "onnxruntime_worker.js", work / "layer.onnx",
             work / "x.bin", work / "onnxruntime.bin", threads],
            {"NODE_PATH": str(work / "node_modules")}),
        interleaved.Worker(
            "PyTorch fp32",
            [PYTHON, HERE / "torch_worker.py", work / "x.bin",
             work / "torch.bin", threads],
            {**TORCH_ENVIRONMENT, "OMP_NUM_THREADS": threads}),
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
        "onnxruntime": (np.fromfile(work / "onnxruntime.bin", np.float32)
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


def report(results, share, flop):
    import interleaved
    print(interleaved.table(results))
    ours, peers = results[0], results[1:]
    print(f"{ours.name}: {flop / ours.median() * 1e-6:.0f} GFLOP/s at the "
          "median")
    fastest = min(peers, key=lambda peer: peer.median())
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
    parser.add_argument("--install", action="store_true",
                        help="install what the peers need with apt-get, npm")
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
    require_peers(work, options.install)
    if pathlib.Path(sys.executable).resolve() != pathlib.Path(
            PYTHON).resolve():
        os.execv(PYTHON, [PYTHON, *sys.argv])  # the one with numpy and onnx

    import interleaved
    import layer
    workers = start_contenders(options, work)
    for worker in workers:
        worker.batch(options.batch)  # warm up
    results, share = interleaved.measure(workers, options.rounds,
                                         options.batch, options.foreign)
    report(results, share, layer.FLOP)
    for worker in workers:
        worker.stop()


main()
