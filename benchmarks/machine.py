"""What the machine could do at most, measured in the same run as the rest."""

import interleaved

MULTIPLY_ADDS = 1 << 27  # of each thread in a run of anec-peak-worker


def peak(build, threads):
    """The most floating-point operations in a second, in GFLOP, of so many threads with
    the vectors of the instruction set in use."""
    worker = interleaved.Worker("peak", [build / "bin" / "anec-peak-worker", str(threads)])
    best = min(worker.batch(20))
    worker.stop()
    return 2 * MULTIPLY_ADDS * threads / best * 1e-6


def share(flop, result, most):
    """A line about the share of the machine's peak that a contender reaches."""
    median, least = (flop / time * 1e-6 for time in (result.median(), result.minimum()))
    return (f"{result.name}: {median:.0f} GFLOP/s at the median, {100 * median / most:.0f} % "
            f"of the {most:.0f} that the machine does in registers; "
            f"{100 * least / most:.0f} % in the fastest run")
