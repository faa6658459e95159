#!/usr/bin/env python3
"""Random models of every family that `anec import` reads, as Core ML packages with
states: their functions are run as an application runs them, one block after the other
with the states of the last, and give the logits of the numpy reference.

usage: state_packages.py [--seed=N] [--models=N] [--family=NAME] WORK
"""
import argparse
import os
import random
import shutil
import sys

import numpy as np

import random_models
import reference
from greedy_families import LongDraw
from random_models import FAMILIES, TOLERANCE, run


def step(work, package, function, inputs, states):
    """Runs a function; returns its logits, and the files of its states."""
    arguments = []
    for name, values in inputs.items():
        np.save(f"{work}/{name}.npy", np.array(values, dtype=np.int32))
        arguments.append(f"--input={name}={work}/{name}.npy")
    arguments += [f"--state={name}={file}" for name, file in states.items()]
    folder = f"{work}/{inputs['position'][0]}"
    run("ane-run", package, "--numerics=fp32", f"--function={function}", *arguments,
        f"--output-dir={folder}")
    files = {name[:-4]: f"{folder}/{name}" for name in os.listdir(folder)}
    return np.load(files.pop("logits")), files


def compare(seed, family, work):
    """What is wrong with the package of a random model."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    rng = random.Random(seed)
    block, prefill, context = rng.randint(2, 4), rng.randint(5, 7), 16
    LongDraw.longest = context
    draw, values = random_models.write(seed, family, f"{work}/model", LongDraw)
    run("anec", "import", f"{work}/model", "-o", f"{work}/m.tdsl", "--float=fp32")
    run("anec", f"{work}/m.tdsl", f"--weights={work}/model", "--decode", "--cache=state", f"--block=1,{block}",
        f"--prefill={prefill}", f"--context={context}", "-o", f"{work}/m.mlpackage")
    text = [rng.randrange(draw.config["vocab_size"]) for _ in range(context)]
    right = reference.logits(draw.config, values, np.array(text, dtype=np.int32))
    near = TOLERANCE * max(1.0, np.abs(right).max())
    states, at = {}, 0
    while at < context:
        sizes = [size for size in (1, block, prefill) if at + size <= context]
        size = prefill if at == 0 else rng.choice(sizes)
        inputs = {"tokens": text[at:at + size], "position": [at]}
        wanted = list(range(size))
        if size == prefill:
            wanted = [rng.randrange(size)]
            inputs["wanted"] = wanted
        function = f"prefill{size}" if size == prefill else f"decode{size}"
        logits, states = step(work, f"{work}/m.mlpackage", function, inputs, states)
        off = np.abs(logits.T - right[[at + i for i in wanted]]).max()
        if not off <= near:
            yield f"{function} at {at} is off by {off}, with {near} allowed"
        at += size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=10, help="of all families in turn")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("work")
    args = parser.parse_args()
    failures = 0
    for seed in range(args.seed, args.seed + args.models):
        family = args.family or FAMILIES[seed % len(FAMILIES)]
        found = list(compare(seed, family, f"{args.work}/{seed}"))
        for what in found:
            print(f"{family} {seed}: {what}")
        failures += bool(found)
    print(f"{args.models} models, {failures} differ")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
