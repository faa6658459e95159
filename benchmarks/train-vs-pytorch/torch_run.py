#!/usr/bin/python3
"""Trains examples/llama.tdsl in PyTorch fp32 as docs/use/train.md describes it, and
prints the losses as JSON.

usage: torch_run.py WEIGHTS.safetensors TEXT STEPS SIZES-JSON FLAGS-JSON"""
import json
import math
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

WEIGHTS, TEXT, STEPS, SIZES, FLAGS = sys.argv[1:]
STEPS, SIZES, FLAGS = int(STEPS), json.loads(SIZES), json.loads(FLAGS)
SEQ, HEADS, KV = SIZES["seq"], SIZES["heads"], SIZES["kv_heads"]
WIDTH = SIZES["dim"] // HEADS


def read_weights(path):
    data = open(path, "rb").read()
    size, = struct.unpack_from("<Q", data)
    weights = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]
        array = np.frombuffer(data[8 + size + begin:8 + size + end], dtype)
        weights[name] = torch.tensor(
            array.astype("f4").reshape(entry["shape"]), requires_grad=True)
    return weights


class Windows:
    """The windows of tokens, and their order in each epoch (splitmix64)."""

    def __init__(self, tokens):
        self.tokens = tokens
        count = (len(tokens) - 1) // SEQ
        self.validation = max(math.floor(count * 0.05 + 0.5), 1)
        self.training = count - self.validation
        self.epoch, self.order = -1, []

    def next(self):
        if not self.order:
            self.epoch += 1
            state = self.random(FLAGS["seed"])[1]
            order = list(range(self.training))
            state = (state + self.epoch) % 2**64
            for i in range(self.training, 1, -1):
                state, value = self.random(state)
                j = value * i >> 64
                order[i - 1], order[j] = order[j], order[i - 1]
            self.order = order[::-1]
        return self.read(self.order.pop())

    @staticmethod
    def random(state):
        state = (state + 0x9e3779b97f4a7c15) % 2**64
        z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9 % 2**64
        z = (z ^ z >> 27) * 0x94d049bb133111eb % 2**64
        return state, z ^ z >> 31

    def read(self, window):
        part = self.tokens[window * SEQ:(window + 1) * SEQ + 1]
        return part[:-1], part[1:]


def norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * weight


angles = torch.outer(torch.arange(SEQ, dtype=torch.float64),
                     10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH))
COS, SIN = torch.cos(angles).float(), torch.sin(angles).float()
MASK = torch.full((SEQ, SEQ), -math.inf).triu(1)


def rope(x):
    a, b = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    return torch.stack([a * COS - b * SIN, a * SIN + b * COS], -1).flatten(-2)


def loss_of(w, tokens, targets):
    x = w["llama.embedding"][tokens]
    for layer in range(SIZES["layers"]):
        a = {key: w[f"attention.{layer}.{key}"] for key in ("norm", "wq", "wk", "wv", "wo")}
        f = {key: w[f"feed_forward.{layer}.{key}"] for key in ("norm", "w1", "w2", "w3")}
        h = norm(x, a["norm"])
        split = lambda y: y.view(*tokens.shape, -1, WIDTH).transpose(1, 2)
        q, k, v = rope(split(h @ a["wq"].T)), rope(split(h @ a["wk"].T)), split(h @ a["wv"].T)
        k, v = (y.repeat_interleave(HEADS // KV, 1) for y in (k, v))
        scores = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(WIDTH) + MASK, -1)
        x = x + (scores @ v).transpose(1, 2).flatten(2) @ a["wo"].T
        h = norm(x, f["norm"])
        x = x + (F.silu(h @ f["w1"].T) * (h @ f["w3"].T)) @ f["w2"].T
    logits = norm(x, w["llama.norm"]) @ w["llama.embedding"].T
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def rate(step):
    if step <= FLAGS["warmup"]:
        return FLAGS["lr"] * step / FLAGS["warmup"]
    part = min((step - FLAGS["warmup"]) / (FLAGS["decay-steps"] - FLAGS["warmup"]), 1)
    return FLAGS["min-lr"] + (FLAGS["lr"] - FLAGS["min-lr"]) * (1 + math.cos(math.pi * part)) / 2


def main():
    weights = read_weights(WEIGHTS)
    with open(TEXT, "rb") as file:
        windows = Windows(torch.tensor(list(file.read())))
    groups = [{"params": [w for w in weights.values() if w.dim() > 1],
               "weight_decay": FLAGS["weight-decay"]},
              {"params": [w for w in weights.values() if w.dim() == 1], "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for step in range(1, STEPS + 1):
        batch = [windows.next() for _ in range(FLAGS["batch"])]
        loss = loss_of(weights, *(torch.stack(part) for part in zip(*batch)))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), FLAGS["clip"])
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        losses.append(loss.item())
    count = windows.validation
    taken = min(FLAGS["validation-windows"], count)
    with torch.no_grad():
        batch = [windows.read(windows.training + i * count // taken) for i in range(taken)]
        validation = loss_of(weights, *(torch.stack(part) for part in zip(*batch))).item()
    json.dump({"losses": losses, "validation": validation}, sys.stdout)


if __name__ == "__main__":
    main()
