#!/usr/bin/env python3
"""Times matrix products of the examples by anec's own kernels beside the
platform's BLAS, taking turns. See ../README.md.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Name, m, n, k, what is transposed, what is prepared, how many at a time; and
# whether anec leaves the shape to its own kernels.
SHAPES = [
    ("attention projection", 768, 256, 768, "-", "left", 1, True),
    ("feed-forward up", 2048, 256, 768, "-", "left", 1, True),
    ("feed-forward down", 768, 256, 2048, "-", "left", 1, True),
    ("attended values", 64, 256, 256, "b", "-", 12, True),
    ("linear", 256, 2048, 768, "b", "right", 1, True),
    ("prefill of 64", 768, 64, 768, "-", "left", 1, True),
    ("one token up", 2048, 1, 768, "-", "left", 1, True),
    ("one token, 32000 logits", 32000, 1, 768, "-", "left", 1, True),
    ("weight gradient", 2048, 768, 256, "b", "-", 1, True),
    ("attention scores", 256, 256, 64, "a", "-", 12, False),
    ("input gradient", 768, 256, 2048, "a", "-", 1, True),
    ("lstm step", 1, 512, 128, "b", "right", 1, False),
    ("small", 64, 64, 64, "-", "left", 1, False),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", default=ROOT / "build/bin/products-worker")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--limit", type=float, default=1.05,
                        help="the most that the products of the own kernels "
                        "may take beside BLAS, in the geometric mean")
    parser.add_argument("--instructions", choices=["avx2", "avx512", "neon"],
                        help="own kernels of this set, and of OpenBLAS those "
                        "that it has on a processor without a better one; "
                        "otherwise the best of the processor")
    options = parser.parse_args()

    lines = "".join(f"{index} {m} {n} {k} {trans} {side} {batch}\n"
                    for index, (_, m, n, k, trans, side, batch, _)
                    in enumerate(SHAPES))
    command = [options.worker, str(options.threads), str(options.rounds)]
    environment = dict(os.environ)
    if options.instructions:
        command.append(options.instructions)
    if options.instructions == "avx2":
        environment["OPENBLAS_CORETYPE"] = "Haswell"
    done = subprocess.run(command, input=lines, text=True, env=environment,
                          stdout=subprocess.PIPE)
    if done.returncode == 3:
        return 0  # nothing to choose from
    if done.returncode or "FAILED" in done.stdout:
        sys.exit("error: the two ways to multiply do not agree")

    print(f"{'':26}{'BLAS us':>10}{'own us':>10}{'own/BLAS':>10}  chosen")
    ratios = []
    for line in done.stdout.splitlines():
        index, *times = line.split()
        name, own_is_chosen = SHAPES[int(index)][0], SHAPES[int(index)][-1]
        blas, own = ([float(time) for time in times[side::2]]
                     for side in (0, 1))
        ratio = statistics.median(b / a for a, b in zip(blas, own))
        if own_is_chosen:
            ratios.append(ratio)
        print(f"{name:26}{statistics.median(blas):10.1f}"
              f"{statistics.median(own):10.1f}{ratio:10.2f}  "
              f"{'own' if own_is_chosen else 'BLAS'}")
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"where own kernels are chosen, they take {mean:.2f} of BLAS's time "
          f"(limit {options.limit:.2f})")
    return mean > options.limit


if __name__ == "__main__":
    sys.exit(main())
