#!/usr/bin/env python3
"""Damages what others write of language models, and reads it: GGUF files and llama2.c's
checkpoints are imported, tokenizers and SentencePiece models encode a text, chat templates
write a conversation.

  mutate-models.py ANEC ANE_RUN SEEDS [--count=1000] [--seed=1] [--work=DIR]

SEEDS is a folder that seeds.py wrote. Each run must end with exit code 0 or 1, in 10 seconds
and 1 GB of memory; an error must name a file; with 0, the output must be there; and nothing
else may be. Prints the failing runs, whose folders stay in --work, and returns 1 when there
are any."""
import argparse
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "Shell"), str(TESTS / "CoreML/Inputs")]
import memory
import proto
from damage import damage
from outcomes import Outcomes

WORDS = [b"\0", b"\xff" * 4, b"\xff" * 8, b"\0" * 8, b"\x7f", b"general.architecture", b"llama",
         b"block_count", b"[", b"{", b'"', b"null", b"-1", b"1e999", b"\\u0000", b"vocab", b"BPE",
         b"Unigram", b"\xe2\x96\x81", b"<0x0A>", b"<unk>"]
MOST = 1 << 18  # bytes that a message grows by at once
TEXT = "Hello, world! 1234\n\u20ac na\u00efve \U0001f600\n"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEXT},
            {"role": "assistant", "content": ""}, {"role": "user", "content": "a" * 300}]
TOKEN = re.compile(r"\{[{%#]-?|-?[}%#]\}|'[^'\n]*'|\"[^\"\n]*\"|\w+|\s+|.", re.S)
PARTS = ["range(100000)", "* 1000000", "loop.index", "|join", "|tojson", "|length", "[::2]", "[0]",
         "namespace(a=1)", "messages", "{% for a in messages %}", "{% endfor %}", "{% if a %}",
         "{% endif %}", "{% set a = a + a %}", "{{ messages * 99999 }}", ".split('')", "is defined",
         "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "~", "**", "//", "not", "in"]


def varint(value):
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def message_of(fields):
    parts = []
    for number, wire, value in fields:
        parts.append(varint(number << 3 | wire))
        if wire == 0:
            parts.append(varint(value))
        else:
            parts += [varint(len(value)) if wire == 2 else b"", value]
    return b"".join(parts)


def damage_fields(data, choose):
    """A message with some fields damaged, whose lengths are right."""
    if len(data) > MOST:
        return damage(data, WORDS, choose)
    try:
        fields = [list(field) for field in proto.fields(data)]
    except proto.Malformed:
        return damage(data, WORDS, choose)
    for _ in range(choose.choice([1, 1, 2, 4])):
        if not fields:
            break
        at = choose.randrange(len(fields))
        kind = choose.randrange(6)
        if kind == 0:
            del fields[at]
        elif kind == 1:
            size = len(message_of([fields[at]]))
            fields[at:at] = [list(fields[at])] * min(choose.choice([1, 1, 2, 1000]),
                                                     1 + MOST // size)
        elif kind == 2:
            other = choose.randrange(len(fields))
            fields[at], fields[other] = fields[other], fields[at]
        elif fields[at][1] == 0:
            fields[at][2] = choose.choice([0, 1, 2, 3, 5, 127, 2**31, 2**32 - 1, 2**64 - 1])
        elif fields[at][1] == 2:
            longer = fields[at][2] * choose.choice([2, 100, 1000])
            fields[at][2] = (longer if choose.randrange(10) == 0 and len(longer) < MOST
                             else damage_fields(fields[at][2], choose))
        else:
            fields[at][2] = damage(fields[at][2], WORDS, choose)[:len(fields[at][2])].ljust(
                len(fields[at][2]), b"\xff")
    return message_of(fields)


def damage_template(text, others, choose):
    """A template with tokens of others."""
    tokens = TOKEN.findall(text)
    for _ in range(choose.choice([1, 1, 2, 4])):
        at = choose.randrange(len(tokens) + 1)
        kind = choose.randrange(5)
        if kind == 0:
            del tokens[at:at + choose.choice([1, 1, 4])]
        elif kind == 1:
            tokens[at:at] = [choose.choice(PARTS)]
        elif kind == 2:
            tokens[at:at + 1] = [choose.choice(PARTS)]
        elif kind == 3:
            tokens[at:at] = tokens[choose.randrange(len(tokens) + 1):][:choose.choice([1, 4, 16])]
        else:
            other = TOKEN.findall(choose.choice(others))
            tokens[at:at] = other[choose.randrange(len(other) + 1):][:choose.choice([1, 4, 16])]
    return "".join(tokens)


class Seeds:
    def __init__(self, folder):
        tokens = folder / "FuzzTokens"
        self.models = sorted((folder / "FuzzGguf").iterdir())
        # The first byte chooses a reader of the fuzz target.
        self.tokenizers = [(path.name, path.read_bytes()[1:])
                           for path in sorted(tokens.iterdir())
                           if path.name in ("tokenizer.bin", "tokenizer.json", "whole.model",
                                            "decoding-map.model")]
        self.json = (tokens / "tokenizer.json").read_bytes()[1:]
        self.templates = [path.read_text() for path in sorted((folder / "FuzzJinja").iterdir())]


def write_mutant(seeds, box, anec, ane_run, choose):
    """Writes a damaged file to `box`; the command that reads it."""
    kind = choose.choice(["model", "tokenizer", "template"])
    if kind == "model":
        path = choose.choice(seeds.models)
        (box / path.name).write_bytes(damage(path.read_bytes(), WORDS, choose))
        return [anec, "import", path.name, "-o", "out.tdsl"]
    (box / "text").write_text(TEXT)
    if kind == "tokenizer":
        name, contents = choose.choice(seeds.tokenizers)
        change = damage_fields if name.endswith(".model") and choose.randrange(4) else (
            lambda data, choose: damage(data, WORDS, choose))
        (box / name).write_bytes(change(contents, choose))
        return [ane_run, "tokenize", "text", f"--tokenizer={name}", "-o", "out.bin"]
    (box / "tokenizer.json").write_bytes(seeds.json)
    template = damage_template(choose.choice(seeds.templates), seeds.templates, choose)
    (box / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    (box / "text").write_text(json.dumps({"messages": MESSAGES}) + "\n")
    return [ane_run, "tokenize", "--chat", "text", "--tokenizer=.", "-o", "out.bin"]


def judge(command, result, box, before):
    text = result.stderr.decode(errors="replace")
    if result.returncode not in (0, 1):
        return f"exit code {result.returncode}"
    if "[bug" in text or (result.returncode == 1 and "error: " not in text):
        return "no error of the file"
    made = {path.name for path in box.iterdir()} - before
    output = {"out.bin"} if "out.bin" in command else {"out.tdsl", "out.names.json"}
    if made != (output if result.returncode == 0 else set()):
        return f"exit code {result.returncode}, and it leaves {sorted(made)}"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("anec", type=pathlib.Path)
    parser.add_argument("ane_run", type=pathlib.Path)
    parser.add_argument("seeds", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=pathlib.Path)
    arguments = parser.parse_args()
    seeds = Seeds(arguments.seeds)
    work = arguments.work or pathlib.Path(tempfile.mkdtemp())
    outcomes = Outcomes(arguments.seed)
    for number in range(arguments.count):
        choose = random.Random(f"{arguments.seed}.{number}")
        box = work / str(number)
        box.mkdir(parents=True)
        command = write_mutant(seeds, box, arguments.anec.absolute(),
                               arguments.ane_run.absolute(), choose)
        before = {path.name for path in box.iterdir()}
        result, text = None, ""
        try:
            result = subprocess.run(memory.within(1 << 30, command), capture_output=True,
                                    timeout=10, cwd=box)
            text = result.stderr.decode(errors="replace")
            why = judge(command, result, box, before)
        except subprocess.TimeoutExpired:
            why = "more than 10 seconds"
        outcomes.add(number, command, result, why, text)
        if not why:
            shutil.rmtree(box)
    outcomes.exit()


if __name__ == "__main__":
    main()
