#!/usr/bin/env python3
"""Runs the tests of a build for arm64 in qemu, and compares what it writes and trains
with the build for this machine.

  compare.py BUILD NATIVE WORK RESULTS    # two builds, a folder, and a file in lit's form"""
import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIT = "/usr/lib/llvm-19/build/utils/lit/lit.py"
# What lit runs, by qemu's name of the processor: one with all instructions that qemu
# knows, and one of 2012. A selection, because qemu is slow; the digests are of bytes
# that g++ for this machine wrote.
CPU_TESTS = "|".join([
    r"Runtime/(instructions|late-state|profile)\.", r"Ops/[a-d][a-z_]*\.ir",
    r"Gradients/(activations|norms|products|unary)\.ir", r"(Package|Onnx)/digests\."])
SUITES = [
    # Of products, CpuTiles has the part that takes no minutes.
    ("unit tests", "max", r" Unit/(?!Runtime/CpuProducts\.)"),
    ("CPU backend", "max", f" ({CPU_TESTS})"),
    ("CPU kernels on a Cortex-A53", "cortex-a53", r" Unit/Runtime/Cpu(Tiles|Merging)\."),
]
# Of losses, relative: sums are added in another order.
TOLERANCE = {"fp32": 1e-5, "fp16": 2e-3}
PASSED = ("PASS", "XFAIL", "FLAKYPASS")
SKIPPED = ("UNSUPPORTED", "EXCLUDED", "SKIPPED")


def record(name, passed, output=""):
    return {"code": "PASS" if passed else "FAIL", "name": f"aarch64 :: {name}",
            "output": output, "elapsed": 0}


def run_lit(build, work, title, processor, wanted):
    """The results of the tests whose names `wanted` matches."""
    results = work / "lit.json"
    results.unlink(missing_ok=True)
    begin = time.monotonic()
    done = subprocess.run([sys.executable, LIT, "-s", "--output", results, "--filter",
                           wanted, build / "test"], capture_output=True, text=True,
                          env=dict(os.environ, QEMU_CPU=processor))
    if not results.exists():
        return [record(title, False, done.stdout + done.stderr)]
    tests = json.loads(results.read_text())["tests"]
    tests = [test for test in tests if test["code"] != "EXCLUDED"]
    for test in tests:
        test["name"] = f"aarch64 {processor}: {test['name']}"
    passed = sum(test["code"] in PASSED for test in tests)
    skipped = sum(test["code"] in SKIPPED for test in tests)
    print(f"aarch64, {title}: {passed} passed, {len(tests) - passed - skipped} failed, "
          f"{skipped} skipped, {time.monotonic() - begin:.0f} s", flush=True)
    return tests or [record(title, False, "no test has such a name")]


def train(tools, work, numerics):
    """A package and the losses of a small language model on a page of documentation."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for command in (
            [tools / "anec", "test/Train/Inputs/tiny.tdsl", "-o", work / "tiny.anepkg"],
            [tools / "ane-run", "train", work / "tiny.anepkg", "--data",
             "docs/reference/language.md", "--batch", "4", "--steps", "30", "--lr", "1e-2",
             "--validation", "0", "--seed", "1", f"--numerics={numerics}",
             "--checkpoint", work / "run"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    rows = map(json.loads, (work / "run/train.jsonl").read_text().splitlines())
    return [row["loss"] for row in rows if "loss" in row]


def compare_training(build, native, work, numerics):
    losses = {}
    for name, tools in (("native", native / "bin"), ("aarch64", build / "emulated")):
        losses[name] = train(tools, work / f"{name}-{numerics}", numerics)
    pairs = list(zip(*losses.values(), strict=True))
    worst = max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
    text = (f"aarch64, losses in {numerics}: {len(pairs)} steps, {pairs[0][0]:.4f} to "
            f"{pairs[-1][0]:.4f}, at most {worst:.2g} beside this machine's")
    print(text, flush=True)
    learns = pairs[-1][1] < pairs[0][1] - 0.5
    return record(f"training in {numerics}", worst <= TOLERANCE[numerics] and learns, text)


def compare_packages(work):
    """The packages that were trained, file by file."""
    first, second = (work / f"{name}-fp32/tiny.anepkg" for name in ("native", "aarch64"))
    files = [sorted(path.relative_to(folder) for path in folder.rglob("*")
                    if path.is_file()) for folder in (first, second)]
    differ = [str(name) for name in files[0]
              if not filecmp.cmp(first / name, second / name, shallow=False)]
    print(f"aarch64, package: {len(files[0])} files, {len(differ)} differ", flush=True)
    return record("bytes of a package", files[0] == files[1] and not differ,
                  ", ".join(differ))


def main(build, native, work, results):
    build, native, work = (pathlib.Path(path).resolve() for path in (build, native, work))
    work.mkdir(parents=True, exist_ok=True)
    tests = []
    for suite in SUITES:
        tests += run_lit(build, work, *suite)
    try:
        tests += [compare_training(build, native, work, each) for each in TOLERANCE]
        tests.append(compare_packages(work))
    except (subprocess.CalledProcessError, OSError, ValueError) as problem:
        tests.append(record("training", False, str(problem)))
    pathlib.Path(results).write_text(json.dumps({"tests": tests}))
    failed = [test for test in tests if test["code"] not in PASSED + SKIPPED]
    for test in failed:
        print(f"{test['code']}: {test['name']}\n{test['output'][-4000:]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
