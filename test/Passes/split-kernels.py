#!/usr/bin/env python3
"""Writes programs that are too long for one kernel.

usage: split-kernels.py ir|tdsl OPS"""
import sys


def ir(count):
    print("host @m(%x: fp16[8, 32]) -> (%y: fp16[8, 32], %t: fp16[8, 32]) {\n"
          "  %y, %t = call @k(%x) : fp16[8, 32], fp16[8, 32]\n"
          "  return %y, %t\n}\n\n"
          "kernel @k(%x: fp16[8, 32]) -> (%y: fp16[8, 32], %t: fp16[8, 32]) {\n"
          '  %w = weight() {name = "k.w", dtype = "fp16", shape = [8, 32]} : '
          "fp16[8, 32]")
    last = "%x"
    for i in range(count):
        # Only here is there but one value between what is before and behind.
        wide = "%w" if i % 10 == 0 else f"%v{i - i % 10}"
        print(f"  %v{i} = {'add' if i % 2 else 'mul'}({last}, {wide}) : fp16[8, 32]")
        last = f"%v{i}"
    print(f"  return {last}, %v3\n}}")


def tdsl(count):
    print("layer long(x: fp16[32, 64]) -> fp16[32, 64] {\n"
          "  weight w, u: fp16[32, 32];\n  h0 = w @ x;")
    for i in range(count):
        print(f"  h{i + 1} = relu(h{i}) * 0.01 + h{i} * 0.99;")
    print(f"  return u @ h{count} + x;\n}}\n\n"
          "model deep(tokens: int32[64], targets: int32[64]) -> fp32 {\n"
          "  weight table: fp16[96, 32];\n"
          "  x = gather(table, tokens);\n  y = long(x);\n"
          "  return cross_entropy(table @ y, targets);\n}")


if __name__ == "__main__":
    {"ir": ir, "tdsl": tdsl}[sys.argv[1]](int(sys.argv[2]))
