#!/usr/bin/python3
"""Compiles a program with 500 MB of fp32 weights to MIL with fp16 weights,
beside copying the weight file with cp. See ../README.md.
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

LIMIT = 2.0
WIDTH, NAMES = 5600, ["a", "b", "c", "d"]


def write_weights(path):
    """Pseudo-random floats in [-1, 1), all mantissa bits in use."""
    import numpy as np
    size = WIDTH * WIDTH * 4
    header = {f"chain.{name}": {"dtype": "F32", "shape": [WIDTH, WIDTH],
                                "data_offsets": [i * size, (i + 1) * size]}
              for i, name in enumerate(NAMES)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.default_rng(0)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _ in NAMES:
            file.write((random.random(WIDTH * WIDTH, np.float32) * 2 - 1)
                       .tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path,
                        help="a folder with 1.5 GB to spare")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--foreign", type=float, default=0.05)
    options = parser.parse_args()
    work = options.work or options.build / "benchmarks" / "weight-writing"
    work.mkdir(parents=True, exist_ok=True)
    source = work / "weights.safetensors"
    if not source.exists():
        write_weights(source)

    def clear():
        shutil.rmtree(work / "out", ignore_errors=True)
        (work / "out").mkdir()

    commands = [
        interleaved.Command(
            "anec, fp32 to fp16",
            [options.build / "bin" / "anec", HERE / "weights.tdsl",
             f"--weights={source}", "-o", work / "out" / "chain.mil"],
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
          f"rounds); limit {LIMIT}")
    print(f"peak memory {commands[0].peak_kilobytes / 1024:.0f} MB; measured; "
          f"other processes took {share * 100:.1f}% of the processors")
    sys.exit(0 if ratio <= LIMIT else 1)


main()
