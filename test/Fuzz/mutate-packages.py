#!/usr/bin/env python3
"""Damages packages, checkpoints and the files beside them, and opens them.

  mutate-packages.py ANEC ANE_RUN [--mutants=10000] [--seed=1] [--jobs=2]
                     [--work=DIR] [--only=N]

A mutant fails when a command ends by a signal, with an unknown exit code or with
a message that names a bug of anec; takes longer than 10 s, or more memory than
500 MB and 10 times the files; or gives other numbers with exit code 0, although
the damaged file has a digest. Half of the mutants get digests that fit: these
must not crash, and their other numbers are counted, since nothing can tell.
Prints failures and returns 1 when there are any."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Shell"))
import memory
from blake3 import blake3

MODEL = """config { layers = 2; dim = 4; seq = 3; vocab = 256; }
layer block(x: fp16[dim, seq]) -> fp16[dim, seq] {
  weight scale: fp16[dim, 1];
  weight w: fp16[dim, dim];
  return x + w @ silu(x * scale);
}
model tiny(tokens: int32[seq], targets: int32[seq]) -> fp32 {
  weight embedding: fp16[vocab, dim];
  x = gather(embedding, tokens);
  repeat i in 0..layers { x = block[i](x); }
  return cross_entropy(embedding @ x, targets);
}
"""
SECONDS = 10  # of the processor
WALL_SECONDS = 60  # on a machine that does other things too
MEMORY = 500 << 20
# A bound for the machine, not for the test.
ADDRESS_SPACE = 8 << 30
# Sanitizers reserve and take more memory than any limit.
SANITIZED = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ

INTEGERS = [0, 1, -1, 2, 3, 7, 63, 64, 65, 255, 1000, 65535, 65536, 10**6, 2**31 - 1,
            -2**31, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -2**63, 2**64 - 1]
NUMBERS = INTEGERS + [0.5, -0.25, 1e-9, 1e30, 1e300, -1e300]
STRINGS = ["", "x", "../schedule.ir", "/dev/null", "fp16", "int4", "own", "packed",
           "baked", "weight", "\u20ac", "a" * 300, "%n%s", "NaN", "-1"]


# Damage

def damage_bytes(data, choose):
    data = bytearray(data)
    for _ in range(choose.choice([1, 1, 2, 8])):
        at = choose.randrange(len(data) + 1)
        kind = choose.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << choose.randrange(8)
        elif kind == 1 and data:
            data[at % len(data)] = choose.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            del data[at:at + choose.choice([1, 4, 64])]
        elif kind == 3:
            data[at:at] = bytes(choose.choice([1, 8, 4096]))
        elif kind == 4:
            number = choose.choice(INTEGERS) % 2**64
            width = choose.choice([4, 8])
            at -= at % width
            data[at:at + width] = struct.pack("<Q", number)[:width]
        else:
            end = choose.randrange(len(data) + 1)
            data[at:at] = data[end:end + 64]
    if choose.randrange(8) == 0:
        del data[choose.randrange(len(data) + 1):]
    return bytes(data)


def places(value, path=()):
    """Paths to all members and elements of a JSON value."""
    items = (value.items() if isinstance(value, dict) else
             enumerate(value) if isinstance(value, list) else ())
    for key, inner in items:
        yield path + (key,)
        yield from places(inner, path + (key,))


def damage_value(value, choose):
    if isinstance(value, (int, float)) and choose.randrange(10):
        if isinstance(value, int) and choose.randrange(3) == 0:
            return value + choose.choice([-2, -1, 1, 2])
        return choose.choice(NUMBERS)
    if isinstance(value, str) and choose.randrange(10):
        return choose.choice(STRINGS + [value + "x", value[:-1], value[::-1]])
    return choose.choice([None, True, [], {}, "x", 0, -1, [[]], {"x": {}}, [value],
                          [value] * 1000])


def damage_json(text, choose):
    root = json.loads(text)
    for _ in range(choose.choice([1, 1, 1, 2, 4])):
        paths = list(places(root))
        if not paths:
            break
        path = choose.choice(paths)
        owner = root
        for key in path[:-1]:
            owner = owner[key]
        key = path[-1]
        kind = choose.randrange(12)
        if kind == 0:
            del owner[key]
        elif kind == 1:
            other = choose.choice(paths)
            source = root
            for step in other:
                source = source[step]
            owner[key] = json.loads(json.dumps(source))
        elif kind == 2 and isinstance(owner, list):
            choose.shuffle(owner)
        elif kind == 3 and isinstance(owner, list):
            owner.append(owner[key])
        elif kind == 4 and isinstance(owner, dict):
            owner[choose.choice(STRINGS)] = owner.pop(key)
        else:
            owner[key] = damage_value(owner[key], choose)
    return root


def damage_json_text(text, choose):
    """What no JSON value becomes: equal keys, and nesting."""
    kind = choose.randrange(3)
    if kind == 0:
        deep = choose.choice([60, 70, 1000, 200_000])
        at = choose.choice([match.end() for match in re.finditer(": ?", text)] or [0])
        opening, closing = choose.choice([("[", "]"), ('{"a":', "}")])
        return text[:at] + opening * deep + "0" + closing * deep + "," + text[at:]
    members = list(re.finditer(r'"\w+": ?[^\[{,\n}\]]+', text))
    if kind == 1 and members:
        member = choose.choice(members)
        return text[:member.end()] + ", " + member[0] + text[member.end():]
    return damage_bytes(text.encode(), choose).decode(errors="replace")


def damage_text(text, choose):
    for _ in range(choose.choice([1, 1, 2, 4])):
        lines = text.split("\n")
        at = choose.randrange(len(lines))
        kind = choose.randrange(5)
        numbers = list(re.finditer(r"\d+", text))
        words = list(re.finditer(r"[A-Za-z_]\w*", text))
        if kind == 0:
            lines[at:at] = [lines[at]] * choose.choice([1, 2, 1000])
            text = "\n".join(lines)
        elif kind == 1:
            del lines[at]
            text = "\n".join(lines)
        elif kind == 2 and words:
            one, two = choose.choice(words), choose.choice(words)
            text = text[:one.start()] + two[0] + text[one.end():]
        elif numbers:
            match = choose.choice(numbers)
            number = choose.choice(INTEGERS + [int(match[0]) + 1, int(match[0]) - 1])
            text = text[:match.start()] + str(number) + text[match.end():]
    return text


def canonical(value):
    """JSON as anec prints it to compute a digest: the digits of C's %.17g."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and -2**63 <= value < 2**64:
        return str(value)
    if isinstance(value, (int, float)):
        return "%.17g" % value
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return "{" + ",".join(json.dumps(key, ensure_ascii=False) + ":" + canonical(value[key])
                          for key in sorted(value, key=str.encode)) + "}"


def damage(path, choose):
    """Damages the file as what it is, mostly."""
    data = path.read_bytes()
    if choose.randrange(4) == 0:
        path.write_bytes(damage_bytes(data, choose))
    elif path.suffix == ".json":
        if choose.randrange(4) == 0:
            path.write_text(damage_json_text(data.decode(), choose))
        else:
            path.write_text(canonical(damage_json(data, choose)))
    elif path.suffix in (".ir", ".mil", ".jsonl"):
        path.write_text(damage_text(data.decode(), choose))
    elif path.suffix == ".safetensors" and choose.randrange(2):
        size = struct.unpack("<Q", data[:8])[0]
        header = data[8:8 + size].decode()
        header = (canonical(damage_json(header, choose)) if choose.randrange(3) else
                  damage_json_text(header, choose)).encode()
        path.write_bytes(struct.pack("<Q", len(header)) + header + data[8 + size:])
    else:
        path.write_bytes(damage_bytes(data, choose))


# Digests that fit

def fit_package(folder):
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text())
        digests = {}
        for file in manifest["files"]:
            data = (folder / file["path"]).read_bytes()
            digests[file["path"]] = file["blake3"] = blake3(data)
            file["bytes"] = len(data)
        for kernel in manifest["kernels"]:
            for instance in kernel["instances"]:
                both = digests[kernel["mil"]] + digests.get(instance.get("weights"), "")
                instance["digest"] = blake3(both.encode())
        manifest.pop("sha256", None)
        path.write_text(json.dumps(manifest))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return


def fit_checkpoint(folder):
    path = folder / "state.json"
    try:
        state = json.loads(path.read_text())
        for name, file in state["files"].items():
            data = (folder / name).read_bytes()
            file["bytes"] = len(data)
            file["sha256"] = hashlib.sha256(data).hexdigest()
        state.pop("sha256", None)
        state["sha256"] = hashlib.sha256(canonical(state).encode()).hexdigest()
        path.write_text(canonical(state))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        return


# Running

class Outcome:
    def __init__(self, command, folder):
        self.command = command
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            begin = time.monotonic()
            process = subprocess.Popen(
                memory.within(ADDRESS_SPACE, command), cwd=folder, stdout=output,
                stderr=errors, stdin=subprocess.DEVNULL)
            self.hangs = False
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                if time.monotonic() - begin > WALL_SECONDS and not self.hangs:
                    self.hangs = True
                    process.send_signal(signal.SIGKILL)
                time.sleep(0.003)
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            self.hangs |= usage.ru_utime + usage.ru_stime > SECONDS
            self.memory = memory.peak(usage)
            errors.seek(0)
            output.seek(0)
            self.errors = errors.read().decode(errors="replace")
            self.output = output.read()

    def problem(self, size):
        if self.hangs:
            return f"it takes more than {SECONDS} seconds"
        if self.code < 0:
            return f"signal {-self.code}"
        if self.code not in (0, 1, 3):
            return f"exit code {self.code}"
        if "bug in anec" in self.errors or "runtime error:" in self.errors:
            return "an internal error"
        if self.code and b"error" not in self.errors.encode() + self.output:
            return "a failure without an error"
        if self.memory > MEMORY + 10 * size and not SANITIZED:
            return f"{self.memory >> 20} MB of memory"
        return ""


def numbers_of_run(folder):
    files = sorted((folder / "out").glob("*")) if (folder / "out").is_dir() else []
    return [(file.name, file.read_bytes()) for file in files]


def numbers_of_training(folder):
    try:
        lines = (folder / "run" / "train.jsonl").read_text().split("\n")
        record = json.loads(lines[-2])
        return record["step"], record["loss"], record["grad_norm"]
    except (OSError, ValueError, LookupError):
        return None


class Subject:
    """Files to damage, and what opens them."""
    def __init__(self, files, commands, numbers=None, fit=None):
        self.files, self.commands = files, commands
        self.numbers, self.fit = numbers, fit


def subjects(anec, ane_run):
    inputs = ["--input", "tokens=zeros", "--input", "targets=zeros"]
    run = [[ane_run, "info", "p.anepkg"],
           [ane_run, "p.anepkg", *inputs, "--output-dir=out"]]
    trained = run + [[ane_run, "p.anepkg", *inputs, "--gradients=out"]]
    check = [[anec, "p.anepkg/kernels/block.mil", "--emit=mil"],
             [anec, "check", "p.anepkg/kernels/block.mil", "--target=m1"],
             [ane_run, "p.anepkg/kernels/block.mil", "--input", "input=zeros"]]
    train = [[ane_run, "train", "p.anepkg", "--data=text", "--steps=3",
              "--checkpoint=run", "--resume"]]
    return {
        "package": Subject("p.anepkg/**/*", trained, numbers_of_run,
                           lambda folder: fit_package(folder / "p.anepkg")),
        "baked": Subject("p.anepkg/**/*", run, numbers_of_run,
                         lambda folder: fit_package(folder / "p.anepkg")),
        "manifest": Subject("p.anepkg/manifest.json", trained, numbers_of_run,
                            lambda folder: fit_package(folder / "p.anepkg")),
        "schedule": Subject("p.anepkg/schedule.ir", run, numbers_of_run,
                            lambda folder: fit_package(folder / "p.anepkg")),
        "kernel": Subject("p.anepkg/[kw]*/block*", check),
        "checkpoint": Subject("run/step-*/*", train, numbers_of_training,
                              lambda folder: fit_checkpoint(folder / "run/step-00000002")),
        "state": Subject("run/step-*/state.json", train, numbers_of_training,
                         lambda folder: fit_checkpoint(folder / "run/step-00000002")),
        "log": Subject("run/train.jsonl",
                       [[ane_run, "plot", "run/train.jsonl", "-o", "loss.svg"], *train]),
        "map": Subject("map.json", [[ane_run, "p.anepkg", *inputs,
                                     "--weights=run/best/weights.safetensors",
                                     "--weight-map=map.json"]]),
        "tokens": Subject("tokenizer.bin",
                          [[ane_run, "tokenize", "text", "--tokenizer=tokenizer.bin",
                            "-o", "text.bin"]]),
        "tokenizer": Subject("tokenizer.json",
                             [[ane_run, "tokenize", "text", "--tokenizer=tokenizer.json",
                               "-o", "text.bin"]]),
        "config": Subject("llama/*", [[anec, "convert", "llama", "--from=hf",
                                       "-o", "llama.safetensors"]]),
    }


def program(name):
    """The absolute path of a program, which runs in other folders."""
    found = shutil.which(name)
    if not found:
        raise argparse.ArgumentTypeError(f"there is no program {name}")
    return os.path.abspath(found)


def prepare(work, anec, ane_run):
    """Whole files, one folder for packages with packed and one with baked weights."""
    def run(*command, folder):
        subprocess.run([str(word) for word in command], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)

    whole = work / "whole"
    whole.mkdir(parents=True)
    (whole / "model.tdsl").write_text(MODEL)
    (whole / "text").write_text("one two three four five six\n" * 8)
    run(anec, "model.tdsl", "--init=1", "-o", "p.anepkg", folder=whole)
    run(ane_run, "train", "p.anepkg", "--data=text", "--steps=2", "--checkpoint=run",
        folder=whole)
    names = json.loads((whole / "p.anepkg/manifest.json").read_text())["weights"]
    (whole / "map.json").write_text(json.dumps({w["name"]: w["name"] for w in names}))
    pieces = [b"<unk>", b"\n<s>\n", b"\n</s>\n", *(b"<0x%02X>" % i for i in range(256)),
              b"o", b"n", b"e", b"on", b"one", b" one"]
    (whole / "tokenizer.bin").write_bytes(
        struct.pack("<i", max(map(len, pieces))) +
        b"".join(struct.pack("<fi", -i, len(piece)) + piece
                 for i, piece in enumerate(pieces)))
    split = {"type": "Split", "behavior": "Isolated",
             "pattern": {"Regex": " ?[^\\s\\p{N}]+|\\s+(?!\\S)|\\d{1,3}"}}
    (whole / "tokenizer.json").write_text(json.dumps(
        {"version": "1.0",
         "added_tokens": [{"id": 30, "content": "<s>", "special": True}],
         "normalizer": {"type": "Sequence", "normalizers": [
             {"type": "NFKC"}, {"type": "Strip", "strip_left": True, "strip_right": False},
             {"type": "Replace", "pattern": {"String": "x"}, "content": "y"}]},
         "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
             split, {"type": "ByteLevel", "add_prefix_space": True}]},
         "post_processor": {"type": "BertProcessing", "cls": ["<s>", 30],
                            "sep": ["<s>", 30]},
         "decoder": {"type": "ByteLevel"},
         "model": {"type": "BPE", "unk_token": "o", "byte_fallback": True,
                   "vocab": {text: n for n, text in enumerate(
                       [*"abcdefghijklmnopqrstuvwxyz\u0120", "on", "one"])},
                   "merges": ["o n", ["on", "e"]]}}))
    llama = whole / "llama"
    llama.mkdir()
    (llama / "config.json").write_text(json.dumps(
        {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 1,
         "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 16,
         "max_position_embeddings": 4, "tie_word_embeddings": True,
         "hidden_act": "silu", "rms_norm_eps": 1e-5, "rope_theta": 10000.0}))
    shapes = {"model.embed_tokens": [16, 8], "model.norm": [8]}
    layer = {"self_attn.q_proj": [8, 8], "self_attn.k_proj": [8, 8],
             "self_attn.v_proj": [8, 8], "self_attn.o_proj": [8, 8],
             "mlp.gate_proj": [16, 8], "mlp.up_proj": [16, 8], "mlp.down_proj": [8, 16],
             "input_layernorm": [8], "post_attention_layernorm": [8]}
    shapes.update({"model.layers.0." + name: shape for name, shape in layer.items()})
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name + ".weight"] = {"dtype": "F32", "shape": shape,
                                    "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    (llama / "model.safetensors").write_bytes(
        struct.pack("<Q", len(text)) + text + bytes(end))
    baked = work / "whole-baked"
    shutil.copytree(whole, baked, symlinks=True)
    run(anec, "model.tdsl", "--init=1", "--forward-only", "-o", "p.anepkg", folder=baked)


class Mutants:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.subjects = subjects(options.anec, options.ane_run)
        self.whole = {name: self.run_whole(name) for name in self.subjects}

    def copy(self, name, number):
        folder = self.work / f"mutant-{number}"
        shutil.copytree(self.work / ("whole-baked" if name == "baked" else "whole"), folder,
                        symlinks=True)
        return folder

    def run_whole(self, name):
        """The numbers of files without damage, whose commands succeed."""
        subject = self.subjects[name]
        folder = self.copy(name, name)
        for command in subject.commands:
            outcome = Outcome(command, folder)
            # A check has findings.
            if (outcome.code and "check" not in command) or outcome.problem(0):
                sys.exit(f"{name}: {' '.join(command)}: exit code {outcome.code}\n"
                         f"{outcome.errors}")
        numbers = subject.numbers(folder) if subject.numbers else None
        if subject.fit:
            subject.fit(folder)
            for command in subject.commands[:2]:
                outcome = Outcome(command, folder)
                if outcome.code:
                    sys.exit(f"{name}: digests do not fit: {outcome.errors}")
        shutil.rmtree(folder)
        return numbers

    def run(self, number):
        choose = random.Random(f"{self.options.seed}.{number}")
        name = choose.choice(list(self.subjects))
        subject = self.subjects[name]
        folder = self.copy(name, number)
        files = sorted(path for path in folder.glob(subject.files) if path.is_file())
        path = choose.choice(files)
        damage(path, choose)
        fits = subject.fit and choose.randrange(2)
        if fits:
            subject.fit(folder)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        title = f"{self.options.seed}.{number} {name} {path.relative_to(folder)}" + (
            " with digests that fit" if fits else "")
        codes, why = [], ""
        for command in subject.commands:
            outcome = Outcome(command, folder)
            codes.append(outcome.code)
            why = outcome.problem(size)
            if why:
                why += f"\n  {' '.join(map(str, command))}\n  " + outcome.errors[-2000:]
                break
        result = "refused" if any(codes) else "the same"
        if not why and not any(codes) and subject.numbers:
            if subject.numbers(folder) != self.whole[name]:
                result = "other numbers"
                if not fits and path.suffix != ".jsonl":
                    why = "other numbers"
        if not self.options.only:
            shutil.rmtree(folder)
        if why:
            print(f"{title}: {why}", flush=True)
        elif result == "other numbers" and self.options.verbose:
            print(f"{title}: other numbers", flush=True)
        return name, "failed" if why else result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("anec", type=program)
    parser.add_argument("ane_run", type=program)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", type=int, help="one mutant, whose files are kept")
    parser.add_argument("--verbose", action="store_true",
                        help="name the mutants that give other numbers")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    work = (options.work or pathlib.Path(tempfile.mkdtemp())).absolute()
    shutil.rmtree(work, ignore_errors=True)
    prepare(work, options.anec, options.ane_run)
    mutants = Mutants(options, work)
    numbers = [options.only] if options.only else range(1, options.mutants + 1)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        counts.update(pool.map(mutants.run, numbers))
    for name in mutants.subjects:
        words = [f"{counts[name, result]} {result}" for result in
                 ("refused", "the same", "other numbers", "failed") if counts[name, result]]
        if words:
            print(f"{name}: {', '.join(words)}")
    failed = sum(count for (_, result), count in counts.items() if result == "failed")
    print(f"{len(numbers)} mutants, {failed} failed")
    if not options.only:
        shutil.rmtree(work)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
