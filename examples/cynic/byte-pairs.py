"""Learns byte pairs: the most frequent pair of neighbours becomes a token, again and
again, as in GPT-2. The last token, <|end|>, ends a text.

usage: byte-pairs.py COUNT TOKENIZER.json TEXT..."""
import collections
import json
import pathlib
import re
import sys

WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|"
                   r"\s+(?!\S)|\s+")


def characters():
    """What bytes are written as: those of Latin-1 that are seen, and then from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {
        byte: chr(256 + at) for at, byte in enumerate(hidden)}


def learn(words, vocabulary, count):
    """Adds tokens to `vocabulary` until it has `count`; returns the pairs."""
    pairs, users, merges = collections.Counter(), collections.defaultdict(set), []

    def tell(at, sign):
        parts, times = words[at]
        for pair in zip(parts, parts[1:]):
            pairs[pair] += sign * times
            users[pair].add(at)

    for at in range(len(words)):
        tell(at, 1)
    while len(vocabulary) < count:
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        vocabulary.append("".join(best))
        for at in list(users[best]):
            tell(at, -1)
            parts, times = words[at]
            joined, place = [], 0
            while place < len(parts):
                is_pair = tuple(parts[place:place + 2]) == best
                joined.append("".join(best) if is_pair else parts[place])
                place += 2 if is_pair else 1
            words[at] = joined, times
            tell(at, 1)
        del pairs[best]
    return merges


count, target, *texts = sys.argv[1:]
byte = characters()
found = collections.Counter()
for text in texts:
    for word in WORDS.findall(pathlib.Path(text).read_text()):
        found["".join(byte[b] for b in word.encode())] += 1
vocabulary = [byte[b] for b in range(256)]
merges = learn([(list(word), times) for word, times in found.items()], vocabulary,
               int(count) - 1)
level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True,
         "use_regex": True}
end = {"id": int(count) - 1, "content": "<|end|>", "single_word": False, "lstrip": False,
       "rstrip": False, "normalized": False, "special": True}
pathlib.Path(target).write_text(json.dumps({
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [end],
    "normalizer": None, "pre_tokenizer": level, "post_processor": None, "decoder": level,
    "model": {"type": "BPE", "dropout": None, "unk_token": None,
              "continuing_subword_prefix": None, "end_of_word_suffix": None,
              "fuse_unk": False, "byte_fallback": False,
              "vocab": {token: at for at, token in enumerate(vocabulary)},
              "merges": [" ".join(pair) for pair in merges]}},
    ensure_ascii=False, indent=0) + "\n")
