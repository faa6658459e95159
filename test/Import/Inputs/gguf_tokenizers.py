#!/usr/bin/env python3
"""Writes small Llamas as GGUF files with tokenizers, has `anec import` write them as
tokenizer.json, and compares the ids of texts with those of the tokenizers that they
were made from: a tokenizer.json for each rule of splitting, in the form of published
ones, and a SentencePiece model.

usage: gguf_tokenizers.py bytes WORK
       gguf_tokenizers.py scores WORK MODEL TEXT"""
import collections
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Train/Inputs"))

import bad_gguf
import gguf_files
from huggingface_cases import LLAMA3, byte_characters
from random_models import run

QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
WORD = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+@|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*@|")
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = WORD.replace("@", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?") + r"\p{N}{1,3}" + REST
TEKKEN = WORD.replace("@", "") + r"\p{N}" + REST
TEXT = ("The theme of the 12345 others, isn't it?\n\n  Yes  it's\t1/2 x\r\n\r\n  y\n"
        "na\u00efve caf\u00e9 e\u0301 \u65e5\u672c\u8a9e \U0001F600<s>there</s> <new> <|im_end|>\n"
        "theThemeTHEtheme ofOF/\n// \u01c5a\u02b0b "
        "I'LL there12there    ab\u00a0cd\u2003ef ''s theme theretheretheme theme\n   ")
CORPUS = ("the other theme there then it's isn't of in on 12 123 and the band hand there "
          "others  then\n\nthe theme\n of the others 2024 ") * 3


def level(splits):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
            "use_regex": splits}


def split_at(regex):
    return {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False},
        level(False)]}


# The published tokenizer.json of GPT-2, Phi-4-mini, Llama 3, Qwen2, SmolLM and Mistral
# NeMo.
RULES = {
    "gpt-2": {"pre_tokenizer": level(True)},
    "gpt-4o": {"pre_tokenizer": split_at(GPT4O)},
    "llama-bpe": {"pre_tokenizer": split_at(LLAMA3), "ignore_merges": True, "bos": True},
    "qwen2": {"pre_tokenizer": split_at(QWEN), "normalizer": {"type": "NFC"}},
    "smollm": {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Digits", "individual_digits": True}, level(True)]}},
    "tekken": {"pre_tokenizer": split_at(TEKKEN), "ignore_merges": True, "bos": True},
}


def train(count):
    """Merges of pairs of bytes, as many times as they are in a corpus."""
    characters = byte_characters()
    words = collections.Counter(tuple(characters[byte] for byte in word.encode())
                                for word in re.findall(r" ?\S+|\s+", CORPUS))
    merges = []
    for _ in range(count):
        pairs = collections.Counter()
        for word, times in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += times
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        merged = collections.Counter()
        for word, times in words.items():
            out, i = [], 0
            while i < len(word):
                if word[i:i + 2] == best:
                    out.append(word[i] + word[i + 1])
                    i += 2
                else:
                    out.append(word[i])
                    i += 1
            merged[tuple(out)] += times
        words = merged
    return merges


def ids_of(tokenizer, text):
    return subprocess.run(["ane-run", "tokenize", f"--tokenizer={tokenizer}", "--markers"],
                          input=text.encode(), capture_output=True, check=True).stdout


def text_of(tokenizer, ids):
    return subprocess.run(["ane-run", "tokenize", "--decode", f"--tokenizer={tokenizer}"],
                          input=ids, capture_output=True, check=True).stdout


def import_with(work, metadata):
    bad_gguf.write(f"{work}/model.gguf", metadata, {})
    run("anec", "import", f"{work}/model.gguf", "-o", f"{work}/m.tdsl",
        f"--write-tokenizer={work}/words")


def compare(tokenizer, work, texts):
    for text in texts:
        wanted, got = ids_of(tokenizer, text), ids_of(f"{work}/words", text)
        assert got == wanted, f"{text!r}: {got}, and not {wanted}"
        assert text_of(tokenizer, wanted) == text_of(f"{work}/words", wanted), text


def with_bytes(work):
    merges = train(60)
    tokens = list(byte_characters().values()) + ["".join(pair) for pair in merges]
    # A word that merges do not make, which one of the rules prefers.
    tokens += ["\u0120theme\u0120", "theretheretheme"]
    special = {"<s>": 3, "</s>": 3, "<new>": 4, "<|im_end|>": 3}
    types = [1] * len(tokens) + list(special.values()) + [5]
    first = len(tokens)
    tokens = tokens + list(special) + ["[PAD0]"]
    for rule, parts in RULES.items():
        metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": rule,
                    "tokenizer.ggml.tokens": tokens,
                    "tokenizer.ggml.token_type": (gguf_files.ARRAY, (gguf_files.INT32, types)),
                    "tokenizer.ggml.merges": [" ".join(pair) for pair in merges],
                    "tokenizer.ggml.bos_token_id": first,
                    "tokenizer.ggml.eos_token_id": first + 1,
                    "tokenizer.ggml.eot_token_id": first + 3,
                    "tokenizer.chat_template": "{{ bos_token }}"}
        import_with(work, metadata)
        marker = {"type": "TemplateProcessing", "pair": [], "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "special_tokens": {"<s>": {"id": "<s>", "ids": [first], "tokens": ["<s>"]}}}
        published = {
            "version": "1.0", "normalizer": parts.get("normalizer"),
            "pre_tokenizer": parts["pre_tokenizer"], "decoder": level(True),
            "post_processor": marker if parts.get("bos") else None,
            "added_tokens": [{"id": first + n, "content": text, "special": kind == 3,
                              "normalized": False}
                             for n, (text, kind) in enumerate(special.items())],
            "model": {"type": "BPE", "ignore_merges": parts.get("ignore_merges", False),
                      "vocab": {text: n for n, text in enumerate(tokens[:first])},
                      "merges": [list(pair) for pair in merges]}}
        with open(f"{work}/published.json", "w", encoding="utf-8") as file:
            json.dump(published, file)
        compare(f"{work}/published.json", work, [TEXT])
        with open(f"{work}/words/tokenizer_config.json", encoding="utf-8") as file:
            assert json.load(file) == {"bos_token": "<s>", "eos_token": "</s>",
                                       "chat_template": "{{ bos_token }}"}
        with open(f"{work}/words/generation_config.json", encoding="utf-8") as file:
            assert json.load(file) == {"eos_token_id": [first + 1, first + 3]}
        print(f"{rule}: same")


def pieces_of(model):
    """The pieces, scores and types of a SentencePiece model: field 1 of it, whose
    fields are 1, 2 and 3."""
    with open(model, "rb") as file:
        data = file.read()
    pieces, at = [], 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while data[at] == 0x0A:
        at += 1
        end = number() + at
        piece, score, kind = b"", 0.0, 1
        while at < end:
            tag = number()
            if tag == 0x0A:
                size = number()
                piece = data[at:at + size]
                at += size
            elif tag == 0x15:
                score = struct.unpack_from("<f", data, at)[0]
                at += 4
            else:
                assert tag == 0x18, tag
                kind = number()
        pieces.append((piece.decode(), score, kind))
    return pieces


def with_scores(work, model, text):
    pieces = pieces_of(model)
    import_with(work, {
        "tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": [piece for piece, _, _ in pieces],
        "tokenizer.ggml.scores": [score for _, score, _ in pieces],
        "tokenizer.ggml.token_type": (gguf_files.ARRAY, (gguf_files.INT32,
                                                         [kind for _, _, kind in pieces]))})
    with open(text, encoding="utf-8") as file:
        whole = file.read()
    compare(model, work, [whole, *whole.splitlines()[:3], "", " "])
    print(f"{len(pieces)} pieces: same")


def main(kind, work, *rest):
    os.makedirs(work, exist_ok=True)
    with_bytes(work) if kind == "bytes" else with_scores(work, *rest)


main(*sys.argv[1:])
