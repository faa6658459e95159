#!/usr/bin/env python3
"""Counts the reshapes and transposes in the kernels of every example: those of a
training step, which get their weights as inputs, and those of inference, whose
weights are constants. Fails when an example has more of them than MOST says.

usage: layouts.py ANEC EXAMPLES OUTPUT_FOLDER"""
import collections
import pathlib
import re
import subprocess
import sys

from packages import defines_of

# Of each example: reshapes and transposes of training, then of inference.
MOST = {
    "attention": [(8, 0)],
    "contrastive": [(38, 0), (2, 0)],
    "conv_block": [(0, 0)],
    "convnet": [(48, 7), (4, 1)],
    "denoiser": [(83, 7), (14, 0)],
    "digits": [(10, 0), (0, 0)],
    "embed": [(2, 1)],
    "encoder_decoder": [(143, 0), (21, 0)],
    "feed_forward": [(0, 0)],
    "gpt2": [(40, 6), (4, 0)],
    "llama": [(49, 0), (8, 0)],
    "lora": [(58, 0), (8, 0)],
    "mamba": [(79, 1), (9, 0)],
    "mlp": [(0, 0)],
    "moe": [(56, 0), (10, 0)],
    "qwen3": [(72, 5), (4, 0)],
    "regressor": [(19, 6), (0, 0)],
    "resnet": [(159, 23), (10, 1)],
    "unet": [(145, 20), (12, 0)],
    "vit": [(68, 12), (11, 1)],
}


def compiled(anec, path, place, *flags):
    made = subprocess.run([anec, str(path), *flags, "-o", str(place)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return made.stdout if made.returncode else None


def moves_in(folder):
    """The numbers of reshapes and transposes in all programs of a folder."""
    counts = collections.Counter()
    for path in folder.rglob("*.mil"):
        counts.update(re.findall(r"= (reshape|transpose)\(", path.read_text()))
    return counts["reshape"], counts["transpose"]


def counted(anec, path, folder):
    """Moves of training and of inference, and what went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    text = path.read_text()
    small = [flag for name, value in defines_of(text).items()
             for flag in ("--define", f"{name}={value}")]
    if "\nmodel " not in text:
        problem = compiled(anec, path, folder / "kernel.mil", *small, "--init=1")
        return [moves_in(folder)], problem
    moves = []
    # At its own size, a training step needs no weights to be compiled.
    for name, flags in (("training", []),
                        ("inference", [*small, "--forward-only", "--init=1"])):
        place = folder / f"{name}.anepkg"
        problem = compiled(anec, path, place, *flags)
        if problem:
            return moves, problem
        moves.append(moves_in(place))
    return moves, None


def main(anec, examples, output):
    problems, count = [], 0
    for path in sorted(pathlib.Path(examples).glob("*.tdsl")):
        moves, problem = counted(anec, path, pathlib.Path(output, path.stem))
        count += 1
        print(f'    "{path.stem}": {moves},')
        most = MOST.get(path.stem)
        if problem or most is None or len(most) != len(moves):
            problems.append(f"{path.stem}: {problem or 'MOST has no row'}")
        elif any(one > limit for pair, limits in zip(moves, most)
                 for one, limit in zip(pair, limits)):
            problems.append(f"{path.stem}: {moves}, at most {most}")
    print("\n".join(problems + [f"{count} examples, {len(problems)} problems"]))
    return 1 if problems or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
