#!/usr/bin/env python3
"""Random models of every family that `anec import` reads: the tokens that
programs with caches choose, of blocks, prefills, ladders and batches of several
sizes, in packages or in Core ML packages with states, are those that the
undivided model chooses.

Tokens may differ where two are as likely: the reference of reference.py has
both within TOLERANCE of the largest logit then, and what follows is not
compared.

usage: greedy_families.py [--seed=N] [--models=N] [--tokens=N] [--family=NAME] WORK
"""
import argparse
import json
import os
import random
import shutil
import sys

import numpy as np

import random_models
import reference
from random_models import FAMILIES, TOLERANCE, run


class LongDraw(random_models.Draw):
    """A model that reads texts of `longest` positions, as short ones."""
    longest = 0

    def sizes(self):
        made = super().sizes()
        self.config["max_position_embeddings"] = self.longest
        return made

    def scaling(self, kinds, channels):
        made = super().scaling(kinds, channels)
        if "original_max_position_embeddings" in self.config:
            self.config["original_max_position_embeddings"] = self.longest
        return made

    def gpt2(self):
        super().gpt2()
        self.config["n_positions"] = self.longest
        for name in self.shapes:
            if name.endswith("wpe.weight"):
                self.shapes[name] = (self.longest, self.config["n_embd"])


def packages(rng, length):
    """Names and flags of the programs to compare."""
    rungs = ",".join(str(rng.randint(1, length)) for _ in range(3))
    return {
        "block1": ["--block=1", "--prefill=1"],
        "block4": ["--block=1,4", f"--prefill={rng.randint(2, 30)}", f"--ladder=16,{length // 2}"],
        "block8": ["--block=1,8", f"--prefill={rng.randint(2, 9)},{rng.randint(10, 40)}",
                   f"--ladder={rungs}"],
        "packed": ["--weight-mode=packed", "--io=separate", "--prefill=16"],
        "batch3": ["--batch=3", "--block=1,4", f"--prefill={rng.randint(2, 30)}",
                   f"--ladder={rungs}"],
        "state1": ["--cache=state", "--block=1", "--prefill=1"],
        "state4": ["--cache=state", "--block=1,4", f"--prefill={rng.randint(2, 30)}"],
        "state7": ["--cache=state", "--block=7", "--prefill=7"],
    }


def generate(work, package, prompts, tokens, *flags):
    """The new ids of each prompt."""
    with open(f"{work}/prompts.jsonl", "w", encoding="utf-8") as file:
        for prompt in prompts:
            file.write(json.dumps({"prompt_ids": prompt}) + "\n")
    said = run("ane-run", "generate", package, "--numerics=fp32", f"--prompts={work}/prompts.jsonl",
               f"--tokens={tokens}", "--temperature=0", "--json", "--quiet", *flags).stdout
    return [json.loads(line)["ids"] for line in said.splitlines()]


def is_tie(draw, values, text, one, other):
    """Whether two tokens are as likely after `text`."""
    logits = reference.logits(draw.config, values, np.array(text, dtype=np.int32))
    near = 2 * TOLERANCE * max(1.0, np.abs(logits).max())
    last = logits[-1]
    return last.max() - last[one] < near and last.max() - last[other] < near


def differences(draw, values, prompts, wanted, got, counts):
    """Descriptions of differences; counts tokens and ties."""
    for number, (prompt, right, ids) in enumerate(zip(prompts, wanted, got)):
        for at, (one, other) in enumerate(zip(right, ids)):
            if one == other:
                counts["tokens"] += 1
            elif is_tie(draw, values, prompt + right[:at], one, other):
                counts["ties"] += 1
                break
            else:
                yield f"text {number}, token {at}: {other}, not {one}"
                break
        if len(right) != len(ids):
            yield f"text {number} has {len(ids)} tokens, not {len(right)}"


def compare(seed, family, work, tokens, counts):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    rng = random.Random(seed)
    LongDraw.longest = tokens + 24
    draw, values = random_models.write(seed, family, f"{work}/model", LongDraw)
    vocab = draw.config["vocab_size"]
    prompts = [[rng.randrange(vocab) for _ in range(rng.randint(1, 20))] for _ in range(4)]
    length = LongDraw.longest
    run("anec", "import", f"{work}/model", "-o", f"{work}/m.tdsl", f"--seq={length}",
        "--float=fp32")
    run("anec", f"{work}/m.tdsl", f"--weights={work}/model", "--forward-only", "-o",
        f"{work}/whole.anepkg")
    wanted = generate(work, f"{work}/whole.anepkg", prompts, tokens)
    for name, flags in packages(rng, length).items():
        weights = [f"--weights={work}/model"]
        passed = (weights + [f"--weight-map={work}/m.names.json"] if "--weight-mode=packed" in flags
                  else [])
        ending = "mlpackage" if "--cache=state" in flags else "anepkg"
        run("anec", f"{work}/m.tdsl", *([] if passed else weights), "--decode", *flags, "-o",
            f"{work}/{name}.{ending}")
        got = generate(work, f"{work}/{name}.{ending}", prompts, tokens, *passed)
        counts["texts"] += len(prompts)
        for what in differences(draw, values, prompts, wanted, got, counts):
            yield f"{name}: {what}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=10, help="of all families in turn")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("work")
    args = parser.parse_args()
    counts = {"texts": 0, "tokens": 0, "ties": 0}
    by_family, failures = {}, 0
    for seed in range(args.seed, args.seed + args.models):
        family = args.family or FAMILIES[seed % len(FAMILIES)]
        before = counts["tokens"]
        found = list(compare(seed, family, f"{args.work}/{seed}", args.tokens, counts))
        for what in found:
            print(f"{family} {seed}: {what}")
        by_family[family] = by_family.get(family, 0) + counts["tokens"] - before
        failures += bool(found)
        if not found:
            shutil.rmtree(f"{args.work}/{seed}")
    print(", ".join(f"{family} {tokens}" for family, tokens in by_family.items()))
    print(f"{args.models} models, {counts['texts']} texts, {counts['tokens']} tokens equal, "
          f"{counts['ties']} ties, {failures} models differ")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
