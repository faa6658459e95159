#!/usr/bin/env python3
"""Damages IR text and runs passes on it: each run must end with exit code 0 or 1
within 10 seconds, without a message that names a bug of anec.

  mutate-ir.py ANEC FILE... [--count=10000] [--seed=1] [--first=0] [--work=DIR]

FILE is a .tdsl or .ir program, taken as it is and as it is after some passes.
Prints the failing programs and returns 1 when there are any.
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Shell"))
import memory
from outcomes import Outcomes

# Passes after which programs are taken, each list after the one before.
MODEL = ["fold-constants", "differentiate", "drop-forward", "canonicalize",
         "cse", "dce", "place", "form-kernels", "fuse-rmsnorm",
         "fuse-wo-transpose", "expose-taps", "prune-interfaces", "fuse-kernels",
         "pack-weights", "split-kernels"]
STAGES = [[], ["differentiate"], ["differentiate", "drop-forward", "place"],
          MODEL[:8], MODEL[:12], MODEL, ["model"], ["decompose"], ["default"]]

# Sizes of the examples, so that they compile quickly.
SMALL = {"layers": 2, "dim": 32, "hidden": 64, "heads": 2, "kv_heads": 2,
         "seq": 16, "vocab": 64, "experts": 2, "batch": 4, "size": 16,
         "channels": 8, "head_dim": 16, "state": 8}

TOKEN = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"|[%@]?[A-Za-z_][\w.-]*'
                   r"|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|->|\s+|.", re.S)
NUMBERS = ["0", "1", "2", "3", "4", "7", "16", "-1", "64", "65536",
           "2147483648", "9223372036854775807", "0.5", "1e9"]
TYPES = ["fp16", "fp32", "int32", "bool", "int8", "uint16"]
KINDS = ["kernel", "layer", "host"]
FUNCTION_ROLES = ["forward", "backward", "train", "infer", "prefill", "decode",
                  "body"]
VALUE_ROLES = ["input", "target", "loss-scale", "random-mask", "weight",
               "frozen-weight", "tap", "state", "position", "constant",
               "gradient", "output", "loss", "metric", "logits"]
SORTS = [NUMBERS, TYPES, KINDS, FUNCTION_ROLES, VALUE_ROLES, ["true", "false"],
         ["of", "role"]]
OP = re.compile(r"= ([a-z_0-9]+)\(")


def sort_of(token):
    if re.match(r"-?\d", token):
        return "number"
    for index, sort in enumerate(SORTS):
        if token in sort:
            return index
    return token[0] if token[0] in '%@"' else "word"


def exchange_token(text, choose):
    """Replaces a token with one of the same sort, mostly."""
    tokens = TOKEN.findall(text)
    places = [i for i, token in enumerate(tokens)
              if not token.isspace() and not token.startswith("//") and
              (len(token) > 1 or token.isalnum() or choose.random() < 0.05)]
    if not places:
        return text
    at = choose.choice(places)
    sort = sort_of(tokens[at])
    if choose.random() < 0.1:
        tokens[at] = tokens[choose.choice(places)]
    elif sort == "number":
        others = [tokens[i] for i in places if sort_of(tokens[i]) == sort]
        tokens[at] = choose.choice(NUMBERS + others)
    elif isinstance(sort, int):
        tokens[at] = choose.choice(SORTS[sort])
    elif sort == "word" and OP.search(text):
        before = "".join(tokens[max(at - 2, 0):at])
        words = OP.findall(text) if before.endswith("= ") else [
            tokens[i] for i in places if sort_of(tokens[i]) == "word"]
        tokens[at] = choose.choice(words)
    else:
        tokens[at] = choose.choice([tokens[i] for i in places
                                    if sort_of(tokens[i]) == sort])
    return "".join(tokens)


def exchange_kind(text, choose):
    """Another kind, role or owner for a function."""
    lines = text.split("\n")
    heads = [i for i, line in enumerate(lines)
             if line.split(" ")[0] in KINDS]
    if not heads:
        return text
    at = choose.choice(heads)
    how = choose.randrange(4)
    if how == 0:
        kind, rest = lines[at].split(" ", 1)
        lines[at] = choose.choice(KINDS) + " " + rest
    elif how == 1:
        owner = choose.choice(re.findall(r"@([\w.]+)", text))
        words = [f"role = {choose.choice(FUNCTION_ROLES)}", f'of = "{owner}"']
        words = choose.choice([words[:1], words[1:], words, []])
        lines[at] = re.sub(r"( \{[^{}]*of =[^{}]*\}| \{role[^{}]*\})? \{$", "",
                           lines[at])
        lines[at] += (" {" + ", ".join(words) + "}" if words else "") + " {"
    elif how == 2:
        values = list(re.finditer(r"(%[\w.]+: [^,()]*?)(?: \{[^{}]*\})?(?=[,)])",
                                  lines[at]))
        if values:
            match = choose.choice(values)
            role = f" {{role = {choose.choice(VALUE_ROLES)}}}"
            lines[at] = (lines[at][:match.start()] + match[1] + role +
                         lines[at][match.end():])
    else:
        other = choose.choice(heads)
        names = [re.search(r"@[\w.]+", lines[i])[0] for i in (at, other)]
        return re.sub("|".join(map(re.escape, names)),
                      lambda match: names[match[0] == names[0]], text)
    return "\n".join(lines)


def move_lines(text, choose):
    """Swaps, removes or repeats lines, mostly of one function."""
    lines = text.split("\n")
    at = choose.randrange(len(lines))
    other = (choose.randrange(len(lines)) if choose.random() < 0.2 else
             min(max(at + choose.randrange(-6, 7), 0), len(lines) - 1))
    how = choose.randrange(3)
    if how == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif how == 1:
        del lines[at]
    else:
        lines.insert(other, lines[at])
    return "\n".join(lines)


def exchange_functions(text, choose):
    """Removes, repeats or moves a function."""
    functions = re.split(r"\n(?=(?:kernel|layer|host) @)", text)
    at, other = (choose.randrange(len(functions)) for _ in range(2))
    how = choose.randrange(3)
    if how == 0:
        del functions[at]
    elif how == 1:
        copy = re.sub(r"@([\w.]+)", r"@\1.copy", functions[at], count=1)
        functions.insert(other, copy)
    else:
        functions[at], functions[other] = functions[other], functions[at]
    return "\n".join(functions)


def exchange_operand(text, choose):
    """Replaces an operand or a result with a value of the same type."""
    functions = re.split(r"\n(?=(?:kernel|layer|host) @)", text)
    at = choose.randrange(len(functions))
    types = dict(re.findall(r"(%[\w.]+): ([a-z]+\d*(?:\[[\d, ]*\])?)",
                            functions[at].split("\n")[0]))
    types.update(re.findall(r"^  (%[\w.]+) = .* : ([a-z]+\d*(?:\[[\d, ]*\])?)$",
                            functions[at], re.M))
    head, _, body = functions[at].partition("\n")
    uses = [use for use in re.finditer(r"(?<=[(, ])%[\w.]+", body)
            if use[0] in types and not body[use.end():].startswith((" =", ", %"))]
    if not uses:
        return text
    use = choose.choice(uses)
    same = [value for value, type in types.items() if type == types[use[0]]]
    body = body[:use.start()] + choose.choice(same) + body[use.end():]
    functions[at] = head + "\n" + body
    return "\n".join(functions)


def exchange_extent(text, choose):
    """Replaces an extent everywhere."""
    extents = re.findall(r"(?<=[\[ ])\d+(?=[,\]])", text)
    if not extents:
        return text
    extent, other = choose.choice(extents), choose.choice(extents + NUMBERS[:9])
    return re.sub(rf"(?<=[\[ ]){extent}(?=[,\]])", other, text)


def exchange_op(text, choose):
    """Replaces an op with another that the program has."""
    ops = list(OP.finditer(text))
    if not ops:
        return text
    op, other = choose.choice(ops), choose.choice(ops)
    return text[:op.start(1)] + other[1] + text[op.end(1):]


def drop_body(text, choose):
    """Leaves a declaration of a kernel."""
    kernels = list(re.finditer(r"^kernel @.*?^}\n", text, re.M | re.S))
    if not kernels:
        return text
    kernel = choose.choice(kernels)
    head = kernel[0].split("\n")[0].removesuffix(" {")
    return text[:kernel.start()] + head + "\n" + text[kernel.end():]


CHANGES = {exchange_token: 4, exchange_kind: 6, move_lines: 3,
           exchange_functions: 2, exchange_operand: 6, exchange_extent: 3,
           exchange_op: 2, drop_body: 2}


def damage(text, choose):
    for _ in range(choose.choice([1, 1, 1, 2, 3])):
        change = choose.choices(list(CHANGES), list(CHANGES.values()))[0]
        text = change(text, choose)
    return text


def problem(result):
    """Why the outcome is wrong; empty when it is not."""
    if result is None:
        return "it takes more than 10 seconds"
    if result.returncode == 3 and "out of memory" in result.stderr:
        return ""
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}"
    for message in ("bug in anec", "runtime error:", "Sanitizer"):
        if message in result.stderr:
            return f"`{message}`"
    return ""


def run(command):
    try:
        return subprocess.run(
            memory.within(4 << 30, command), capture_output=True, text=True,
            errors="replace", timeout=10)
    except subprocess.TimeoutExpired:
        return None


def stages(anec, file):
    """The program before its passes and after more and more of them."""
    source = file.read_text()
    sizes = [f"--define={name}={size}" for name, size in SMALL.items()
             if re.search(rf"\b{name} = \d", source)]
    texts = []
    for passes in STAGES:
        result = run([anec, file, "--emit=ir", f"--passes={','.join(passes)}",
                      *sizes])
        if result and result.returncode == 0 and result.stdout not in texts:
            texts.append(result.stdout)
    return texts


def pass_names(anec):
    text = run([anec, "debug", "--dump-docs=passes"]).stdout
    return re.findall(r"^#+ `?([a-z-]+)`?$", text, re.M)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("anec")
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0,
                        help="the number of the first one")
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    work.mkdir(parents=True, exist_ok=True)
    texts = [text for file in options.files
             for text in stages(options.anec, file)]
    passes = pass_names(options.anec)
    assert len(passes) > 20 and texts
    outcomes = Outcomes(options.seed)
    for number in range(options.first, options.first + options.count):
        choose = random.Random(f"{options.seed}.{number}")
        program = damage(choose.choice(texts), choose)
        path = work / "damaged.ir"
        path.write_text(program)
        how = choose.randrange(8)
        if how < 4:
            flags = ["--emit=ir", f"--passes={choose.choice(passes)}"]
        elif how == 4:
            some = choose.sample(passes, choose.randrange(2, 5))
            flags = ["--emit=ir", f"--passes={','.join(some)}"]
        elif how == 5:
            flags = ["--emit=mil", "--init=1"]
        elif how == 6:
            flags = ["--emit=ir", "--passes=model"]
        else:
            flags = ["--init=1", "-o", work / "out.anepkg"]
        if choose.randrange(4) == 0:
            flags.append("--target=" + choose.choice(["m1", "m4", "generic"]))
        command = [options.anec, path, *flags]
        result = run(command)
        why = problem(result)
        outcomes.add(number, command, result, why,
                     result.stderr[-2000:] if result else "")
        if why:
            (work / f"failed-{options.seed}.{number}.ir").write_text(program)
    outcomes.exit()


main()
