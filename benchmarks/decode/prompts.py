#!/usr/bin/env python3
"""Prompts of a language model: the rate of prefill, and the time of a token
after texts of several lengths.

The model is a Llama of 110M parameters (examples/llama.tdsl) with a ladder of two
contexts. The rate of the prefill that starts a text stands beside that of one layer
alone, which is what layer-forward measures; below it the rate of a prefill after as
many cached positions. A token must cost the same at all positions of one context.
"""

import argparse
import pathlib
import random
import struct
import subprocess
import sys

here = pathlib.Path(__file__).resolve()
root = here.parents[2]
sys.path.insert(0, str(here.parents[1]))
import interleaved  # noqa: E402

DIM, HIDDEN, LAYERS, VOCAB, CONTEXT, BLOCK = 768, 2048, 12, 32000, 512, 256
POSITIONS = {256: (0, 64, 128, 192, 254), 512: (256, 384, 510)}


def layer_flop(positions):
    """Products of a layer with weights, and those of attention as a square."""
    weights = 4 * DIM * DIM + 3 * DIM * HIDDEN
    return 2 * positions * weights + 4 * positions * positions * DIM


def prefill_flop(cached):
    """All layers of a block after `cached` positions, and logits of one."""
    attention = 4 * BLOCK * cached * DIM
    return LAYERS * (layer_flop(BLOCK) + attention) + 2 * DIM * VOCAB


def compile_layer(build, folder):
    """The two halves of a layer as MIL, and an input."""
    programs = []
    for name in ("attention", "feed_forward"):
        programs.append(folder / f"{name}.mil")
        subprocess.run([build / "bin/anec", root / f"examples/{name}.tdsl",
                        "--init=1", "-o", programs[-1]], check=True)
    seeded = random.Random(1)
    some = struct.pack(f"{DIM}e", *(seeded.gauss(0, 1) for _ in range(DIM)))
    (folder / "x16.bin").write_bytes(some * BLOCK)
    return programs


def compile_model(build, folder):
    package = folder / "prompts.anepkg"
    subprocess.run([build / "bin/anec", root / "examples/llama.tdsl",
                    "--decode", f"--context={CONTEXT}", "--ladder=256",
                    f"--prefill=64,{BLOCK}", "--init=1", "-o", package],
                   check=True)
    return package


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=4, help="of a round")
    parser.add_argument("--foreign", type=float, default=0.05)
    parser.add_argument("--prefill-limit", type=float, default=0.8,
                        help="least part of the rate of a layer")
    parser.add_argument("--flat-limit", type=float, default=1.15,
                        help="largest ratio of two positions of a context")
    parser.add_argument("--folder", type=pathlib.Path,
                        default=pathlib.Path("/tmp/anec-decode"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    programs = compile_layer(arguments.build, arguments.folder)
    package = compile_model(arguments.build, arguments.folder)
    binaries, threads = arguments.build / "bin", str(arguments.threads)

    def entry(name, position):
        return interleaved.Worker(
            f"{name} at {position}",
            [binaries / "anec-decode-worker", threads, "run", package, "fp16",
             f"llama.{name}", str(position)])

    contenders = [
        interleaved.Worker(
            "layer", [binaries / "anec-worker", threads,
                      arguments.folder / "x16.bin",
                      arguments.folder / "layer.bin", *programs]),
        entry("start256.c256", 0), entry("prefill256.c512", BLOCK),
        entry("start64.c256", 0), entry("prefill64.c256", 64)]
    for context, positions in POSITIONS.items():
        contenders += [entry(f"decode1.c{context}", position)
                       for position in positions]
    for contender in contenders:
        contender.batch(2)
    results, foreign = interleaved.measure(
        contenders, arguments.rounds, arguments.runs, arguments.foreign)
    for contender in contenders:
        contender.stop()

    print(f"{arguments.threads} threads; others took {foreign:.0%}")
    print(interleaved.table(results))
    failed = []
    layer, start, later = results[:3]
    layer_rate = layer_flop(BLOCK) / layer.median()
    of_layer = prefill_flop(0) / start.median() / layer_rate
    after = prefill_flop(BLOCK) / later.median() / layer_rate
    print(f"a layer: {layer_rate * 1e-6:.0f} GFLOP/s (medians); of this, "
          f"{of_layer:.0%} for the first {BLOCK} tokens of a text, and "
          f"{after:.0%} for the next")
    if of_layer < arguments.prefill_limit:
        failed.append(f"less than {arguments.prefill_limit:.0%} of the rate "
                      "of a layer")
    for context in POSITIONS:
        medians = [result.median() for result in results
                   if f"decode1.c{context} " in result.name]
        ratio = max(medians) / min(medians)
        print(f"a token within {context}: {min(medians):.2f} to "
              f"{max(medians):.2f} ms (medians), a ratio of {ratio:.2f}")
        if ratio > arguments.flat_limit:
            failed.append(f"positions within {context} differ by more than "
                          f"{arguments.flat_limit}")
    if failed:
        sys.exit("error: " + "; ".join(failed))


if __name__ == "__main__":
    main()
