#!/usr/bin/env python3
"""Runs every command of both tools in folders full of traps: links to files and
folders outside, links with the names that the tools choose, FIFOs, devices, odd
names, names of weights that lead out of a folder, foreign files in outputs, a
full disk, few descriptors, a small stack. Checks that nothing outside of what
the command was told to write has changed: contents, modes, targets of links;
that no file of others is lost; and that each command ends within 10 seconds,
with an exit code of its own.
usage: traps.py [--runs=N] [--seed=S] [--only=TEXT] MODEL.tdsl FOLDER
FOLDER is made anew. A failure prints the seed that repeats it with --runs=1.
"""
import argparse
import hashlib
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True  # beside the tests
from rename_weight import compile_renamed  # noqa: E402

LIMIT = 10  # seconds
# A port at which a server cannot listen, so that it ends.
TAKEN = socket.create_server(("127.0.0.1", 0))
ODD_NAMES = ["a\nb", "50%d%s", "-o", "--help", "a b", "n" * 180, "n" * 250,
             "tab\there", "back\\slash", "caf\u00e9", ".hidden", "a;b", "$HOME"]
ODD_WEIGHTS = ["../../evil", "/tmp/anec-evil", "..", ".", "a/b", "w" * 300,
               "a\\nb", "x/../../../outside/victim", "%s%n", "-rf"]


class Failure(Exception):
    pass


# ---------------------------------------------------------------------------
# What is there
# ---------------------------------------------------------------------------

def describe(path):
    """What `path` itself is: its kind, mode, and contents or target."""
    info = os.lstat(path)
    mode = info.st_mode
    if stat.S_ISLNK(mode):
        return "link", os.readlink(path)
    if stat.S_ISREG(mode):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        return "file", stat.S_IMODE(mode), digest
    return stat.S_IFMT(mode), stat.S_IMODE(mode)


def snapshot(top):
    found = {}
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            path = os.path.join(folder, name)
            found[path] = describe(path)
    return found


def write(path, data=b"not to be changed\n"):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


# ---------------------------------------------------------------------------
# Inputs
# ---------------------------------------------------------------------------

def temporary(name, number):
    """A temporary name that a process which was killed can have left."""
    digits = f"{number:08x}"
    checksum = zlib.crc32(os.fsencode(f"anec\n{name}\n{digits}"))
    return f"{name}.{digits}{checksum:08x}.tmp"


def call(*words, **options):
    subprocess.run(words, check=True, capture_output=True, **options)


def write_language_model(folder):
    """A GPT-2 in the layout of Hugging Face, of zeros."""
    os.mkdir(folder)
    with open(folder + "/config.json", "w", encoding="utf-8") as file:
        json.dump({"model_type": "gpt2", "n_layer": 1, "n_embd": 4, "n_head": 1,
                   "vocab_size": 3, "n_positions": 8}, file)
    shapes = {"wte.weight": [3, 4], "wpe.weight": [8, 4]}
    for name in ("h.0.ln_1", "h.0.ln_2", "ln_f"):
        shapes[name + ".weight"] = shapes[name + ".bias"] = [4]
    for name, inputs, outputs in (("attn.c_attn", 4, 12), ("attn.c_proj", 4, 4),
                                  ("mlp.c_fc", 4, 16), ("mlp.c_proj", 16, 4)):
        shapes[f"h.0.{name}.weight"] = [inputs, outputs]
        shapes[f"h.0.{name}.bias"] = [outputs]
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    write(folder + "/model.safetensors", struct.pack("<Q", len(text)) + text + bytes(end))


def make_inputs(model, folder):
    """A package, programs, weights, data, a run, a log and a report."""
    os.makedirs(folder)
    at = {"cwd": folder}
    shutil.copy(model, folder + "/m.tdsl")
    with open(folder + "/data.txt", "wb") as file:
        file.write(b"All that is written here is read. " * 40)
    with open(folder + "/k.tdsl", "w", encoding="utf-8") as file:
        file.write("kernel k(x: fp16[64, 64]) -> fp16[64, 64] {\n"
                   "  weight w: fp16[64, 64];\n  return w @ x;\n}\n")
    with open(folder + "/importing.tdsl", "w", encoding="utf-8") as file:
        file.write('import "k.tdsl";\n')
    call("anec", "m.tdsl", "-o", "m.anepkg", **at)
    call("anec", "m.tdsl", "--forward-only", "-o", "forward.anepkg", **at)
    call("anec", "k.tdsl", "--init=1", "-o", "k.mil", **at)
    call("anec", "m.tdsl", "--init=1", "-o", "full.anepkg", **at)
    call("ane-run", "train", "m.anepkg", "--data", "data.txt", "--steps=2",
         "--save-every=1", "--checkpoint=run", **at)
    shutil.copy(folder + "/run/best/weights.safetensors", folder + "/w.safetensors")
    write_language_model(folder + "/hf")
    call("anec", "m.tdsl", "--lora=targets=w1", "-o", "tune.anepkg", **at)
    call("ane-run", "train", "tune.anepkg", "--weights=w.safetensors", "--init=1",
         "--data", "data.txt", "--steps=1", "--checkpoint=tuning", **at)
    shutil.copy(folder + "/tuning/step-00000001/weights.safetensors",
                folder + "/adapter.safetensors")
    shutil.copy(folder + "/run/train.jsonl", folder + "/log.jsonl")
    with open(folder + "/map.json", "w", encoding="utf-8") as file:
        file.write("{}")
    os.mkdir(folder + "/words")
    with open(folder + "/words/tokenizer.json", "w", encoding="utf-8") as file:
        file.write('{"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}}')
    with open(folder + "/words/tokenizer_config.json", "w", encoding="utf-8") as file:
        file.write('{"chat_template": "<|im_start|><|im_end|>"}')
    with open(folder + "/prompts.jsonl", "w", encoding="utf-8") as file:
        file.write('{"prompt": "All"}\n')
    with open(folder + "/chat.json", "w", encoding="utf-8") as file:
        file.write('[{"role": "user", "content": "All"}]')
    evil = []
    for number, name in enumerate(ODD_WEIGHTS):
        package = f"{folder}/evil{number}.anepkg"
        if compile_renamed(folder + "/m.tdsl", package, name):
            evil.append(package)
    if not evil:
        sys.exit("no package can have a weight with an odd name")
    call("ane-run", "probe", "--rule=io-row-64", "-o", "probe.json", **at)
    with open(folder + "/report.json", "w", encoding="utf-8") as file:
        file.write("{}")


# ---------------------------------------------------------------------------
# Commands
# ---------------------------------------------------------------------------

class Command:
    """A command line: the words, the files that it reads, and the places that
    it was told to write, with the names that it chooses there itself."""

    def __init__(self, name, words, reads=(), out="", inner=(), folder=False):
        self.name, self.words, self.reads = name, words, list(reads)
        self.out, self.inner, self.folder = out, list(inner), folder


def commands(out):
    """All that can be drawn, with outputs named after `out`."""
    d = out + ".d"
    # A name that begins with a dash is a flag unless it has a folder.
    q = os.path.join(".", out)
    qd = os.path.join(".", d)
    package = ["manifest.json", "schedule.ir", "kernels", "weights"]
    run = ["train.jsonl", "loss.svg", "best", "best.tmp", "step-00000001",
           "step-00000002", "step-00000003", "step-00000004",
           temporary("step-00000001", 0), temporary("step-00000003", 0),
           temporary("step-00000004", 0)]
    gradients = ["embedding.npy", "norm.npy", "block.0.w1.npy"]
    train = ["ane-run", "train", "m.anepkg", "--data", "data.txt",
             "--save-every=1", "--keep=1"]
    yield Command("anec compile", ["anec", "k.tdsl", "--init=1", "-o", q + ".mil"],
                  ["k.tdsl"], q + ".mil",
                  ["../weights", "../weights/" + out + ".bin"])
    yield Command("anec compile", ["anec", "importing.tdsl", "--init=1", "-o",
                                   q + ".mil"], ["k.tdsl"], q + ".mil",
                  ["../weights"])
    for name in ("x.ir", "x.dot", "x.html"):
        yield Command("anec compile", ["anec", "k.tdsl", "--init=1", "-o",
                                       q + name], ["k.tdsl"], q + name)
    yield Command("anec compile", ["anec", "m.tdsl", "-o", q + ".anepkg"],
                  ["m.tdsl"], q + ".anepkg", package, True)
    yield Command("anec compile", ["anec", "m.tdsl", "--weights=w.safetensors",
                                   "--weight-map=map.json", "-o",
                                   q + ".anepkg"],
                  ["w.safetensors", "map.json"], q + ".anepkg", package, True)
    yield Command("anec compile", ["anec", "k.tdsl", "--init=1",
                                   "--quantize=int4", "--quantize-report",
                                   "-o", q + ".mil"], ["k.tdsl"], q + ".mil",
                  ["../weights", "../weights/" + out + ".bin"])
    yield Command("anec compile", ["anec", "m.tdsl", "--forward-only",
                                   "--weights=w.safetensors", "--quantize=int4",
                                   "--calibrate=data.txt", "-o", q + ".anepkg"],
                  ["m.tdsl", "w.safetensors", "data.txt"], q + ".anepkg",
                  package, True)
    yield Command("anec compile", ["anec", "m.tdsl", "--emit=report"], ["m.tdsl"])
    yield Command("anec compile", ["anec", "m.anepkg", "--emit=ir"],
                  ["m.anepkg/schedule.ir", "m.anepkg/manifest.json"])
    yield Command("anec compile", ["anec", "k.tdsl", "--init=1",
                                   "--target=probe.json"], ["probe.json"])
    yield Command("anec check", ["anec", "check", "k.mil"],
                  ["k.mil", "weights/k.bin"])
    yield Command("anec check", ["anec", "check", "m.anepkg"],
                  ["m.anepkg/manifest.json"])
    yield Command("anec explain", ["anec", "explain", "io-row-64"])
    yield Command("anec explain", ["anec", "explain", "--log=k.mil",
                                   "--program=k.mil"], reads=["k.mil"])
    yield Command("anec debug", ["anec", "debug", "--dump-docs=ops"])
    yield Command("anec diff", ["anec", "diff", "k.mil", "k.tdsl"],
                  ["k.mil", "k.tdsl", "weights/k.bin"])
    yield Command("anec import", ["anec", "import", "hf", "-o", q + ".tdsl"],
                  ["hf/config.json", "hf/model.safetensors"], q + ".tdsl",
                  ["../" + out + ".names.json"])
    for ending in (".safetensors", ".bin"):
        yield Command("anec convert", ["anec", "convert", "w.safetensors",
                                       "--config=m.tdsl", "-o", q + ending],
                      ["w.safetensors"], q + ending)
    yield Command("anec convert", ["anec", "convert", "w.safetensors", "-o", qd],
                  ["w.safetensors"], qd, ["model.safetensors", "config.json"],
                  True)
    yield Command("anec merge", ["anec", "merge", "tune.anepkg",
                                 "--weights=w.safetensors",
                                 "--adapter=adapter.safetensors", "-o",
                                 q + ".safetensors"],
                  ["w.safetensors", "adapter.safetensors",
                   "tune.anepkg/manifest.json"], q + ".safetensors")
    yield Command("ane-run run", ["ane-run", "k.mil", "--input", "x=random:1",
                                  "--output-dir", qd],
                  ["k.mil", "weights/k.bin"], qd, ["y.npy", "k.npy"], True)
    tiny = ["ane-run", "m.anepkg", "--input", "tokens=bytes:data.txt",
            "--input", "targets=bytes:data.txt", "--init=1"]
    yield Command("ane-run run", tiny + ["--output-dir", qd, "--gradients", qd],
                  ["m.anepkg/manifest.json", "data.txt"], qd,
                  ["loss.npy"] + gradients, True)
    yield Command("ane-run run", tiny + ["--gradients", q + ".safetensors"],
                  ["data.txt"], q + ".safetensors")
    yield Command("ane-run info", ["ane-run", "info", "m.anepkg"],
                  ["m.anepkg/manifest.json", "m.anepkg/schedule.ir"])
    yield Command("ane-run info", ["ane-run", "info", "k.mil", "--json"],
                  ["k.mil"])
    yield Command("ane-run placement", ["ane-run", "placement", "k.mil"],
                  ["k.mil"])
    yield Command("ane-run bench", ["ane-run", "bench", "k.mil", "--warmup=0",
                                    "--iterations=1"], ["k.mil"])
    yield Command("ane-run bench", ["ane-run", "bench", "--suite=dispatch",
                                    "--row=64x32", "--emit", qd], [], qd,
                  ["weights"], True)
    yield Command("ane-run bench", ["ane-run", "bench", "--suite=dispatch",
                                    "--row=64x32", "--iterations=1",
                                    "--warmup=0", "-o", q + ".json", "--plot",
                                    qd, "--beside=report.json"],
                  ["report.json"], qd, ["dispatch.svg"], True)
    yield Command("ane-run train", train + ["--steps=2", "--checkpoint", qd],
                  ["m.anepkg/manifest.json", "data.txt"], qd, run, True)
    yield Command("ane-run train", train + ["--steps=4", "--checkpoint", qd,
                                            "--resume", "--profile",
                                            q + ".json"],
                  ["data.txt"], qd, run, True)
    yield Command("ane-run train", train + ["--steps=4", "--checkpoint", qd,
                                            "--resume=auto",
                                            "--validation-data=prompts.jsonl"],
                  ["data.txt", "prompts.jsonl"], qd, run, True)
    yield Command("ane-run plot", ["ane-run", "plot", "log.jsonl", "-o",
                                   q + ".svg"], ["log.jsonl"], q + ".svg")
    yield Command("ane-run plot", ["ane-run", "plot", "log.jsonl",
                                   "run/train.jsonl", "-o", q + ".svg"],
                  ["log.jsonl", "run/train.jsonl"], q + ".svg")
    yield Command("ane-run generate", ["ane-run", "generate", "m.anepkg",
                                       "--checkpoint=run", "--prompt=A",
                                       "--tokens=2"],
                  ["run/step-00000002/state.json",
                   "run/step-00000002/weights.safetensors"])
    writes = ["ane-run", "generate", "forward.anepkg", "--weights=w.safetensors",
              "--weight-map=map.json", "--tokens=2"]
    yield Command("ane-run generate", writes + ["--prompt-file=data.txt"],
                  ["w.safetensors", "map.json", "data.txt"])
    yield Command("ane-run generate", writes + ["--prompts=prompts.jsonl", "--json"],
                  ["prompts.jsonl"])
    yield Command("ane-run generate", writes + ["--messages=chat.json",
                                                "--tokenizer=words"],
                  ["chat.json", "words/tokenizer.json",
                   "words/tokenizer_config.json",
                   "words/generation_config.json"])
    yield Command("ane-run generate", writes + ["--prompt=A", "--draft=forward.anepkg",
                                                "--draft-weights=w.safetensors"],
                  ["forward.anepkg/manifest.json", "w.safetensors"])
    yield Command("ane-run generate", ["ane-run", "generate", "hf", "--prompt-ids=1",
                                       "--tokens=2"],
                  ["hf/config.json", "hf/model.safetensors"])
    yield Command("ane-run serve", ["ane-run", "serve", "forward.anepkg",
                                    "--weights=w.safetensors", "--tokenizer=words",
                                    f"--port={TAKEN.getsockname()[1]}"],
                  ["w.safetensors", "words/tokenizer.json", "forward.anepkg/manifest.json"])
    yield Command("ane-run finetune", ["ane-run", "finetune", "hf", "--data=data.txt",
                                       "--tokenizer=bytes", "--context=4", "--steps=1",
                                       "--validation=0", "-o", q + "tuned"],
                  ["hf/config.json", "hf/model.safetensors", "data.txt"])
    yield Command("ane-run cache", ["ane-run", "cache"], [])
    yield Command("ane-run evaluate", ["ane-run", "evaluate", "forward.anepkg",
                                       "--weights=w.safetensors",
                                       "--data=data.txt", "--tokens=20",
                                       "--baseline=forward.anepkg",
                                       "--baseline-weights=w.safetensors",
                                       "--losses", q + ".npy"],
                  ["data.txt", "w.safetensors", "forward.anepkg/manifest.json"],
                  q + ".npy")
    yield Command("ane-run evaluate", ["ane-run", "evaluate", "m.anepkg",
                                       "--checkpoint=run", "--data=data.txt",
                                       "--tokens=20", "--json"],
                  ["data.txt", "run/step-00000002/weights.safetensors"])
    yield Command("ane-run tokenize", ["ane-run", "tokenize", "data.txt", "-o",
                                       q + ".bin"], ["data.txt"], q + ".bin")
    yield Command("ane-run tokenize", ["ane-run", "tokenize", "data.txt",
                                       "--tokenizer=map.json"],
                  ["data.txt", "map.json"])
    yield Command("ane-run tokenize", ["ane-run", "tokenize", "--chat", "chat.json",
                                       "--tokenizer=words"],
                  ["chat.json", "words/tokenizer.json",
                   "words/tokenizer_config.json"])
    yield Command("ane-run probe", ["ane-run", "probe", "--rule=io-row-64",
                                    "--time-limit=5", "-o", q + ".json"], [],
                  q + ".json")
    yield Command("ane-run probe", ["ane-run", "probe", "--rule=io-row-64",
                                    "--time-limit=5", "--resume", "-o",
                                    "probe.json"], [], "probe.json")
    yield Command("ane-run probe-one", ["ane-run", "probe-one",
                                        "io-row-64.good"])
    yield Command("ane-run doctor", ["ane-run", "doctor"])
    trial = ["ane-run", "doctor", "--run", "--backend=cpu", "--trial=add",
             "--time-limit=5"]
    yield Command("ane-run doctor", trial + ["-o", q + ".json"], [],
                  q + ".json")
    yield Command("ane-run doctor", trial + ["--resume", "-o", "probe.json"],
                  [], "probe.json")
    yield Command("ane-run compile-staged", ["ane-run", "compile-staged", qd],
                  [], qd, ["model.mil", "weights"], True)


def check_coverage(all_commands):
    """Every command that the tools list is among them."""
    tested = {command.name for command in all_commands}
    for tool in ("anec", "ane-run"):
        text = subprocess.run([tool, "--help"], check=True, text=True,
                              capture_output=True).stdout
        listed = text.partition("\nCOMMANDS:\n")[2].partition("\n\n")[0]
        for name in re.findall(r"^    (\S+) +- ", listed, re.M):
            if f"{tool} {name}" not in tested:
                sys.exit(f"traps.py has no case for `{tool} {name}`")


def check_usage(inputs, box):
    """Without traps no command is refused for its flags, which would test nothing."""
    for command in commands("out"):
        shutil.rmtree(box, ignore_errors=True)
        shutil.copytree(inputs, box, symlinks=True)
        result = subprocess.run(command.words, cwd=box, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True)
        if result.returncode not in (0, 1, 3):
            sys.exit(f"{' '.join(command.words)} is wrong: {result.stderr}")


# ---------------------------------------------------------------------------
# Traps
# ---------------------------------------------------------------------------

class Case:
    def __init__(self, inputs, box, rng, only):
        self.rng, self.box = rng, box
        self.work, self.outside = box + "/work", box + "/outside"
        self.told = set()    # outside paths that the user names by a link
        self.kept = []       # files of others, which must stay as they are
        self.notes = []
        shutil.rmtree(box, ignore_errors=True)
        shutil.copytree(inputs, self.work, symlinks=True)
        for name in ("victim", "folder/thesis.txt", "folder/deep/notes.txt",
                     "package/manifest.json", "run/state.json", "run/mine"):
            write(f"{self.outside}/{name}")
        os.symlink("victim", self.outside + "/link")
        os.makedirs(self.outside + "/empty")
        os.chmod(self.outside + "/victim", 0o640)
        name = rng.choice(["out", "out", "out"] + ODD_NAMES)
        choices = [c for c in commands(name) if not only or only in c.name]
        self.command = rng.choice(choices)

    def note(self, text):
        self.notes.append(text)

    def at(self, path):
        return os.path.normpath(os.path.join(self.work, path))

    def clear(self, path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.remove(path)

    def link(self, path, target):
        self.clear(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.symlink(target, path)
        self.note(f"{path} -> {target}")

    def spring(self, path, is_named=False):
        """Puts something at `path`. `is_named`: the user names this path, so
        that a link is followed."""
        kind = self.rng.choice(["file", "folder", "package", "run", "dangling",
                                "link", "empty", "fifo", "socket-like", "zero",
                                "regular", "directory", "full"])
        try:
            self.put(kind, path, is_named)
        except OSError as error:  # the name is too long
            self.note(f"{path}: {error.strerror}")

    def put(self, kind, path, is_named):
        targets = {"file": "victim", "folder": "folder", "package": "package",
                   "run": "run", "dangling": "new", "link": "link",
                   "empty": "empty"}
        if kind in targets:
            target = os.path.join(self.outside, targets[kind])
            self.link(path, target)
            if is_named:
                self.told.add(os.path.realpath(target))
            return
        if kind in ("zero", "full"):
            self.link(path, "/dev/" + kind)
            return
        self.clear(path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.note(f"{path}: {kind}")
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket-like":
            os.mknod(path, stat.S_IFSOCK | 0o600)
        elif kind == "regular":
            write(path)
        elif kind == "directory":
            write(path + "/mine.txt")
            self.kept.append(path + "/mine.txt")

    def foreign(self):
        """Puts files of others in a folder that the command writes."""
        out = self.at(self.command.out)
        source = self.rng.choice(["m.anepkg", "run"])
        if os.path.lexists(out):
            return
        try:
            shutil.copytree(self.at(source), out, symlinks=True)
            mine = self.rng.choice(["mine.txt", "kernels/mine.txt", "sub/run/x",
                                    "weights/mine", "step-00000001/mine"])
            if self.rng.random() < 0.7:
                write(os.path.join(out, mine))
                self.kept.append(os.path.join(out, mine))
                self.note(f"{out}: {source} with {mine}")
        except OSError as error:
            self.note(f"{out}: {error.strerror}")

    def set_traps(self):
        command, rng = self.command, self.rng
        if rng.random() < 0.3:
            evil = rng.choice([name for name in sorted(os.listdir(self.work))
                               if name.startswith("evil")
                               and name.endswith(".anepkg")])
            self.note(f"m.anepkg is {evil}")
            self.clear(self.at("m.anepkg"))
            os.rename(self.at(evil), self.at("m.anepkg"))
        out = self.at(command.out) if command.out else ""
        if out and rng.random() < 0.25:
            self.spring(out, is_named=True)
        elif out and command.folder and rng.random() < 0.5:
            self.foreign()
        # What the tools may call their own: temporary names, and in folders.
        if out and not os.path.islink(out) and rng.random() < 0.8:
            for inner in rng.sample(command.inner, min(len(command.inner), 2)):
                if os.path.isdir(out) or not os.path.lexists(out):
                    self.spring(self.at(os.path.join(command.out, inner)))
        if out and rng.random() < 0.5:
            for number in range(2):
                self.spring(os.path.join(
                    os.path.dirname(out), temporary(os.path.basename(out), number)))
        if command.reads and rng.random() < 0.5:
            self.spring(self.at(rng.choice(command.reads)))
        # Root can write anywhere.
        if os.geteuid() and rng.random() < 0.2:
            os.chmod(self.work, 0o500)
            self.note("the folder is read-only")
        self.limits = rng.choice([{}, {}, {}, {"NOFILE": rng.randrange(4, 40)},
                                  {"STACK": 256 << 10},
                                  {"FSIZE": rng.choice([0, 100, 2000, 40000])}])
        if self.limits:
            self.note(f"limits {self.limits}")

    # ----------------------------------------------------------------------

    def limit(self):
        for name, value in self.limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name),
                               (value, value))
            if name == "FSIZE":
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        # What eats memory fails instead.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self):
        self.set_traps()
        before = snapshot(self.outside)
        kept = {path: describe(path) for path in self.kept
                if os.path.lexists(path)}
        environment = dict(os.environ, TMPDIR=self.box + "/tmp",
                           ANEC_CACHE=self.box + "/cache")
        os.makedirs(environment["TMPDIR"])
        process = subprocess.Popen(
            self.command.words, cwd=self.work, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True, preexec_fn=self.limit, env=environment)
        try:
            self.errors = process.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"it takes longer than {LIMIT} s") from None
        if process.returncode not in (0, 1, 2, 3):
            raise Failure(f"exit code {process.returncode}: "
                          f"{self.errors.decode(errors='replace')[-2000:]}")
        os.chmod(self.work, 0o700)
        after = snapshot(self.outside)
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path) and not any(
                    path == told or path.startswith(told + "/") and
                    path not in before for told in self.told):
                raise Failure(f"{path} was {before.get(path)}, and is "
                              f"{after.get(path)}")
        for path, was in kept.items():
            if not os.path.lexists(path) or describe(path) != was:
                raise Failure(f"{path} is lost")
        left = set(os.listdir(self.box)) - {"work", "outside", "tmp", "cache"}
        if left:
            raise Failure(f"there is {left}")
        return process.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("model")
    parser.add_argument("folder")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    # Evil names of weights could end here.
    for path in ("/tmp/anec-evil", "/tmp/anec-evil.npy"):
        if os.path.lexists(path):
            sys.exit(f"{path} is there already")
    check_coverage(list(commands("out")))
    make_inputs(options.model, folder + "/inputs")
    check_usage(folder + "/inputs", folder + "/box")
    failures, codes = 0, {}
    for seed in range(options.seed, options.seed + options.runs):
        case = Case(folder + "/inputs", folder + "/box", random.Random(seed),
                    options.only)
        try:
            code = case.run()
            codes[code] = codes.get(code, 0) + 1
            if os.path.lexists("/tmp/anec-evil.npy"):
                raise Failure("/tmp/anec-evil.npy was made")
            if options.verbose:
                print(seed, code, *map(repr, case.command.words))
                print("   ", *map(repr, case.notes), sep="\n    ")
                print(case.errors.decode(errors="replace"))
        except Failure as failure:
            failures += 1
            print(f"seed {seed}: {failure}", flush=True)
            print("  command:", *map(repr, case.command.words))
            for note in case.notes:
                print("  trap:", repr(note))
    counts = ", ".join(f"{count} with {code}"
                       for code, count in sorted(codes.items()))
    print(f"{options.runs} commands in folders full of traps: {failures} "
          f"failures; exit codes: {counts}")
    if not failures:
        shutil.rmtree(folder)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
