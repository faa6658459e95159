#!/usr/bin/python3
"""Times two builds of anec, taking turns: single ops, a layer, a training step, a token and
reading 100,000 ops. Shows whether a change made anything slower. See ../README.md.

  benchmarks/builds/run.py BEFORE AFTER
  benchmarks/builds/run.py BEFORE AFTER --only=ops pooling softmax
"""

import argparse
import importlib.util
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (HERE.parent, *(HERE.parent / name for name in
                              ("ops", "layer-forward", "compile-scaling"))):
    sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402
import interleaved  # noqa: E402

SEQ, VOCAB = 256, 32000


class Pair:
    """The two builds, which do the same; `after` over `before` is the ratio."""

    def __init__(self, name, contenders, options, rounds, batch):
        self.name = name
        for contender in contenders:
            contender.batch(1)  # warm up
        results, _ = interleaved.measure(contenders, rounds, batch, options.foreign,
                                         retries=1)
        for contender in contenders:
            if isinstance(contender, interleaved.Worker):
                contender.stop()
        self.before, self.after = results

    def ratio(self):
        return interleaved.ratio_of_rounds(self.after, self.before)

    def ratio_of_least(self):
        return self.after.minimum() / self.before.minimum()

    def print(self):
        print(f"{self.name:36}{self.before.median():10.3f}{self.after.median():10.3f}"
              f"{self.ratio():8.3f}{self.ratio_of_least():8.3f}", flush=True)


def compile_source(build, source, output, *flags):
    subprocess.run([build / "bin/anec", ROOT / "examples" / source, "-o", output, *flags],
                   check=True)
    return output


def workers(options, program, arguments):
    """A worker of each build; `arguments` gives those of a build, for its folder."""
    made = []
    for name, build in (("before", options.before), ("after", options.after)):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=name, dir=options.work))
        made.append(interleaved.Worker(
            name, [build / "bin" / program, *arguments(build, folder)]))
    return made


def time_ops(options):
    import op_table
    spec = importlib.util.spec_from_file_location("ops_run", HERE.parent / "ops/run.py")
    ops = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ops)
    for case in op_table.chosen(options.names):
        def write(build, folder):
            ops.write(case, folder)
            return str(options.threads), folder / "op.ir", folder

        contenders = workers(options, "op-worker", write)
        once = min(contenders[0].batch(3))
        batch = min(50, max(3, int(5 / max(once, 1e-3))))
        yield Pair(case.name, contenders, options, options.rounds, batch)


def time_layer(options):
    import layer
    weights, x = layer.weights(), layer.activations()
    layer.write_safetensors(options.work / "layer.safetensors", weights)
    x.T.astype(np.float16).tofile(options.work / "x16.bin")

    def arguments(build, folder):
        programs = [compile_source(build, f"{name}.tdsl", folder / f"{name}.mil",
                                   f"--weights={options.work / 'layer.safetensors'}")
                    for name in ("attention", "feed_forward")]
        return (str(options.threads), options.work / "x16.bin", folder / "out.bin",
                *programs)

    yield Pair("layer forward, fp16", workers(options, "anec-worker", arguments), options,
               2 * options.rounds, 6)


def time_step(options):
    random = np.random.default_rng(1)
    data = [options.work / "tokens.bin", options.work / "targets.bin"]
    for path in data:
        random.integers(0, VOCAB, SEQ).astype("i4").tofile(path)
    for numerics in ("fp32", "fp16"):
        def arguments(build, folder):
            package = compile_source(build, "llama.tdsl", folder / "llama.anepkg")
            return (str(options.threads), numerics, package, "1", *data,
                    folder / "loss.txt", "adamw")

        yield Pair(f"step of 110M with AdamW, {numerics}",
                   workers(options, "anec-session-worker", arguments), options,
                   options.rounds, 2)


def time_decode(options):
    def arguments(build, folder):
        package = compile_source(build, "llama.tdsl", folder / "llama.anepkg",
                                 "--define", "seq=1", "--forward-only", "--init=1")
        return str(options.threads), "run", package, "fp16"

    yield Pair("token of 110M, fp16", workers(options, "anec-decode-worker", arguments),
               options, options.rounds, 20)


def time_reading(options):
    import generate
    for form in ("mil", "ir"):
        path = options.work / f"module.{form}"
        with open(path, "w") as out:
            getattr(generate, form)(100_000, out)
        yield Pair(f"reading 100,000 ops of {form}",
                   [interleaved.Command(name, [build / "bin/anec", path, f"--emit={form}"],
                                        processor=True)
                    for name, build in (("before", options.before),
                                        ("after", options.after))],
                   options, 2 * options.rounds, 1)


WORK = {"reading": time_reading, "decode": time_decode, "layer": time_layer,
        "step": time_step, "ops": time_ops}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path, help="the folder of the older build")
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("names", nargs="*",
                        help="of the ops, only those whose names contain one of these")
    parser.add_argument("--only", choices=WORK, action="append",
                        help="measure only this (may be repeated)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--foreign", type=float, default=0.05,
                        help="repeat a round in which others took more than this share of "
                             "the processors")
    parser.add_argument("--limit", type=float, default=1.03,
                        help="fail when something takes so many times as long: the mean of "
                             "the ops, and each of the others")
    options = parser.parse_intermixed_args()
    options.before, options.after = options.before.resolve(), options.after.resolve()
    slower = []
    with tempfile.TemporaryDirectory() as work:
        options.work = pathlib.Path(work)
        print(f"{'medians in ms':36}{'before':>10}{'after':>10}{'ratio':>8}{'least':>8}")
        for kind in options.only or WORK:
            ratios = []
            for pair in WORK[kind](options):
                pair.print()
                ratios.append(pair.ratio_of_least() if kind == "ops" else pair.ratio())
                if kind != "ops" and ratios[-1] > options.limit:
                    slower.append(pair.name)
            if kind == "ops" and ratios:
                mean = math.exp(statistics.mean(map(math.log, ratios)))
                print(f"{len(ratios)} ops: geometric mean of the ratios of least times "
                      f"{mean:.3f}, median {statistics.median(ratios):.3f}, "
                      f"{min(ratios):.2f} to {max(ratios):.2f}")
                if mean > options.limit:
                    slower.append("ops")
    if slower:
        print("slower: " + "; ".join(slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
