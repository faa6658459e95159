#!/usr/bin/env python3
"""Tokens of a language model, one at a time, at the speed of memory.

A Llama of 110M parameters (examples/llama.tdsl) computes one token: every weight
is read once. Beside the time of a token stands what the machine reads in the same
run with the same threads, and optionally the time of llama2.c.
"""

import argparse
import array
import json
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

here = pathlib.Path(__file__).resolve()
root = here.parents[2]
sys.path.insert(0, str(here.parents[1]))
import interleaved  # noqa: E402

READ_MEGABYTES = 1024
DIM, HIDDEN, LAYERS, HEADS, VOCAB = 768, 2048, 12, 12, 32000


def table_bytes(package, file, numerics):
    """What a token reads of the weights in a .safetensors file, which kernels do
    not have: in fp16 numerics, those that are declared as fp16 are held as fp16,
    in whatever type the file has them. Of a table that is only gathered from, it
    reads a row."""
    with open(file, "rb") as weights:
        length = struct.unpack("<Q", weights.read(8))[0]
        arrays = json.loads(weights.read(length))
    declared = {weight["name"]: weight["dtype"] for weight in
                json.loads((package / "manifest.json").read_text())["weights"]}
    schedule = (package / "schedule.ir").read_text()
    total = 0
    for name, array in arrays.items():
        if name == "__metadata__":
            continue
        begin, end = array["data_offsets"]
        size, shape = end - begin, array["shape"]
        if numerics == "fp16" and declared.get(name) == "fp16":
            size = min(size, 2 * math.prod(shape))
        value = re.search(rf'(%\w+) = weight\(\) {{name = "{re.escape(name)}"',
                          schedule)
        users = re.findall(rf"= (\w+)\([^)]*{re.escape(value[1])}[,)]",
                           schedule) if value else []
        if users and set(users) == {"embed"}:
            size //= shape[0]
        total += size
    return total


def weight_bytes(package, numerics):
    """What a token reads: the weight files of kernels, and tables."""
    package = pathlib.Path(package)
    return sum(table_bytes(package, path, numerics)
               if path.suffix == ".safetensors" else path.stat().st_size
               for path in package.rglob("*")
               if path.suffix in (".bin", ".safetensors"))


def compile_model(arguments, folder):
    """One position of the model, with its weights."""
    package = folder / "llama.anepkg"
    subprocess.run([arguments.build / "bin/anec", root / "examples/llama.tdsl",
                    "--define", "seq=1", "--forward-only", "--init=1",
                    "-o", package], check=True)
    return package


class Llama2c:
    """The command `run MODEL -n TOKENS` of llama2.c, which prints its rate."""

    name = "llama2.c, fp32"

    def __init__(self, binary, folder, context, threads, processor):
        self.model = folder / "model.bin"
        self.binary, self.context = pathlib.Path(binary).resolve(), context
        self.environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.folder, self.used, self.processor = folder, 0, processor
        self.write()

    def write(self):
        """Random weights, and words, in its formats."""
        seeded = random.Random(1)
        some = array.array("f", (seeded.gauss(0, 0.02) for _ in range(65543)))
        square, wide = LAYERS * DIM * DIM, LAYERS * DIM * HIDDEN
        half = self.context * DIM // HEADS // 2
        with open(self.model, "wb") as out:
            out.write(struct.pack("7i", DIM, HIDDEN, LAYERS, HEADS, HEADS,
                                  VOCAB, self.context))
            for count in (VOCAB * DIM, LAYERS * DIM, square, square, square,
                          square, LAYERS * DIM, wide, wide, wide, DIM, half,
                          half):
                while count > 0:
                    out.write(some[:count].tobytes())
                    count -= len(some)
        with open(self.folder / "tokenizer.bin", "wb") as out:
            out.write(struct.pack("i", 8))
            for number in range(VOCAB):
                word = f"w{number}".encode()
                out.write(struct.pack("fi", 0, len(word)) + word)

    def run(self, tokens):
        """What it printed, and the processor time that it took."""
        before = os.times()
        result = subprocess.run(
            [self.binary, self.model, "-t", "0", "-n", str(tokens)],
            cwd=self.folder, env=self.environment, capture_output=True,
            text=True, errors="replace")
        after = os.times()
        used = (after.children_user - before.children_user +
                after.children_system - before.children_system)
        self.used += used
        return result.stdout + result.stderr, used

    def batch(self, count):
        text, used = self.run(count + 1)
        rate = re.search(r"tok/s: ([0-9.]+)", text)
        if not rate:
            sys.exit(f"error: llama2.c failed: {text}")
        if not self.processor:
            return [1000 / float(rate[1])]
        # Without starting, and the first token, which maps the file.
        return [1000 * (used - self.run(1)[1]) / count]

    def seconds(self):
        return self.used

    def stop(self):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--package", action="append", default=[],
                        metavar="NAME=PACKAGE[:ENTRY]",
                        help="measure this package instead of examples/llama.tdsl")
    parser.add_argument("--llama2c", metavar="BINARY",
                        help="llama2.c's `run`, built with "
                        "-O3 -march=native -fopenmp -ffast-math")
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor", action="store_true",
                        help="processor time of one thread")
    parser.add_argument("--numerics", default="fp16")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--tokens", type=int, default=20, help="of a round")
    parser.add_argument("--foreign", type=float, default=0.05)
    parser.add_argument("--bandwidth-limit", type=float, default=0.85,
                        help="of the machine's, at the least times")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path("/tmp/anec-decode"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.processor:
        arguments.threads = 1

    packages = dict(each.split("=", 1) for each in arguments.package)
    if not packages:
        packages["anec, fp16"] = str(compile_model(arguments, arguments.folder))
    worker = arguments.build / "bin/anec-decode-worker"
    threads = "cpu" if arguments.processor else str(arguments.threads)
    contenders = [interleaved.Worker(
        "read", [worker, threads, "read", str(READ_MEGABYTES)])]
    size = {}
    for name, place in packages.items():
        package, _, entry = place.partition(":")
        size[name] = weight_bytes(package, arguments.numerics)
        contenders.append(interleaved.Worker(
            name, [worker, threads, "run", package, arguments.numerics] +
            ([entry] if entry else [])))
    if arguments.llama2c:
        contenders.append(Llama2c(arguments.llama2c, arguments.folder,
                                  arguments.context, arguments.threads,
                                  arguments.processor))
    for contender in contenders:
        contender.batch(3)
    results, foreign = interleaved.measure(
        contenders, arguments.rounds, arguments.tokens, arguments.foreign)

    read = results[0]
    bandwidth = READ_MEGABYTES * 2**20 / read.minimum() / 1e6
    print(f"{arguments.threads} threads; others took {foreign:.0%}; reading "
          f"{bandwidth:.1f} GB/s at best, "
          f"{READ_MEGABYTES * 2**20 / read.median() / 1e6:.1f} in the median")
    peer = results[-1] if arguments.llama2c else None
    print(f"{'':20}  {'median':>8}  {'least':>8} ms   {'tok/s':>6}  "
          f"{'MB':>5}  {'GB/s':>5}  of reading  speedup")
    failed = False
    for result in results[1:]:
        line = (f"{result.name:20}  {result.median():8.2f}  "
                f"{result.minimum():8.2f}      {1e3 / result.minimum():6.1f}")
        if result.name in size:
            rate = size[result.name] / result.minimum() / 1e6
            failed |= rate < arguments.bandwidth_limit * bandwidth
            line += (f"  {size[result.name] / 1e6:5.0f}  {rate:5.1f}  "
                     f"{rate / bandwidth:10.0%}")
            if peer:
                line += f"  {peer.minimum() / result.minimum():7.2f}"
        print(line)
    for contender in contenders:
        contender.stop()
    if failed:
        sys.exit(f"error: less than {arguments.bandwidth_limit:.0%} of the "
                 "rate of reading")


if __name__ == "__main__":
    main()
