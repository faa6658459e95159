#!/usr/bin/env python3
"""Compares `ane-run tokenize` with spm_encode and spm_decode, line by line.

usage: sentencepiece.py MODEL TEXT"""
import subprocess
import sys


def run(command, text):
    return subprocess.run(command, input=text.encode(), check=True,
                          stdout=subprocess.PIPE).stdout.decode()


def main(model, source):
    with open(source, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert lines
    for line in lines:
        expected = run(["spm_encode", f"--model={model}", "--output_format=id"],
                       line + "\n").strip()
        ids = run(["ane-run", "tokenize", f"--tokenizer={model}"], line).strip()
        assert ids == expected, f"{line!r}: {ids}, and spm_encode {expected}"
        text = run(["spm_decode", f"--model={model}", "--input_format=id"],
                   expected + "\n")[:-1]
        decoded = run(["ane-run", "tokenize", "--decode",
                       f"--tokenizer={model}"], ids)
        assert decoded == text, f"{ids}: {decoded!r}, and spm_decode {text!r}"


if __name__ == "__main__":
    main(*sys.argv[1:])
