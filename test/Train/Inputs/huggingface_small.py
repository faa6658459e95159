#!/usr/bin/env python3
# Part of anec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a tokenizer.json of a few tokens: 256 `bytes` and `th`, `the`; `pieces` with
tokens for bytes; `words`; or `fused`, with a decoder of `words` or `spaces`;
or `joined`, with bytes before a decoder of `words`, `strip` or `replace`.

usage: huggingface_small.py bytes|pieces|words|fused|joined [PATTERN|DECODER] [--wide]

PATTERN splits texts; with --wide, there are 70,000 ids."""
import json
import sys

from huggingface_cases import byte_characters

kind = sys.argv[1]
rest = [word for word in sys.argv[2:] if word != "--wide"]
added = [{"id": 258, "content": "<s>", "special": True, "normalized": False},
         {"id": 259, "content": "</s>", "special": True, "normalized": False}]
level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
made = {"version": "1.0", "added_tokens": added}
if kind == "bytes":
    characters = byte_characters()
    vocab = {characters[byte]: byte for byte in range(256)} | {"th": 256, "the": 257}
    splitter = {"type": "Split", "behavior": "Isolated", "invert": False,
                "pattern": {"Regex": rest[0]}} if rest else None
    made |= {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [splitter, level]}
             if splitter else level,
             "decoder": level,
             "post_processor": {"type": "BertProcessing", "cls": ["<s>", 258],
                                "sep": ["</s>", 259]},
             "model": {"type": "BPE", "vocab": vocab, "merges": ["t h", ["th", "e"]]}}
    if "--wide" in sys.argv:
        added += [{"id": 69999, "content": "<far>", "normalized": False}]
elif kind == "pieces":
    words = ["▁the", "th", "the", "e", "h", "t", "▁t", "▁th", "▁"]
    vocab = {f"<0x{byte:02X}>": byte + 1 for byte in range(256)} | {"<unk>": 0}
    vocab |= {word: 257 + n for n, word in enumerate(words)}
    made |= {"added_tokens": [],
             "normalizer": {"type": "Sequence", "normalizers": [
                 {"type": "Prepend", "prepend": "▁"},
                 {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
             "decoder": {"type": "Sequence", "decoders": [
                 {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                 {"type": "ByteFallback"}, {"type": "Fuse"},
                 {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
             "model": {"type": "BPE", "vocab": vocab, "byte_fallback": True,
                       "unk_token": "<unk>", "fuse_unk": True,
                       "merges": ["t h", "th e", "▁ the"]}}
elif kind == "fused":
    # The steps after Fuse see one token, the first one.
    steps = {"words": {"type": "WordPiece", "prefix": "##", "cleanup": False},
             "clean": {"type": "WordPiece", "prefix": "##", "cleanup": True},
             "spaces": {"type": "Metaspace", "replacement": "▁", "split": True,
                        "prepend_scheme": "always"},
             "strip": {"type": "Strip", "content": "▁", "start": 2, "stop": 3},
             "ctc": {"type": "CTC", "pad_token": "b", "word_delimiter_token": "a",
                     "cleanup": True},
             "bpe": {"type": "BPEDecoder", "suffix": "a"}}
    chosen = steps[sys.argv[2]]
    if chosen["type"] not in ("CTC", "BPEDecoder"):
        chosen = {"type": "Sequence", "decoders": [{"type": "Fuse"}, chosen]}
    made |= {"added_tokens": [{"id": 5, "content": "Mark", "special": True,
                               "normalized": False, "single_word": False,
                               "lstrip": False, "rstrip": False}],
             "decoder": chosen,
             "model": {"type": "WordLevel", "unk_token": "?",
                       "vocab": {"?": 0, "▁a": 1, "##b": 2, " .": 3, "▁": 4}}}
elif kind == "joined":
    # The step after ByteFallback sees the bytes of a character as one token.
    steps = {"words": {"type": "WordPiece", "prefix": "##", "cleanup": False},
             "strip": {"type": "Strip", "content": "é", "start": 1, "stop": 0},
             "replace": {"type": "Replace", "pattern": {"String": "é"}, "content": "e"}}
    made |= {"added_tokens": [],
             "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"},
                                                          steps[sys.argv[2]]]},
             "model": {"type": "WordLevel", "unk_token": "?", "vocab": {
                 "?": 0, "<0xC3>": 1, "<0xA9>": 2, "ab": 3, "<0x41>": 4}}}
else:
    made |= {"added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
             "model": {"type": "WordLevel", "unk_token": "?",
                       "vocab": {"?": 0, "the": 1, "\ufffd\ufffd": 2}}}
print(json.dumps(made))
