#!/usr/bin/env python3
"""llama2.c's tokenizer.bin, independently of anec: a small vocabulary to write,
and encoding by its definition, one merge after another over all pairs.

usage: llama2c_tokenizer.py write TOKENIZER.bin TEXT
       llama2c_tokenizer.py encode TOKENIZER.bin TEXT"""
import collections
import struct
import sys


def learn(text, merges):
    """Byte pairs in the order they are most frequent in."""
    words = [list(word) for word in text.split(" ")]
    found = []
    for _ in range(merges):
        pairs = collections.Counter()
        for word in words:
            pairs.update(zip(word, word[1:]))
        if not pairs:
            break
        (left, right), _ = max(pairs.items(), key=lambda item: (item[1], item[0]))
        found.append(left + right)
        for word in words:
            at = 0
            while at + 1 < len(word):
                if (word[at], word[at + 1]) == (left, right):
                    word[at:at + 2] = [left + right]
                at += 1
    return found


def write(path, text):
    pieces = [("<unk>", 0.0), ("\n<s>\n", 0.0), ("\n</s>\n", 0.0)]
    pieces += [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
    learnt = learn(text, 150)
    # Equal scores, so that the leftmost of two has to be taken.
    pieces += [(piece, -float(rank // 3)) for rank, piece in enumerate(learnt)]
    known = {piece for piece, _ in pieces}
    spaced = [" " + piece for piece in learnt[:60]]
    pieces += [(piece, -60.0 - rank) for rank, piece in enumerate(spaced)
               if piece not in known]
    # Not all characters of the text: some are left to bytes.
    characters = sorted(set(text) - set("\n%é"))
    pieces += [(character, -1000.0 - rank)
               for rank, character in enumerate(characters)
               if character not in known]
    encoded = [(piece.encode(), score) for piece, score in pieces]
    with open(path, "wb") as file:
        file.write(struct.pack("<i", max(len(piece) for piece, _ in encoded)))
        for piece, score in encoded:
            file.write(struct.pack("<fi", score, len(piece)) + piece)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    at, pieces = 4, []
    while at < len(data):
        score, size = struct.unpack_from("<fi", data, at)
        pieces.append((data[at + 8:at + 8 + size], score))
        at += 8 + size
    return pieces


def encode(pieces, text):
    ids = {}
    for index, (piece, _) in enumerate(pieces):
        ids.setdefault(piece, index)
    if not text:
        return []
    tokens = [ids[b" "]]
    for character in text:
        spelled = character.encode()
        if spelled in ids:
            tokens.append(ids[spelled])
        else:
            tokens += [3 + byte for byte in spelled]
    while True:
        best = None
        for at in range(len(tokens) - 1):
            both = pieces[tokens[at]][0] + pieces[tokens[at + 1]][0]
            if both in ids:
                score = pieces[ids[both]][1]
                if best is None or score > best[0]:
                    best = (score, at, ids[both])
        if best is None:
            return tokens
        tokens[best[1]:best[1] + 2] = [best[2]]


if __name__ == "__main__":
    command, model, source = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        contents = file.read()
    if command == "write":
        write(model, contents)
    else:
        print(*encode(read(model), contents))
