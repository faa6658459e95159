#!/usr/bin/env python3
"""Where tokenizer.json's regular expressions, and other types, split: the ids of the parts, which are the
words of a vocabulary, are those of the library."""
import json
import pathlib
import subprocess
import sys

CASES = [
    (r"[a-z&&[^aeiou]]+", "hello", ["h", "e", "ll", "o"]),
    (r"[^a-z&&[b-d]]", "bBc", ["b", "B", "c"]),
    (r"[[:digit:]]+|[[:punct:]]", "a12!b", ["a", "12", "!", "b"]),
    (r"[[:punct:]]+", "a+\u2211\u00a9!b", ["a", "+\u2211\u00a9!", "b"]),
    (r"\w+", "a\u00bd \u2150", ["a\u00bd", " \u2150"]),
    (r"[[:word:]]+", "a\u00bd", ["a", "\u00bd"]),
    (r"[x[^a-c]]", "axd", ["a", "x", "d"]),
    (r"\R", "a\r\nb\n", ["a", "\r\n", "b", "\n"]),
    (r"a(?i)b|c", "aBAC", ["aB", "AC"]),
    (r"(?i)a(?-i)b", "AbAB", ["Ab", "AB"]),
    (r"(.)\1", "xaay", ["x", "aa", "y"]),
    (r"(?<q>['|]).\k<q>", "'a'|b'", ["'a'", "|b'"]),
    ({"type": "UnicodeScripts"}, "a b1\u6f22\u304b\u30fc \u0431\u0301c",
     ["a b", "1", "\u6f22\u304b\u30fc ", "\u0431", "\u0301", "c"]),
    (3, "abcd\u00e9fg", ["abc", "d\u00e9f", "g"]),
]

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
for number, (pattern, text, parts) in enumerate(CASES):
    splitter = pattern
    if isinstance(pattern, int):
        splitter = {"type": "FixedLength", "length": pattern}
    elif isinstance(pattern, str):
        splitter = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated",
                    "invert": False}
    words = {"<unk>": 0} | {part: at + 1 for at, part in enumerate(parts)}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"}
    file = folder / f"{number}.json"
    file.write_text(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None,
                                "pre_tokenizer": splitter, "model": model}))
    done = subprocess.run(["ane-run", "tokenize", f"--tokenizer={file}"], input=text.encode(),
                          capture_output=True)
    ids = [int(word) for word in done.stdout.split()]
    assert ids == [words[part] for part in parts], (pattern, ids, done.stderr)
