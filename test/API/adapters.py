"""Exchanges adapters in a session: it says what a new process says.

usage: adapters.py PACKAGE BASE FIRST SECOND [SAID-BY...]  the files of the base and of two
       adapters, and what `ane-run generate` said with the base, the first and the second"""
import sys

import anec

package, base, first, second = sys.argv[1:5]
# A carriage return is a character that the model can say, not the end of a line.
said = [open(path, encoding="utf-8", newline="").read().rstrip("\n")
        for path in sys.argv[5:8]]
assert len(set(said)) == 3, said


def say():
    return session.generate("the ", tokens=20, temperature=1, top_p=0.9, seed=5)


def refuses(path):
    try:
        session.take_adapter(path)
    except anec.Error as error:
        print(str(error).splitlines()[0])
        return
    raise AssertionError(path)


# Drawn adapters begin as zeros.
session = anec.Session(package, weights=base, seed=7)
assert say() == said[0]
for path, words in [(first, said[1]), (second, said[2]), (first, said[1]), (None, said[0]),
                    (second, said[2])]:
    session.take_adapter(path)
    assert say() == words, (path, say(), words)

# What is refused leaves the session as it was.
for path in ["other", "wide", base, "missing.safetensors", "cut.safetensors"]:
    refuses(path)
    assert say() == said[2], path
session.take_adapter(None)
assert say() == said[0]
