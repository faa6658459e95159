"""Tokenizers that the library tokenizers trains and writes, with random parts: models,
normalizers, pre-tokenizers, post-processors, decoders, added tokens of each flag. Steps:
read; ids of texts, and with markers, those of the library; texts of ids."""
import functools
import importlib.metadata
import json

import _pipelines
from harness import Item, RIGHT, limited, refused, wrong


def items():
    for first in range(0, 200, 10):
        yield Item("tokenizers", f"{first:03}", functools.partial(check, range(first, first + 10)),
                   sample=first == 0, seconds=600)


def run(ctx, folder, given, *words):
    command = [ctx.build / "bin/ane-run", "tokenize", f"--tokenizer={folder / 'tokenizer.json'}"]
    return limited([*command, *words], 60, input=given.encode())


def ids_of(out):
    return [int(word) for word in out.split()]


def check(seeds, ctx):
    version = importlib.metadata.version("tokenizers")
    bad, unread = {}, []
    for seed in seeds:
        folder = ctx.computed(functools.partial(_pipelines.make, seed),
                              f"tokenizers {version} {seed}", _pipelines.make, _pipelines.Draw,
                              repr((_pipelines.CORPUS, _pipelines.ATOMS, _pipelines.PATTERNS)))
        done = run(ctx, folder, "")
        if done.returncode == 1:
            unread.append(f"{seed}: {done.stderr.decode().split('error: ')[-1].strip()}")
            continue
        if done.returncode:
            bad["read"] = wrong(f"seed {seed}: {done.stderr.decode()}")
            continue
        for step, note in differences(ctx, folder):
            bad.setdefault(step, wrong(f"seed {seed}: {note}"))
    if unread:
        bad.setdefault("read", refused("; ".join(unread)))
    return {step: bad.get(step, RIGHT)
            for step in ("read", "ids", "markers", "text")}


def differences(ctx, folder):
    cases = json.loads((folder / "cases.json").read_text())
    for text, plain, marked in cases["texts"]:
        for step, words, right in (("ids", (), plain), ("markers", ("--markers",), marked)):
            done = run(ctx, folder, text, *words)
            if done.returncode not in (0, 1):
                yield step, f"{text!r}: exit {done.returncode}"
            elif (done.returncode == 1) != (right is None):
                yield step, f"{text!r}: {right}, and anec: {done.stderr.decode()[-150:]}"
            elif right is not None and ids_of(done.stdout) != right:
                yield step, f"{text!r}: {ids_of(done.stdout)}, not {right}"
    for ids, plain, marked in cases["ids"]:
        for words, right in (((), plain), (("--markers",), marked)):
            done = run(ctx, folder, " ".join(map(str, ids)), "--decode", *words)
            got = done.stdout.decode(errors="replace")
            if done.returncode not in (0, 1):
                yield "text", f"{ids}: exit {done.returncode}"
            elif right is not None and (done.returncode or got != right):
                yield "text", f"{ids}: {got!r}, not {right!r} {done.stderr.decode()[-100:]}"
