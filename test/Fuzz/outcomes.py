"""What became of damaged programs."""

import sys


class Outcomes:
    """Counts them, and prints those that failed."""

    def __init__(self, seed):
        self.seed = seed
        self.count = self.refused = self.failed = 0

    def add(self, number, command, result, why, text):
        """`result` is None after a timeout; `why` is empty unless it failed."""
        self.count += 1
        self.refused += result is not None and result.returncode == 1
        if not why:
            return
        self.failed += 1
        print(f"seed {self.seed}.{number}: {why}\n"
              f"{' '.join(map(str, command))}\n{text}\n", flush=True)

    def exit(self):
        print(f"{self.count} programs, {self.refused} refused, "
              f"{self.failed} failed")
        sys.exit(1 if self.failed else 0)
