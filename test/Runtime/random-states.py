#!/usr/bin/env python3
"""Random programs that read, slice, update and write states, run on the CPU backend and
by the interpreter, which keeps a copy of everything: outputs and final states are the same.

usage: random-states.py [--seed=N] [--programs=N] WORK
"""
import argparse
import math
import os
import random
import re
import subprocess
import sys


class Draw:
    """The text of a program with two states."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.shape = [self.rng.randint(1, 3), self.rng.randint(1, 3), self.rng.randint(2, 6)]
        self.lines, self.values, self.count = [], [], 0
        self.params = ["%x: fp32" + self.text(self.shape), "%at: int32[3]"]
        self.values.append(("%x", self.shape))
        for state in ("a", "b"):
            self.params.append(f"%{state}: state<fp32{self.text(self.shape)}>")
        for _ in range(self.rng.randint(3, 14)):
            getattr(self, self.rng.choice(["read", "read", "write", "part", "index", "update",
                                           "store", "store", "store", "flat", "relu", "add", "turn"]))()
        self.results = self.rng.sample(self.values, min(2, len(self.values)))

    @staticmethod
    def text(shape):
        return "[" + ", ".join(map(str, shape)) + "]"

    def make(self, call, shape):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {call} : fp32{self.text(shape)}")
        self.values.append((name, shape))
        return name

    def pick(self, fits=lambda shape: True):
        """A value, more often a late one."""
        found = [value for value in self.values if fits(value[1])]
        return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]

    def whole(self):
        return self.pick(lambda shape: shape == self.shape)[0]

    def read(self):
        self.make(f"read_state(%{self.rng.choice('ab')})", self.shape)

    def write(self):
        self.lines.append(f"  write_state(%{self.rng.choice('ab')}, {self.whole()})")

    def part(self):
        name, shape = self.pick()
        size = [self.rng.randint(1, n) for n in shape]
        if self.rng.random() < 0.5:  # without gaps
            axis = self.rng.randrange(len(shape))
            size = [1] * axis + [size[axis]] + shape[axis + 1:]
        begin = [self.rng.randint(0, n - k) for n, k in zip(shape, size)]
        self.make(f"slice_by_size({name}) {{begin = {begin}, size = {size}}}", size)

    def index(self):
        name, shape = self.pick(lambda shape: len(shape) > 1)
        at = self.rng.randrange(shape[0])
        end = [at + 1] + shape[1:]
        mask = ", ".join(["true"] + ["false"] * (len(shape) - 1))
        self.make(f"slice_by_index({name}) {{begin = {[at] + [0] * (len(shape) - 1)}, "
                  f"end = {end}, squeeze_mask = [{mask}]}}", shape[1:])

    def update(self, name=None):
        name = name or self.whole()
        rows, size = self.pick(lambda shape: len(shape) == 3
                               and all(n <= k for n, k in zip(shape, self.shape)))
        if self.rng.random() < 0.5:
            return self.make(f"slice_update({name}, {rows}, %at, %at)", self.shape)
        begin = [self.rng.randint(0, n - k) for n, k in zip(self.shape, size)]
        end = [first + k for first, k in zip(begin, size)]
        return self.make(f"slice_update({name}, {rows}) {{begin = {begin}, end = {end}}}",
                         self.shape)

    def store(self):
        """An update that is stored at once, as in programs with caches."""
        state, name = self.rng.choice("ab"), None
        if self.rng.random() < 0.8:
            name = self.make(f"read_state(%{state})", self.shape)
            for _ in range(self.rng.randint(0, 2)):
                self.rng.choice([self.part, self.index, self.turn, self.flat])()
        name = self.update(name)
        if self.rng.random() < 0.2:
            self.relu()
        self.lines.append(f"  write_state(%{state}, {name})")

    def flat(self):
        name, shape = self.pick()
        whole = [math.prod(shape)]
        self.make(f"reshape({name}) {{shape = {whole}}}", whole)
        if self.rng.random() < 0.7:
            self.make(f"reshape({self.values[-1][0]}) {{shape = {shape}}}", shape)

    def relu(self):
        name, shape = self.pick()
        self.make(f"relu({name})", shape)

    def add(self):
        name, shape = self.pick()
        other = self.pick(lambda others: others == shape)[0]
        self.make(f"add({name}, {other})", shape)

    def turn(self):
        name, shape = self.pick(lambda shape: len(shape) == 3)
        self.make(f"transpose({name}) {{perm = [1, 0, 2]}}", [shape[1], shape[0], shape[2]])

    def program(self):
        results = ", ".join(f"%r{i}: fp32{self.text(shape)}"
                            for i, (_, shape) in enumerate(self.results))
        names = ", ".join(name for name, _ in self.results)
        return (f"kernel @main({', '.join(self.params)}) -> ({results}) {{\n"
                + "\n".join(self.lines) + f"\n  return {names}\n}}\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("work")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    failures = 0
    for seed in range(args.seed, args.seed + args.programs):
        draw = Draw(seed)
        file = f"{args.work}/{seed}.ir"
        with open(file, "w", encoding="utf-8") as out:
            out.write(draw.program())
        done = subprocess.run(
            ["ane-run", file, "--input=x=random:1", "--input=at=zeros", "--state=a=random:2",
             "--state=b=random:3", "--compare", "--numerics=fp32"],
            capture_output=True, text=True)
        errors = [float(e) for e in re.findall(r"relative error (\S+)", done.stdout)]
        if done.returncode or len(errors) != len(draw.results) + 2 or max(errors) > 1e-6:
            print(f"{file}: {done.stdout}{done.stderr}")
            failures += 1
        else:
            os.remove(file)
    print(f"{args.programs} programs, {failures} differ")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
