#!/usr/bin/env python3
"""Damages .tdsl programs and compiles them: each run must end with exit code 0 or
1, without a message that names a bug of anec, and an error must have a place.

  mutate-programs.py ANEC FOLDER [--count=10000] [--seed=1] [--work=DIR]

FOLDER holds the programs to damage. Prints the failing programs and returns 1
when there are any.
"""

import argparse
import pathlib
import random
import re
import subprocess
import tempfile

from outcomes import Outcomes

TOKEN = re.compile(r"//[^\n]*|\"[^\"\n]*\"|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e-?\d+)?"
                   r"|->|\.\.|\s+|.", re.S)
EXTRA = ["(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "->", "..", "true",
         "layer", "return", "repeat", "config", "-", "x", "0", "axis"]
NUMBERS = ["0", "1", "2", "3", "7", "16", "-1", "65536", "2147483648", "0.5",
           "1e-9", "1e9", "1e300"]
TYPES = ["fp16", "fp32", "int32", "bool", "int8", "uint16"]
OPERATORS = ["+", "-", "*", "/", "@"]
OPS = ["sum", "max", "mean", "matmul", "conv", "sdpa", "concat", "split",
       "reshape", "transpose", "cast", "softmax", "select", "fill", "relu",
       "rmsnorm", "layer_norm", "rope", "gather", "take", "slice", "maximum",
       "exp", "log", "rsqrt", "cumsum", "pad", "tile", "topk", "argsort"]


def like(token, words, choose):
    """Another token of the same sort: the program still parses, mostly."""
    if not token:  # removed before
        return ""
    if token[0].isdigit():
        return choose.choice(NUMBERS)
    if token in TYPES:
        return choose.choice(TYPES)
    if token in OPERATORS:
        return choose.choice(OPERATORS)
    if token in OPS:
        return choose.choice(OPS)
    if token[0].isalpha():
        return choose.choice([word for word in words if word[0].isalpha()])
    return choose.choice(EXTRA)


def damage(text, choose):
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens)
              if not token.isspace() and not token.startswith("//")]
    words = [tokens[i] for i in places]
    names = [i for i in places if tokens[i][0].isalnum() or
             tokens[i] in OPERATORS]
    for _ in range(choose.choice([1, 1, 2, 3])):
        if choose.random() < 0.85:
            at = choose.choice(names)
            tokens[at] = like(tokens[at], words, choose)
            continue
        at, other = choose.choice(places), choose.choice(places)
        kind = choose.randrange(4)
        if kind == 0:
            tokens[at] = ""
        elif kind == 1:
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind == 2:
            tokens[at] = choose.choice(EXTRA)
        else:
            tokens[at] += " " + choose.choice(EXTRA)
    return "".join(tokens)


def problem(result, name):
    """Why the outcome is wrong; empty when it is not."""
    if result is None:
        return "it takes more than 20 seconds"
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}"
    if "bug in anec" in result.stderr:
        return "an internal error"
    if result.returncode == 1 and f"{name}:" not in result.stderr:
        return "an error without a place"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("anec")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    sources = sorted(options.folder.glob("*.tdsl"))
    texts = [source.read_text() for source in sources]
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    outcomes = Outcomes(options.seed)
    for number in range(options.count):
        choose = random.Random(f"{options.seed}.{number}")
        program = damage(choose.choice(texts), choose)
        path = work / "damaged.tdsl"
        path.write_text(program)
        command = [options.anec, path, "-o", work / "out.anepkg"]
        if "model " not in program:
            command = [options.anec, path, "--emit=mil", "--init=1"]
        if choose.randrange(3) == 0:
            command.append("--target=" + choose.choice(["m1", "m4", "generic"]))
        try:
            result = subprocess.run(command, capture_output=True, text=True,
                                    timeout=20)
        except subprocess.TimeoutExpired:
            result = None
        why = problem(result, "damaged.tdsl")
        outcomes.add(number, command, result, why,
                     f"{program}\n{result.stderr if result else ''}")
    outcomes.exit()


main()
