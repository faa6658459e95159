"""`anec.import_model`, `anec.convert` and `anec.merge` write what the tool writes, byte by
byte, and refuse what it refuses.

usage: weights.py LLAMA.tdsl, in a folder with hub, llama.gguf, tune.anepkg, run and
tied.bin"""
import os
import pathlib
import subprocess
import sys

import anec

LLAMA = sys.argv[1]
TIED = {"layers": 3, "dim": 64, "hidden": 48, "heads": 4, "kv_heads": 4, "seq": 12,
        "vocab": 50}

def files(path):
    path = pathlib.Path(path)
    if path.is_file():
        return path.read_bytes()
    return {each.relative_to(path): each.read_bytes() for each in path.rglob("*")
            if each.is_file()}


def same(name, command, function, *args, **options):
    os.makedirs("tool", exist_ok=True)
    os.makedirs("python", exist_ok=True)
    theirs, ours = pathlib.Path("tool", name), pathlib.Path("python", name)
    made = subprocess.run(["anec", *command, "-o", theirs], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    function(*args, ours, **options)
    assert files(theirs) == files(ours), (name, command)
    return ours


def refused(error, message, function, *args, **options):
    try:
        function(*args, **options)
    except error as raised:
        assert message in str(raised), raised
        return
    raise AssertionError(f"nothing was raised: {args} {options}")


def test_import():
    for name, source, flags, options in (
            ("hub.tdsl", "hub", [], {}), ("short.tdsl", "hub", ["--seq=4"], {"seq": 4}),
            ("exact.tdsl", "hub", ["--float=fp32"], {"float": "fp32"}),
            ("llama.tdsl", "llama.gguf", ["--seq=8"], {"seq": 8})):
        same(name, ["import", source, *flags], anec.import_model, source, **options)
        names = name.replace(".tdsl", ".names.json")
        assert files(f"tool/{names}") == files(f"python/{names}")
    refused(anec.Error, "ends in none of .tdsl", anec.import_model, "hub", "x.mil")
    refused(anec.Error, "no-hub", anec.import_model, "no-hub", "x.tdsl")
    refused(ValueError, "did you mean 'fp16'?", anec.import_model, "hub", "x.tdsl",
            float="f16")
    refused(ValueError, "`seq`", anec.import_model, "hub", "x.tdsl", seq=0)
    assert not os.path.exists("x.tdsl")


def test_convert():
    same("tied.safetensors", ["convert", "tied.bin"], anec.convert, "tied.bin")
    for name in "folder", "again.bin":
        same(name, ["convert", "tool/tied.safetensors", "--from=anec", f"--config={LLAMA}", *(f"--define={n}={v}" for n, v in TIED.items())],
             anec.convert, "tool/tied.safetensors", from_format="anec", config=LLAMA,
             defines=TIED)
    same("of-gguf", ["convert", "plain.gguf", "--from=gguf"],
         anec.convert, "plain.gguf", from_format="gguf")
    same("mine.gguf", ["convert", "run", "--weight-map=llama.names.json",
                       "--like=llama.gguf"],
         anec.convert, "run", weight_map="llama.names.json", like="llama.gguf")
    for options, output, message in (
            ({}, "x.gguf", "needs `weight_map` and `like`"),
            ({"like": "llama.gguf"}, "x.gguf", "it is for `weight_map`"),
            ({"weight_map": "llama.names.json", "to_format": "hf"}, "x", "both formats"),
            ({"shard_size": 5}, "x.safetensors", "an output that is a folder"),
            ({}, "x.safetensor", "did you mean `x.safetensors`?")):
        refused(anec.Error, message, anec.convert, "run", output, **options)
        assert not os.path.exists(output)
    refused(ValueError, "'llama2c'", anec.convert, "run", "x.bin", to_format="llama")
    refused(ValueError, "'llama2c'", anec.convert, "run", "x.bin", to_format="gguf")


def test_merge():
    for name, flags, options in (
            ("merged", [], {}), ("merged.safetensors", [], {}),
            ("parts", ["--shard-size=500"], {"shard_size": 500})):
        same(name, ["merge", "tune.anepkg", "--weights=hub", "--adapter=tuned/best", *flags],
             anec.merge, "tune.anepkg", "tuned/best", weights="hub", **options)
    refused(anec.Error, "an output that is a folder", anec.merge, "tune.anepkg",
            "tuned/best", "x.safetensors", weights="hub", shard_size=500)
    refused(anec.Error, "no-such", anec.merge, "no-such.anepkg", "tuned/best", "x")
    assert not os.path.exists("x") and not os.path.exists("x.safetensors")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(name)
