"""The layer in PyTorch fp32, frozen and optimised for inference (its fastest
way on this layer); speaks the protocol of interleaved.Worker.

Usage: torch_worker.py X.bin Y.bin THREADS
"""

import json
import math
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import layer
from layer import DIM, EPSILON, HEADS, HEAD_DIM, HIDDEN, SEQ


class RmsNorm(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.gain = nn.Parameter(torch.from_numpy(gain))

    def forward(self, x):
        root = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON)
        return x * root * self.gain


def linear(matrix):
    module = nn.Linear(matrix.shape[1], matrix.shape[0], bias=False)
    module.weight = nn.Parameter(torch.from_numpy(matrix))
    return module


class Layer(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.norm1 = RmsNorm(w["attention.norm"])
        self.q = linear(layer.halves_first(w["attention.wq"]))
        self.k = linear(layer.halves_first(w["attention.wk"]))
        self.v = linear(w["attention.wv"])
        self.o = linear(w["attention.wo"])
        self.norm2 = RmsNorm(w["feed_forward.norm"])
        self.gate = linear(w["feed_forward.w1"])
        self.up = linear(w["feed_forward.w3"])
        self.down = linear(w["feed_forward.w2"])
        cosine, sine = layer.angles()
        self.register_buffer("cosine", torch.from_numpy(cosine).float())
        self.register_buffer("sine", torch.from_numpy(sine).float())
        self.register_buffer(
            "mask", torch.full((SEQ, SEQ), float("-inf")).triu(1))

    def turned(self, x):
        a, b = x.split(HEAD_DIM // 2, -1)
        return torch.cat([a * self.cosine - b * self.sine,
                          b * self.cosine + a * self.sine], -1)

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = [f(h).view(1, SEQ, HEADS, HEAD_DIM).transpose(1, 2)
                   for f in (self.q, self.k, self.v)]
        scores = self.turned(q) @ self.turned(k).transpose(2, 3)
        scores = scores / math.sqrt(HEAD_DIM) + self.mask
        mixed = torch.softmax(scores, -1) @ v
        x = x + self.o(mixed.transpose(1, 2).reshape(1, SEQ, DIM))
        h = self.norm2(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))


def main():
    source, target, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    x = torch.from_numpy(
        np.fromfile(source, np.float32).reshape(1, SEQ, DIM))
    with torch.no_grad():
        module = torch.jit.freeze(
            torch.jit.trace(Layer(layer.weights()).eval(), (x,)))
        module = torch.jit.optimize_for_inference(module)
        for _ in range(5):
            y = module(x)
        y.numpy().tofile(target)
        print("ready", flush=True)
        for line in sys.stdin:
            times = []
            for _ in range(int(line)):
                start = time.perf_counter()
                module(x)
                times.append((time.perf_counter() - start) * 1e3)
            print(json.dumps(times), flush=True)


main()
