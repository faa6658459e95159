#!/usr/bin/env python3
"""Random texts, windows and forms of one small model: compares what `ane-run
evaluate` reports with probabilities that numpy computes from the logits that
`ane-run PACKAGE` writes for each window.

usage: evaluations.py MODEL.tdsl TOKENIZER FOLDER [--count=N] [--seed=N]"""
import argparse
import json
import pathlib
import random
import struct
import subprocess

import numpy as np

VOCAB, SEQ = 300, 12


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done.stdout


class Logits:
    """Those of the forward package, one run for each window."""

    def __init__(self, folder, package, flags):
        self.folder, self.package, self.flags, self.known = folder, package, flags, {}

    def __call__(self, tokens):
        key = tuple(tokens)
        if key not in self.known:
            padded = np.zeros(SEQ, np.int32)
            padded[:len(key)] = key
            np.save(self.folder / "tokens.npy", padded)
            run("ane-run", self.package, "--input", f"tokens={self.folder}/tokens.npy",
                "--input", "targets=zeros", "--output-dir", self.folder / "out", *self.flags)
            self.known[key] = np.load(self.folder / "out" / "logits.npy").astype(np.float64).T
        return self.known[key][:len(key)]


def log_softmax(rows):
    rows = rows - rows.max(axis=1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(axis=1, keepdims=True))


def windows(ids, window, stride, limit, bos):
    """The inputs of each window, and the targets of its last tokens."""
    first = 0 if bos is not None else 1
    last = min(len(ids), first + limit) if limit else len(ids)
    predicted, begin = first, first
    while predicted < last:
        end = min(begin + window, last)
        inputs = ids[begin - 1:end - 1] if bos is None else [bos] + ids[begin:end - 1]
        yield inputs, ids[max(predicted, begin):end]
        predicted, begin = end, begin + stride


def close(measured, expected, what, scale=1e-12):
    assert abs(measured - expected) <= 1e-6 * abs(expected) + scale, (what, measured, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("tokenizer", help="its beginning-of-text id is 1")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    flags = parser.parse_args()
    folder = flags.folder
    folder.mkdir(parents=True, exist_ok=True)
    small = [word for name, value in (("vocab", VOCAB), ("seq", SEQ), ("dim", 32),
                                      ("hidden", 48), ("heads", 2), ("kv_heads", 1),
                                      ("layers", 2))
             for word in ("--define", f"{name}={value}")]
    first, second = folder / "first.anepkg", folder / "second.anepkg"
    decoding = folder / "decoding.anepkg"
    run("anec", flags.model, *small, "--forward-only", "--init=1", "-o", first)
    run("anec", flags.model, *small, "--forward-only", "--init=1", "--quantize=int4", "-o", second)
    run("anec", flags.model, *small, "--decode", "--block=1,5", "--prefill=3", "--init=1",
        "-o", decoding)
    compared = 0
    for seed in range(flags.seed, flags.seed + flags.count):
        draw = random.Random(seed)
        ids = [draw.randrange(VOCAB) for _ in range(draw.randint(2, 60))]
        if draw.random() < 0.5:
            data = folder / "ids.bin"
            data.write_bytes(struct.pack(f"<{len(ids)}H", *ids))
        else:
            data = folder / "text.txt"
            ids = [i % 256 for i in ids]
            data.write_bytes(bytes(ids))
        words, window, stride, limit = [], SEQ, 0, 0
        if draw.random() < 0.5:
            window = draw.randint(1, SEQ)
            words.append(f"--window={window}")
        if draw.random() < 0.5:
            stride = draw.randint(1, window)
            words.append(f"--stride={stride}")
        if draw.random() < 0.4:
            limit = draw.randint(1, 40)
            words.append(f"--tokens={limit}")
        numerics = draw.choice(["fp16", "fp32"])
        words.append(f"--numerics={numerics}")
        form = draw.choice(["forward", "forward", "decode"])
        bos = None
        if draw.random() < 0.3:
            bos = 1
            words += ["--bos", f"--tokenizer={flags.tokenizer}"]
            data = folder / "ids.bin"
            data.write_bytes(struct.pack(f"<{len(ids)}H", *ids))
        compares = draw.random() < 0.5
        package = decoding if form == "decode" else first
        if compares:
            words.append(f"--baseline={second}")
        report = json.loads(run("ane-run", "evaluate", package, f"--data={data}", "--json",
                                "--quiet", f"--losses={folder}/losses.npy", *words))
        own = Logits(folder, first, [f"--numerics={numerics}"])
        other = Logits(folder, second, [f"--numerics={numerics}"])
        losses, before, divergences, same = [], [], [], []
        for inputs, targets in windows(ids, window, stride or window, limit, bos):
            p = log_softmax(own(inputs))[-len(targets):]
            losses += [-p[i, target] for i, target in enumerate(targets)]
            if compares:
                q = log_softmax(other(inputs))[-len(targets):]
                before += [-q[i, target] for i, target in enumerate(targets)]
                divergences += list((np.exp(q) * (q - p)).sum(axis=1))
                same += list(p.argmax(axis=1) == q.argmax(axis=1))
        where = f"seed {seed}: {form} {words}"
        assert report["tokens"] == len(losses), where
        # A decode package rounds elsewhere: attention has other shapes.
        loose = {"forward": 0, "decode": 2e-2 if numerics == "fp16" else 2e-5}[form]
        written = np.load(folder / "losses.npy")
        assert written.dtype == np.float32 and written.shape == (len(losses),), where
        assert np.abs(written - losses).max() < 1e-5 + loose, where
        mean = float(np.mean(losses))
        close(report["loss"], mean, where, 1e-12 + loose)
        close(report["perplexity"], np.exp(report["loss"]), where)
        if len(losses) > 1 and not loose:
            close(report["loss_error"], np.std(losses, ddof=1) / len(losses)**0.5, where, 1e-9)
        if compares:
            part = report["baseline"]
            close(part["loss"], np.mean(before), where)
            close(part["perplexity"], np.exp(np.mean(before)), where, 1e-9)
            change = np.array(losses) - before
            close(part["loss_change"], change.mean(), where, 1e-9 + loose)
            close(part["kl_divergence"], np.mean(divergences), where, 1e-9 + loose)
            if not loose:
                close(part["same_top_token"], np.mean(same), where)
                if len(losses) > 1:
                    close(part["loss_change_error"],
                          np.std(change, ddof=1) / len(losses)**0.5, where, 1e-9)
        compared += 1
    print(f"{compared} evaluations agree")


main()
