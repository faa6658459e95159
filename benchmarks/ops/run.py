#!/usr/bin/python3
"""Times every op of op_table.py on anec's CPU backend beside onnxruntime (PyPI's
wheel), taking turns. See ../README.md.
"""

import argparse
from importlib import metadata
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402

if __name__ == "__main__":
    peers.run_by()

import numpy as np  # noqa: E402
import interleaved  # noqa: E402
import onnx_writer  # noqa: E402
import op_table  # noqa: E402

INTRODUCTION = """<!-- Made by `benchmarks/ops/run.py --markdown`; do not edit. -->

# Times of ops

Milliseconds of single ops on the [CPU backend](../use/numerics.md) in fp32 beside
onnxruntime {version}: the median of all runs and the least of them, with two threads
each, taking turns ([how](../../benchmarks/README.md#ops)). The ratio is that of the least
times; below 1 anec is faster. Of {count} ops {slower} have a ratio above 2; the
geometric mean is {mean:.2f}. Measured on {processor}, which others used at the same time:
compare the columns of one row only. {again}

"""
AGAIN = """Ops whose ratio was above {above} were measured up to {times} times
more; their rows have the times of all runs of both."""
IR_TYPES = {"float32": "fp32", "int32": "int32", "bool": "bool"}


def ir_type(array):
    return f"{IR_TYPES[array.dtype.name]}[{', '.join(map(str, array.shape))}]"


def ir_constant(name, array):
    values = ", ".join(repr(float(v)) for v in array.ravel())
    return (f"%{name} = const() {{val = {ir_type(array)}({values})}} : "
            f"{ir_type(array)}")


def results_of(case):
    """Names and IR types of what the last statement computes."""
    names = case.body.splitlines()[-1].split(" = ")[0].split(", ")
    types = case.types[-1].replace("], ", "]|").split("|")
    return [(name[1:], kind) for name, kind in zip(names, types)]


def ir_text(case):
    inputs = ", ".join(f"%{name}: {ir_type(array)}"
                       for name, array in case.inputs.items())
    results = results_of(case)
    outputs = ", ".join(f"%{name}: {kind}" for name, kind in results)
    lines = [ir_constant(name, array)
             for name, array in case.constants.items() if array is not None]
    lines += [f"{statement} : {kind}" for statement, kind
              in zip(case.body.splitlines(), case.types)]
    names = ", ".join("%" + name for name, _ in results)
    return (f"kernel @op({inputs}) -> ({outputs}) {{\n  " +
            "\n  ".join(lines) + f"\n  return {names}\n}}\n")


def for_onnx(array):
    """Integers are 64 bits wide in ONNX."""
    return array.astype(np.int64) if array.dtype == np.int32 else array


def onnx_model(case, ports):
    graph = onnx_writer.Graph()
    constants = dict(case.constants)
    if "slope" in constants:  # of PRelu, which has no axis of channels
        constants["slope"] = constants["a"][:, None, None]
    last = None
    for number, node in enumerate(case.nodes):
        kind, operands, attributes, *names = node
        is_last = number + 1 == len(case.nodes)
        names = names[0] if names else ["y" if is_last else f"t{number}"]
        operands = [constants.get(last if each == "_" else each,
                                  last if each == "_" else each)
                    if isinstance(each, str) else each for each in operands]
        graph.node(kind, operands, names, attributes)
        last = names[0]
    return graph.model(ports["inputs"], ports["outputs"])


def ports_of(case):
    wide = {"fp32": "float32", "int32": "int64", "bool": "bool"}
    outputs = {}
    for name, kind in results_of(case):
        element, _, shape = kind.rstrip("]").partition("[")
        outputs[name] = (wide[element], [int(n) for n in shape.split(", ")]
                         if shape else [])
    inputs = {name: (for_onnx(array).dtype.name, list(array.shape))
              for name, array in case.inputs.items()}
    return {"inputs": inputs, "outputs": outputs}


def write(case, folder):
    ports = ports_of(case)
    (folder / "op.ir").write_text(ir_text(case))
    (folder / "model.onnx").write_bytes(onnx_model(case, ports))
    (folder / "ports.json").write_text(json.dumps(ports))
    for name, array in case.inputs.items():
        array.tofile(folder / f"{name}.bin")
        for_onnx(array).tofile(folder / f"{name}.onnx.bin")
    return ports


def check(case, ports, folder):
    """What is wrong when both have not computed the same."""
    narrow = {"float32": np.float32, "int64": np.int32, "bool": bool}
    for name, (element, _) in ports["outputs"].items():
        ours = np.fromfile(folder / f"{name}.anec", narrow[element])
        theirs = np.fromfile(folder / f"{name}.onnx.out", element)
        if len(ours) != len(theirs):
            return "the sizes of results differ"
        distance = np.abs(ours.astype(np.float64) - theirs)
        scale = max(1e-30, float(np.abs(theirs.astype(np.float64)).max()))
        worst = float(np.max(distance)) / scale
        if not worst <= case.tolerance:
            return f"results differ by {worst:.1e}"
    return ""


def measure(case, options, work):
    """The times of each contender, or what is wrong."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    ports = write(case, folder)
    threads = str(options.threads)
    workers = [interleaved.Worker(
        "anec", [options.worker, threads, folder / "op.ir", folder])]
    if not options.alone:
        workers.append(interleaved.Worker(
            "onnxruntime", [sys.executable, HERE.parent / "onnxruntime_worker.py",
                            threads, folder]))
        if wrong := check(case, ports, folder):
            return wrong
    # About 5 ms of each at a time, at least 3 runs.
    once = min(workers[0].batch(3))
    batch = min(50, max(3, int(5 / max(once, 1e-3))))
    results, _ = interleaved.measure(workers, options.rounds, batch,
                                     options.foreign, retries=0)
    for worker in workers:
        worker.stop()
    shutil.rmtree(folder)
    return results


def ratio_of(results):
    # What other processes take can only add to the least times.
    return results[0].minimum() / results[1].minimum()


def measure_again(case, options, results):
    """More runs of both, while the ratio is above the limit, so that a row that
    others disturbed is not kept for what it is."""
    for _ in range(options.again):
        if ratio_of(results) <= options.again_above:
            return
        added = measure(case, options, options.work)
        if isinstance(added, str):
            sys.exit(f"error: {case.name}: another run was wrong: {added}")
        for result, more in zip(results, added):
            result.times += more.times
            result.rounds += more.rounds


def describe(case):
    return ", ".join("x".join(map(str, array.shape)) or "scalar"
                     for array in case.inputs.values())


def processor():
    """The name of the processor, and how many there are."""
    with open("/proc/cpuinfo") as info:
        names = [line.partition(":")[2].strip() for line in info
                 if line.startswith("model name")]
    return f"{len(names)} cores of an {names[0]}" if names else "a machine"


def rows_of(path):
    """The lines of a table, by op."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {line.split(" | ")[0][2:]: line for line in lines
            if line.startswith("| ") and not line.startswith("| op |")}


def markdown(rows, options):
    """The table; ops that were not measured keep their rows."""
    lines = rows_of(options.markdown)
    for case, ours, theirs, ratio in rows:
        times = " | ".join(f"{time:.3f}" for each in (ours, theirs)
                           for time in (each.median(), each.minimum()))
        lines[case.name] = (f"| {case.name} | {describe(case)} | {times} | "
                            f"{ratio:.2f} |")
    lines = [lines[case.name] for case in op_table.CASES if case.name in lines]
    ratios = [float(line.split(" | ")[-1].rstrip(" |")) for line in lines]
    again = AGAIN.format(above=options.again_above, times=options.again)
    introduction = INTRODUCTION.format(
        count=len(lines), slower=sum(ratio > 2 for ratio in ratios),
        mean=geometric_mean([max(ratio, 0.01) for ratio in ratios]),
        version=metadata.version("onnxruntime"), processor=processor(), again=again if options.again else "")
    heads = ["| op | inputs | anec | least | onnxruntime | least | ratio |",
             "|---|---|---:|---:|---:|---:|---:|"]
    return introduction.replace(" \n", "\n") + "\n".join(heads + lines) + "\n"


def geometric_mean(ratios):
    return math.exp(statistics.mean(map(math.log, ratios)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*",
                        help="only ops whose names contain one of these")
    parser.add_argument("--worker", type=pathlib.Path,
                        default=ROOT / "build/bin/op-worker")
    parser.add_argument("--alone", action="store_true",
                        help="time anec only")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--foreign", type=float, default=2.0,
                        help="the share of the processors that others may use "
                        "before a round waits for them; above 1 it never does")
    parser.add_argument("--limit", type=float,
                        help="fail when an op takes more than so many times "
                        "onnxruntime's time")
    parser.add_argument("--again", type=int, default=0,
                        help="measure an op up to so many times more while its "
                        "ratio is above --again-above; all runs of both count")
    parser.add_argument("--again-above", type=float, default=1.5)
    parser.add_argument("--markdown", type=pathlib.Path,
                        help="write the table to this file; ops that are not "
                        "measured keep the rows that it has")
    parser.add_argument("--work", type=pathlib.Path, default=None,
                        help="folder for programs and arrays")
    options = parser.parse_args()

    rows, slow, wrong = [], [], []
    print(f"{'median and least ms':36}{'anec':>9}{'':9}{'ort':>9}{'':9}"
          f"{'ratio':>8}")
    for case in op_table.chosen(options.names):
        results = measure(case, options, options.work)
        if isinstance(results, str):
            wrong.append(case.name)
            print(f"{case.name:36} WRONG: {results}", flush=True)
            continue
        times = "".join(f"{time:9.3f}" for each in results
                        for time in (each.median(), each.minimum()))
        if options.alone:
            print(f"{case.name:36}{times}", flush=True)
            continue
        measure_again(case, options, results)
        times = "".join(f"{time:9.3f}" for each in results
                        for time in (each.median(), each.minimum()))
        ratio = ratio_of(results)
        rows.append((case, *results, ratio))
        if options.limit and ratio > options.limit:
            slow.append(case.name)
        print(f"{case.name:36}{times}{ratio:8.2f}", flush=True)
    if wrong:
        print("wrong: " + "; ".join(wrong))
    if not rows:
        return 1 if wrong else 0
    ratios = [row[3] for row in rows]
    print(f"{len(rows)} ops, geometric mean of the ratios of least times "
          f"{geometric_mean(ratios):.2f}, "
          f"{sum(ratio > 2 for ratio in ratios)} above 2")
    if options.markdown:
        options.markdown.write_text(markdown(rows, options))
    if slow:
        print("above the limit: " + "; ".join(slow))
    return 1 if slow or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
