"""Successive passes on kernels work on one opened module. Compiles models by
such passes in many orders, and fails when looking at the kernels after each
pass (--print-after), which closes the module, gives other kernels; or when
stopping after some passes (--pass-limit) does.

usage: opened.py ANEC ROOT
"""

import pathlib
import random
import subprocess
import sys

OPENED = ["place", "form-kernels", "fuse-rmsnorm", "fuse-wo-transpose",
          "expose-taps", "prune-interfaces", "fuse-kernels"]
OTHERS = ["pack-weights", "canonicalize", "cse", "dce"]
BEGINNINGS = [["expose-masks", "fold-constants", "differentiate"],
              ["fold-constants", "expose-logits"]]
FOLDERS = ["examples", "test/Gradients/Inputs", "test/Train/Inputs",
           "test/Passes/Inputs"]


def models(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.tdsl")):
            if any(line.startswith("model ")
                   for line in path.read_text().splitlines()):
                yield path


def orders(rng):
    yield BEGINNINGS[0] + OPENED + ["prune-interfaces", "pack-weights"]
    passes = list(rng.choice(BEGINNINGS))
    for _ in range(rng.randint(3, 7)):
        passes.append(rng.choice(OPENED if rng.random() < 0.8 else OTHERS))
    yield passes


def run(anec, path, passes, *flags):
    return subprocess.run(
        [anec, str(path), "--emit=ir", "--passes=" + ",".join(passes), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def main():
    anec, root = sys.argv[1], pathlib.Path(sys.argv[2])
    rng = random.Random(1)
    failed, compared = False, 0
    for path in models(root):
        for passes in orders(rng):
            whole = run(anec, path, passes)
            count = rng.randint(3, len(passes) - 1)
            begun = run(anec, path, passes[:count])
            # Passes on functions count once for each; these are on modules.
            on_modules = not set(passes) & {"canonicalize", "cse", "dce"}
            for name, expected, found in [
                    ("--print-after=all", whole,
                     run(anec, path, passes, "--print-after=all")),
                    (f"--pass-limit={count}", begun,
                     run(anec, path, passes, f"--pass-limit={count}")
                     if on_modules else begun)]:
                compared += 1
                if expected != found:
                    print(f"{path.name}: {','.join(passes)} gives others with "
                          f"{name}")
                    failed = True
    print(f"{compared} compared")
    return failed or compared < 50


if __name__ == "__main__":
    sys.exit(main())
