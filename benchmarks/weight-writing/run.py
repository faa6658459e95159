#!/usr/bin/python3
"""Compiles a program with 500 MB of fp32 weights to MIL with fp16 weights, or,
with --package, a model with 4 GB of fp16 weights to a package, beside copying
the weight file with cp. See ../README.md.
"""

import argparse
import json
import pathlib
import shutil
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

import interleaved



class Program:
    width, names = 5600, [f"chain.{name}" for name in "abcd"]
    dtype, code = "float32", "F32"
    source, output, flags = "weights.tdsl", "chain.mil", []
    limit = 2.0


class Package:
    width, names = 4096, [f"f.{i}.w" for i in range(128)]
    dtype, code = "float16", "F16"
    source, output = "package.tdsl", "model.anepkg"
    flags = ["--weight-mode=baked", "--forward-only"]
    limit = 1.5


def write_weights(kind, path):
    """Pseudo-random floats in [-1, 1), all mantissa bits in use."""
    import numpy as np
    count = kind.width ** 2
    size = count * np.dtype(kind.dtype).itemsize
    header = {name: {"dtype": kind.code, "shape": [kind.width, kind.width],
                     "data_offsets": [i * size, (i + 1) * size]}
              for i, name in enumerate(kind.names)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in kind.names:
            file.write((random.random(count, np.float32) * 2 - 1)
                       .astype(kind.dtype).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--package", action="store_true")
    parser.add_argument("--work", type=pathlib.Path,
                        help="a folder with 1.5 GB to spare, or 12 GB")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--foreign", type=float, default=0.05)
    options = parser.parse_args()
    kind = Package if options.package else Program
    work = options.work or options.build / "benchmarks" / "weight-writing"
    work.mkdir(parents=True, exist_ok=True)
    source = work / (kind.output + ".safetensors")
    if not source.exists():
        write_weights(kind, source)

    def clear():
        shutil.rmtree(work / "out", ignore_errors=True)
        (work / "out").mkdir()

    commands = [
        interleaved.Command(
            f"anec, {kind.dtype} to float16",
            [options.build / "bin" / "anec", HERE / kind.source,
             f"--weights={source}", "-o", work / "out" / kind.output]
            + kind.flags,
            before=clear),
        interleaved.Command(
            "cp", ["cp", source, work / "out" / "copy"], before=clear),
    ]
    for command in commands:
        command.once()  # warms the cache
    results, share = interleaved.measure(commands, options.rounds, 1,
                                         options.foreign)
    clear()
    print(interleaved.table(results))
    ours, copy = results
    ratio = ours.median() / copy.median()
    print(f"{source.stat().st_size * 1e-9 / ours.median() * 1e3:.2f} GB/s of "
          "weights read, at the median")
    print(f"ratio to cp: {ratio:.2f} (medians), "
          f"{ours.minimum() / copy.minimum():.2f} (minima), "
          f"{interleaved.ratio_of_rounds(ours, copy):.2f} (median over "
          f"rounds); limit {kind.limit}")
    print(f"peak memory {commands[0].peak_kilobytes / 1024:.0f} MB; measured; "
          f"other processes took {share * 100:.1f}% of the processors")
    sys.exit(0 if ratio <= kind.limit else 1)


main()
