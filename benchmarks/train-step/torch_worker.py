#!/usr/bin/python3
"""The forward and backward of examples/llama.tdsl in PyTorch, as often as each
line on standard input says; with clipping and AdamW when `adamw` is given. The
line `usage` is answered with the peak of memory, in bytes.

usage: torch_worker.py THREADS TOKENS.bin TARGETS.bin LOSS.txt [adamw]"""
import json
import math
import resource
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, HIDDEN, HEADS, SEQ, VOCAB, LAYERS = 768, 2048, 12, 256, 32000, 12
HEAD_DIM = DIM // HEADS


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(DIM))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rope(x, cos, sin):
    real, imaginary = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
    return torch.stack([real * cos - imaginary * sin,
                        real * sin + imaginary * cos], -1).flatten(-2)


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=1 / math.sqrt(inputs))
    return layer


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = [linear(DIM, DIM) for _ in range(4)]
        self.w1, self.w3 = linear(DIM, HIDDEN), linear(DIM, HIDDEN)
        self.w2 = linear(HIDDEN, DIM)
        self.norm1, self.norm2 = RmsNorm(), RmsNorm()

    def forward(self, x, cos, sin, mask):
        h = self.norm1(x)
        q, k, v = [f(h).view(1, SEQ, HEADS, HEAD_DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v)]
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        a = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(HEAD_DIM) + mask, -1)
        x = x + self.o((a @ v).transpose(1, 2).reshape(1, SEQ, DIM))
        h = self.norm2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = RmsNorm()
        nn.init.normal_(self.embedding.weight, std=1 / math.sqrt(DIM))

    def forward(self, tokens, targets, cos, sin, mask):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin, mask)
        logits = F.linear(self.norm(x), self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main(threads, tokens_path, targets_path, loss_path, optimizer=None):
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    tokens, targets = [torch.from_numpy(np.fromfile(path, "i4").astype("i8"))[None]
                       for path in (tokens_path, targets_path)]
    frequencies = 1 / 10000 ** (torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    angles = torch.outer(torch.arange(SEQ).float(), frequencies)
    cos, sin = angles.cos(), angles.sin()
    mask = torch.full((SEQ, SEQ), float("-inf")).triu(1)
    model = Model()
    # `foreach` is the faster of its two ways.
    adamw = optimizer and torch.optim.AdamW(
        [{"params": [p for p in model.parameters() if p.dim() > 1],
          "weight_decay": 0.1},
         {"params": [p for p in model.parameters() if p.dim() == 1],
          "weight_decay": 0}],
        lr=1e-4, betas=(0.9, 0.95), foreach=True)

    def step():
        # The gradients stay allocated: making them anew is what costs most.
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()
        start = time.perf_counter()
        loss = model(tokens, targets, cos, sin, mask)
        loss.backward()
        if adamw:
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            adamw.step()
        return (time.perf_counter() - start) * 1e3, loss.item()

    with open(loss_path, "w") as file:
        file.write(f"{step()[1]}\n")
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "usage\n":
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            print(json.dumps({"bytes": peak}), flush=True)
            continue
        print(json.dumps([step()[0] for _ in range(int(line))]), flush=True)


main(*sys.argv[1:])
