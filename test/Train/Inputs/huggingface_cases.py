#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares tokenizers of tokenizer.json with the library tokenizers.

A case is a tokenizer, texts, their ids with and without markers, and the text
that the ids decode to. Cases with small random tokenizers of every supported type
and texts of rare characters are made up here, and their results computed by the
library tokenizers in a package of npm. A file of such cases is part of the tests,
which do not need the package.

Large texts are made up of a seed, and only the digest of their ids is kept.

usage: huggingface_cases.py check CASES.json FOLDER
       huggingface_cases.py large LARGE.json FOLDER [--npm=MODULES --write=LARGE.json]
       huggingface_cases.py random FOLDER --npm=MODULES [--seed=N] [--count=N]
                            [--write=CASES.json]

MODULES is a folder where `npm install @anush008/tokenizers` was run."""
import argparse
import base64
import collections
import hashlib
import json
import pathlib
import random
import struct
import subprocess
import sys
import unicodedata

REFERENCE = r"""
const fs = require('fs');
const {Tokenizer} = require('@anush008/tokenizers');
(async () => {
  const cases = JSON.parse(fs.readFileSync(process.argv[2]));
  for (const test of cases.slice(Number(process.argv[3]))) {
    const found = {ids: [], marked: [], decoded: []};
    try {
      fs.writeFileSync(process.argv[4], JSON.stringify(test.tokenizer));
      const tokenizer = Tokenizer.fromFile(process.argv[4]);
      for (const text of test.texts) {
        const plain = await tokenizer.encode(text, null, {addSpecialTokens: false});
        const marked = await tokenizer.encode(text, null, {addSpecialTokens: true});
        const ids = Array.from(plain.getIds());
        found.ids.push(ids);
        found.marked.push(Array.from(marked.getIds()));
        found.decoded.push(ids.length ? await tokenizer.decode(ids, true) : '');
      }
    } catch (error) { found.refused = String(error); }
    fs.writeFileSync(process.argv[5], JSON.stringify(found) + "\n", {flag: "a"});
  }
})();
"""


def ask_reference(cases, npm, folder):
    """Adds what the library says. It ends the process on some cases."""
    asked, script = folder / "asked.json", pathlib.Path(npm) / "reference.cjs"
    asked.write_text(json.dumps(cases))
    script.write_text(REFERENCE)
    done = 0
    while done < len(cases):
        answer_file = folder / "answers.txt"
        answer_file.write_text("")
        subprocess.run(["node", script, asked, str(done), folder / "t.json",
                        answer_file], capture_output=True)
        answers = [json.loads(line)
                   for line in answer_file.read_text().split("\n") if line]
        for test, answer in zip(cases[done:], answers):
            test.update(answer)
        done += len(answers)
        if done < len(cases):
            cases[done]["refused"] = "crash"
            done += 1


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
         r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|"
         r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PATTERNS = [
    LLAMA3, LLAMA3.replace("{1,3}", ""), GPT4O,
    r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s", r"\w+|[^\w\s]+", r"\s+", r"\S+", r"\d",
    r"(?=[A-Z])", r"[\s\p{P}]", r" ?[^(\s|[.,!?…。，、।۔،])]+", r"\b", r"\W+",
    "[一-龥぀-ゟ゠-ヿ]+", r"\p{Han}|\p{Hiragana}+", r"[^\S\n]+", r"^.", r".$",
    r"\h{2}", r"[\x41-\x{5A}\u00e9]", r"(?i)ß|k|s", r"(a|e)+?", r"\p{^L}", r"\D\d?",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?"
    r"[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+", r"(?m:.)\n"]


def byte_characters():
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in kept]
    return {**{byte: chr(byte) for byte in kept},
            **{byte: chr(256 + n) for n, byte in enumerate(others)}}


def is_old(character):
    """Whether all versions of Unicode in use agree about a character."""
    return unicodedata.ucd_3_2_0.category(character) == \
        unicodedata.category(character) != "Cn"


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def characters(self, first, last, most):
        drawn = (chr(self.random.randint(first, last))
                 for _ in range(self.random.randint(1, most)))
        return "".join(c for c in drawn if is_old(c)) or "x"

    def piece(self):
        pick, chars = self.random.choice, self.characters
        kind = self.random.randrange(16)
        if kind < 4:
            return pick(["the ", "The cat", " sat", " on", " a", " mat", ", and",
                         " then", "!", ".\n", " 1234", "I'm", "you'LL", " it's",
                         "<s>", "<mask>", " <mask> ", "</s>", "don't do not "])
        if kind == 4:
            return pick([chars(0x4E00, 0x9FFF, 6), chars(0x3040, 0x30FF, 6),
                         chars(0xAC00, 0xD7A3, 4)])
        if kind == 5:
            return pick(["👨‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️‍🔥", "1️⃣", "🎉"])
        if kind == 6:
            return chars(0, 0x20, 3)
        if kind == 7:
            return chars(0x300, 0x36F, 3).join("aeoA"[:self.random.randint(1, 4)])
        if kind == 8:
            return pick([chars(0x600, 0x6FF, 5), chars(0x900, 0x97F, 5),
                         chars(0xE00, 0xE5F, 5), chars(0x1100, 0x11FF, 3)])
        if kind == 9:
            return pick("\u200b\u00a0\u2028\ufeff\u180e\u0085\u3000\u200dſİßﬁǄÅ①½Ⅷ٣"
                        "ẛ̣Ω𝒜ㄱ㍿ﷺ_·“”…–")
        if kind == 10:
            return " " * self.random.randint(1, 6) + "\n" * self.random.randint(0, 2)
        if kind == 11:
            return pick(["\t", "\r\n", "▁", "##", "'", "\"", "-", "_", "//", "{}"])
        if kind == 12:
            return chars(0xA0, 0x24FF, 4)
        if kind == 13:
            return chars(0x30, 0x39, 7)
        if kind == 14:
            return pick([chars(0x10000, 0x1F9FF, 2), chars(0xE000, 0xFFFD, 2)])
        return chars(0x61, 0x7A, 5) + pick(["", " "])

    def text(self, pieces):
        return "".join(self.piece() for _ in range(self.random.randint(1, pieces)))

    # -------------------------------------------------------------------------

    def pattern(self):
        if self.random.random() < 0.3:
            return {"String": self.random.choice([" ", "e", "a.", "\n", "▁", "th"])}
        return {"Regex": self.random.choice(PATTERNS)}

    def normalizer(self, depth=0):
        flag = lambda: self.random.random() < 0.5
        kind = self.random.choice(
            ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt",
             "Prepend", "Replace", "Replace", "Strip", "BertNormalizer",
             "Precompiled"] + (["Sequence"] * 3 if depth < 2 else []))
        made = {"type": kind}
        if kind == "Sequence":
            made["normalizers"] = [self.normalizer(depth + 1)
                                   for _ in range(self.random.randint(0, 3))]
        if kind == "Prepend":
            made["prepend"] = self.random.choice(["▁", " ", "ab"])
        if kind == "Replace":
            made |= {"pattern": self.pattern(),
                     "content": self.random.choice(["▁", "", " ", "xy"])}
        if kind == "Strip":
            made |= {"strip_left": flag(), "strip_right": flag()}
        if kind == "BertNormalizer":
            made |= {"clean_text": flag(), "handle_chinese_chars": flag(),
                     "strip_accents": self.random.choice([None, True, False]),
                     "lowercase": flag()}
        if kind == "Precompiled":
            made["precompiled_charsmap"] = charsmap(
                {"ﬁ": "fi", "\t": " ", "\u3000": " ", "①": "1", "Å": "Å", "\n": "",
                 "e\u0301": "é", "A": "a"})
        return made

    def splitter(self, depth=0):
        flag = lambda: self.random.random() < 0.5
        behaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                     "Contiguous"]
        kind = self.random.choice(
            ["Split", "Split", "Split", "Metaspace", "Whitespace", "WhitespaceSplit",
             "Digits", "Punctuation", "BertPreTokenizer", "CharDelimiterSplit"] +
            (["Sequence"] * 4 if depth < 2 else []))
        made = {"type": kind}
        if kind == "Sequence":
            made["pretokenizers"] = [self.splitter(depth + 1)
                                     for _ in range(self.random.randint(0, 3))]
        if kind == "Split":
            made |= {"pattern": self.pattern(), "invert": flag(),
                     "behavior": self.random.choice(behaviors)}
        if kind == "Metaspace":
            made |= {"replacement": "▁",
                     "prepend_scheme": self.random.choice(["always", "first", "never"]),
                     "split": flag()}
        if kind == "Digits":
            made["individual_digits"] = flag()
        if kind == "Punctuation":
            made["behavior"] = self.random.choice(behaviors)
        if kind == "CharDelimiterSplit":
            made["delimiter"] = self.random.choice(" e-")
        return made

    # -------------------------------------------------------------------------

    def bpe(self, texts, is_bytes):
        characters = byte_characters()
        sequences = [[characters[byte] for byte in text.encode()] if is_bytes
                     else list(text.replace(" ", "▁")) for text in texts]
        count = collections.Counter(c for s in sequences for c in s)
        tokens = list(characters.values()) if is_bytes else \
            [c for c, _ in count.most_common(self.random.randint(5, 150))]
        falls_back = not is_bytes and self.random.random() < 0.5
        if falls_back:
            tokens = [f"<0x{byte:02X}>" for byte in range(256)] + tokens
        tokens = ["<unk>"] + tokens
        known = set(tokens)
        merges = []
        for _ in range(self.random.randint(0, 120)):
            pairs = collections.Counter(
                pair for s in sequences for pair in zip(s, s[1:])
                if pair[0] in known and pair[1] in known)
            if not pairs:
                break
            pair = self.random.choice(pairs.most_common(8))[0]
            merges.append(pair)
            if pair[0] + pair[1] not in known:
                known.add(pair[0] + pair[1])
                tokens.append(pair[0] + pair[1])
            for s in sequences:
                at = 0
                while at + 1 < len(s):
                    if (s[at], s[at + 1]) == pair:
                        s[at:at + 2] = ["".join(pair)]
                    at += 1
        as_text = self.random.random() < 0.5 and \
            not any(" " in part for merge in merges for part in merge)
        ids = list(range(len(tokens)))
        if self.random.random() < 0.5:
            self.random.shuffle(ids)
        return {"type": "BPE", "dropout": None,
                "unk_token": self.random.choice(["<unk>", None]),
                "continuing_subword_prefix": None, "end_of_word_suffix": None,
                "fuse_unk": self.random.random() < 0.5,
                "byte_fallback": falls_back,
                "ignore_merges": self.random.random() < 0.3,
                "vocab": dict(zip(tokens, ids)),
                "merges": [" ".join(m) if as_text else list(m) for m in merges]}

    def substrings(self, texts, most, count):
        pieces = set()
        for _ in range(count):
            text = self.random.choice(texts).replace(" ", "▁")
            begin = self.random.randrange(len(text))
            pieces.add(text[begin:begin + self.random.randint(1, most)])
        return sorted(pieces)

    def unigram(self, texts):
        pieces = [p for p in self.substrings(texts, 5, 300) if p != "<unk>"]
        falls_back = self.random.random() < 0.5
        if falls_back:
            pieces += [f"<0x{byte:02X}>" for byte in range(256)]
        pieces.insert(0, "<unk>")
        return {"type": "Unigram", "unk_id": 0, "byte_fallback": falls_back,
                "vocab": [[p, -self.random.random() * 12] for p in pieces]}

    def word_piece(self, texts):
        tokens = {"[UNK]"}
        for piece in self.substrings(texts, 5, 300):
            tokens.add(piece if self.random.random() < 0.5 else "##" + piece)
        return {"type": "WordPiece", "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": self.random.choice([5, 100]),
                "vocab": {t: n for n, t in enumerate(sorted(tokens))}}

    def added(self, model):
        vocab = model["vocab"]
        known = dict(vocab) if isinstance(vocab, dict) else \
            {piece: n for n, (piece, _) in enumerate(vocab)}
        made, next_id = [], len(known)
        for text in ["<s>", "</s>", "<mask>", "the", " a", "\n\n", "🎉", "İ"]:
            if self.random.random() < (0.3 if len(made) > 1 else 0.8):
                flag = lambda share=0.3: self.random.random() < share
                special = text.startswith("<") and flag(0.8)
                made.append({"id": known.get(text, next_id), "content": text,
                             "single_word": flag(), "lstrip": flag(),
                             "rstrip": flag(), "special": special,
                             "normalized": not special and flag(0.7)})
                next_id += text not in known
        return made

    def post_processor(self, added):
        special = [token for token in added if token["special"]]
        if not special or self.random.random() < 0.3:
            return None
        first, last = self.random.choice(special), self.random.choice(special)
        of = lambda token: {"SpecialToken": {"id": token["content"], "type_id": 0}}
        text = lambda id: {"Sequence": {"id": id, "type_id": 0}}
        template = {"type": "TemplateProcessing",
                    "single": [of(first), text("A"), of(last)],
                    "pair": [text("A"), text("B")],
                    "special_tokens": {
                        token["content"]: {"id": token["content"],
                                           "ids": [token["id"]],
                                           "tokens": [token["content"]]}
                        for token in (first, last)}}
        level = {"type": "ByteLevel", "add_prefix_space": True,
                 "trim_offsets": False, "use_regex": True}
        pair = {"sep": [last["content"], last["id"]],
                "cls": [first["content"], first["id"]]}
        return self.random.choice([
            template, level, {"type": "Sequence", "processors": [level, template]},
            {"type": "BertProcessing", **pair},
            {"type": "RobertaProcessing", **pair, "trim_offsets": True,
             "add_prefix_space": False}])

    def decoder(self, kind):
        if kind == "bytes":
            return {"type": "ByteLevel", "add_prefix_space": True,
                    "trim_offsets": True, "use_regex": True}
        if kind == "WordPiece":
            return {"type": "WordPiece", "prefix": "##",
                    "cleanup": self.random.random() < 0.5}
        return self.random.choice([
            None,
            {"type": "Metaspace", "replacement": "▁",
             "prepend_scheme": self.random.choice(["always", "first", "never"]),
             "split": True},
            {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"}, {"type": "Fuse"},
                {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            {"type": "Strip", "content": "▁", "start": 1, "stop": 0}])

    def long_text(self, size):
        """Text of all kinds, in bytes: no character is cut."""
        pieces, done = [], 0
        while done < size:
            pieces.append(self.text(30) if self.random.random() < 0.9 else
                          self.random.choice(["ab", "日本", "\n", " ", "1"]) * 500)
            done += len(pieces[-1].encode())
        return "".join(pieces)

    def models(self):
        """Tokenizers in the forms of Llama 3, Llama 2 and XLM-RoBERTa."""
        texts = [self.text(60) for _ in range(8)]
        split = {"type": "Split", "pattern": {"Regex": LLAMA3},
                 "behavior": "Isolated", "invert": False}
        level = {"type": "ByteLevel", "add_prefix_space": False,
                 "trim_offsets": True, "use_regex": False}
        bytes_model = self.bpe(texts, is_bytes=True) | {"ignore_merges": True}
        pieces = self.bpe(texts, is_bytes=False) | {
            "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>",
            "ignore_merges": False}
        for byte in range(256):
            pieces["vocab"].setdefault(f"<0x{byte:02X}>", len(pieces["vocab"]))
        yield {"added_tokens": [], "pre_tokenizer": {"type": "Sequence", "pretokenizers":
                                                     [split, level]},
               "decoder": level, "model": bytes_model}
        yield {"added_tokens": [], "model": pieces,
               "normalizer": {"type": "Sequence", "normalizers": [
                   {"type": "Prepend", "prepend": "▁"},
                   {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
               "decoder": {"type": "Sequence", "decoders": [
                   {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                   {"type": "ByteFallback"}, {"type": "Fuse"},
                   {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}}
        space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                 "split": True}
        yield {"added_tokens": [], "normalizer": {"type": "NFKC"},
               "pre_tokenizer": space, "decoder": space, "model": self.unigram(texts)}

    def case(self):
        texts = [self.text(12) for _ in range(8)]
        kind = self.random.choice(["bytes", "bytes", "pieces", "pieces", "unigram",
                                   "WordPiece"])
        normalizer = self.normalizer() if self.random.random() < 0.5 else None
        splitter = self.splitter() if self.random.random() < 0.7 else None
        if kind == "bytes":
            level = {"type": "ByteLevel",
                     "add_prefix_space": self.random.random() < 0.3,
                     "trim_offsets": True, "use_regex": self.random.random() < 0.5}
            splitter = {"type": "Sequence", "pretokenizers": [splitter, level]} \
                if splitter else level
        model = self.unigram(texts) if kind == "unigram" else \
            self.word_piece(texts) if kind == "WordPiece" else \
            self.bpe(texts, kind == "bytes")
        added = self.added(model)
        return {"texts": texts, "tokenizer": {
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": added, "normalizer": normalizer,
            "pre_tokenizer": splitter, "post_processor": self.post_processor(added),
            "decoder": self.decoder(kind), "model": model}}


def charsmap(texts):
    """The map of SentencePiece: a double array and the texts."""
    root, blob = {}, b""
    for key, text in texts.items():
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(blob)  # a leaf
        blob += text.encode() + b"\0"
    units = {}

    def place(node, at, label):
        # The child of `label` lies at `base ^ label`.
        base = next(base for base in range(1, 1 << 20)
                    if all(base ^ byte not in units for byte in [*node, 0]))
        units[at] = (base ^ at) << 10 | (0 in node) << 8 | label
        units.update({base ^ byte: 0 for byte in [*node, 0]})
        for byte, child in node.items():
            if byte:
                place(child, base ^ byte, byte)
            else:
                units[base] = 1 << 31 | child

    units[0] = 0
    place(root, 0, 0)
    trie = b"".join(struct.pack("<I", units.get(n, 0))
                    for n in range(max(units) + 1))
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + blob).decode()


def run(*command, text):
    done = subprocess.run(["ane-run", "tokenize", *command], input=text,
                          capture_output=True)
    if done.returncode:
        return None, done.stderr.decode(errors="replace")
    return done.stdout, ""


def check(test, folder):
    """What is wrong with the first text that is."""
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(test["tokenizer"]))
    for n, text in enumerate(test["texts"]):
        for flag, key in ((["--markers"], "marked"), ([], "ids")):
            out, error = run(f"--tokenizer={path}", *flag, text=text.encode())
            if out is None:
                return error
            ids = [int(id) for id in out.split()]
            if ids != test[key][n]:
                return f"{text!r}: {key} {ids}, expected {test[key][n]}"
        decoded, error = run(f"--tokenizer={path}", "--decode", text=out)
        if decoded is None:
            return error
        # Bytes that are no UTF-8 are kept, which the library replaces.
        expected = test["decoded"][n]
        if "\ufffd" not in expected and decoded.decode(errors="replace") != expected:
            return f"{text!r}: decoded {decoded!r}, expected {expected!r}"
    return ""


def digest(ids):
    return hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()


def check_large(recorded, folder):
    """Ids of large texts, and the same text again where the format keeps it."""
    path, failures = folder / "tokenizer.json", 0
    for test in recorded:
        path.write_text(json.dumps(test["tokenizer"]))
        text = Draw(test["seed"]).long_text(test["size"]).encode()
        out, error = run(f"--tokenizer={path}", text=text)
        if out is None or digest(map(int, out.split())) != test["digest"]:
            failures += 1
            print(f"{test['name']}: other ids than the library's; {error}")
            continue
        again, error = run(f"--tokenizer={path}", "--decode", text=out)
        # The mark for a space decodes to one.
        if test["keeps"] and again != text.replace(
                "▁".encode(), b" " if test["name"] == "pieces" else "▁".encode()):
            failures += 1
            print(f"{test['name']}: another text; {error}")
    print(f"{len(recorded)} large texts, {failures} failures")
    return 1 if failures or not recorded else 0


def record_large(npm, folder):
    recorded = []
    names = [("bytes", True), ("pieces", True), ("unigram", False)]
    for (name, keeps), tokenizer in zip(names, Draw(7).models()):
        tokenizer = {"version": "1.0", "truncation": None, "padding": None,
                     "normalizer": None, "pre_tokenizer": None,
                     "post_processor": None, **tokenizer}
        recorded.append({"name": name, "keeps": keeps, "seed": 11, "size": 1 << 20,
                         "tokenizer": tokenizer})
    asked = [{"texts": [Draw(t["seed"]).long_text(t["size"])],
              "tokenizer": t["tokenizer"]} for t in recorded]
    ask_reference(asked, npm, folder)
    for test, answer in zip(recorded, asked):
        test["digest"] = digest(answer["ids"][0])
    return recorded


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["check", "large", "random"])
    parser.add_argument("arguments", nargs="+")
    parser.add_argument("--npm")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--write")
    given = parser.parse_args()
    folder = pathlib.Path(given.arguments[-1])
    folder.mkdir(parents=True, exist_ok=True)
    if given.mode == "large":
        large = record_large(given.npm, folder) if given.npm else \
            json.loads(pathlib.Path(given.arguments[0]).read_text())
        if given.write:
            pathlib.Path(given.write).write_text(
                "[\n" + ",\n".join(map(json.dumps, large)) + "\n]\n")
        return check_large(large, folder)
    if given.mode == "check":
        cases = json.loads(pathlib.Path(given.arguments[0]).read_text())
    else:
        cases = [{"seed": seed, **Draw(seed).case()}
                 for seed in range(given.seed, given.seed + given.count)]
        ask_reference(cases, given.npm, folder)
    kept, failures = [], 0
    for number, test in enumerate(cases):
        if "refused" in test:
            continue
        wrong = check(test, folder)
        if "has no normalized text" in wrong:
            continue  # the library finds such a token everywhere
        if wrong:
            failures += 1
            print(f"case {number}, seed {test.get('seed')}: {wrong[:1500]}")
        else:
            kept.append(test)
    if given.write:
        pathlib.Path(given.write).write_text(
            "[\n" + ",\n".join(json.dumps(test) for test in kept) + "\n]\n")
    print(f"{len(cases)} cases, {sum('refused' in test for test in cases)} refused, "
          f"{failures} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
