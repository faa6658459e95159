"""The peers of the benchmarks: the packages that test/World/install puts into a Python of
its own, so PyTorch and onnxruntime are the wheels of PyPI."""

import os
import pathlib
import subprocess
import sys

INSTALL = pathlib.Path(__file__).resolve().parents[1] / "test" / "World" / "install"
# Without mmap, malloc keeps its pages.
ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": "4294967296",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
}


def python():
    """The Python of the peers, which are installed first (about 6 GB); ANEC_PEERS
    names another one."""
    if chosen := os.environ.get("ANEC_PEERS"):
        return chosen
    found = subprocess.run(["bash", INSTALL], stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit("error: the peers cannot be installed")
    return found.stdout.splitlines()[-1]


def run_by():
    """Goes on in the Python of the peers, which has numpy and onnx, and returns its
    name."""
    if "ANEC_RUN_BY_PEERS" in os.environ:
        return sys.executable
    peer = python()
    os.execvpe(peer, [peer, *sys.argv], {**os.environ, "ANEC_RUN_BY_PEERS": "1"})


# By which PyTorch and what it is made of keep to an instruction set.
INSTRUCTIONS = {
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
             "ONEDNN_MAX_CPU_ISA": "AVX2"},
}


def environment(threads):
    """The environment of PyTorch with so many threads, and with the instruction set that
    ANEC_INSTRUCTIONS names."""
    return {**ENVIRONMENT, "OMP_NUM_THREADS": str(threads),
            "MKL_NUM_THREADS": str(threads),
            **INSTRUCTIONS.get(os.environ.get("ANEC_INSTRUCTIONS"), {})}
