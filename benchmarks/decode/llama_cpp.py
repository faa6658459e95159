#!/usr/bin/env python3
"""Tokens of a language model from GGUF files, beside the real llama.cpp.

A model with the shapes of Qwen3-0.6B and random weights, as F16, Q8_0 and Q4_0, is
continued by `ane-run generate` and by llama.cpp (PyPI xllamacpp) with the same number of
threads, in turns: a few tokens after a short prompt, and a prompt of many tokens. Both
read the same file.

  llama_cpp.py --install
  llama_cpp.py --peer=PYTHON [--types Q4_0] [--rounds=5]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve()
root = here.parents[2]
sys.path.insert(0, str(here.parents[1]))
import interleaved  # noqa: E402

PACKAGES = ["xllamacpp==2026.10.11549", "gguf==0.19.0", "numpy"]
TYPES = ["F16", "Q8_0", "Q4_0"]
SHAPES = {"dim": 1024, "hidden": 3072, "layers": 28, "heads": 16, "kv_heads": 8,
          "width": 128, "vocab": 151936}
# Written by the peer's own package, in a process of the peer's Python.
WRITER = '''
import json, sys
import gguf, numpy as np
target, kind, shapes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
dim, hidden, vocab = shapes["dim"], shapes["hidden"], shapes["vocab"]
queries, keys = (shapes[n] * shapes["width"] for n in ("heads", "kv_heads"))
type = getattr(gguf.GGMLQuantizationType, kind)
file = gguf.GGUFWriter(target, "qwen3")
file.add_context_length(4096)
file.add_embedding_length(dim)
file.add_block_count(shapes["layers"])
file.add_feed_forward_length(hidden)
file.add_head_count(shapes["heads"])
file.add_head_count_kv(shapes["kv_heads"])
file.add_key_length(shapes["width"])
file.add_value_length(shapes["width"])
file.add_rope_freq_base(1e6)
file.add_layer_norm_rms_eps(1e-6)
words = [chr(c) for c in [*range(33, 127), *range(161, 173), *range(174, 256)]]
words += [chr(256 + i) for i in range(256 - len(words))]
words += ["ab"] + [f"t{i}x" for i in range(vocab - 259)] + ["<|endoftext|>", "<|end|>"]
file.add_tokenizer_model("gpt2")
file.add_tokenizer_pre("qwen2")
file.add_token_list(words)
file.add_token_types([1] * (vocab - 2) + [3] * 2)
file.add_token_merges(["a b"])
file.add_eos_token_id(vocab - 1)
random = np.random.default_rng(1)
def matrix(name, rows, columns):
    array = (random.standard_normal((rows, columns), dtype=np.float32) * 0.02)
    array = array.astype(np.float16)
    if kind != "F16":
        array = gguf.quants.quantize(array.astype(np.float32), type)
        file.add_tensor(name + ".weight", array, raw_dtype=type)
    else:
        file.add_tensor(name + ".weight", array)
def ones(name, count):
    file.add_tensor(name + ".weight", np.ones(count, np.float32))
matrix("token_embd", vocab, dim)
ones("output_norm", dim)
for layer in range(shapes["layers"]):
    at = f"blk.{layer}."
    for name, rows, columns in (
            ("attn_q", queries, dim), ("attn_k", keys, dim), ("attn_v", keys, dim),
            ("attn_output", dim, queries), ("ffn_gate", hidden, dim),
            ("ffn_up", hidden, dim), ("ffn_down", dim, hidden)):
        matrix(at + name, rows, columns)
    for name, count in (("attn_norm", dim), ("ffn_norm", dim),
                        ("attn_q_norm", shapes["width"]), ("attn_k_norm", shapes["width"])):
        ones(at + name, count)
file.write_header_to_file()
file.write_kv_data_to_file()
file.write_tensors_to_file()
file.close()
'''
# Answers `N` with N times of a token, or of one of the prompt's.
LLAMA = '''
import json, sys
import xllamacpp
path, threads, prompt, tokens = sys.argv[1], *map(int, sys.argv[2:5])
parameters = xllamacpp.CommonParams()
parameters.model.path = path
parameters.n_ctx, parameters.n_parallel = 1024, 1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
parameters.n_gpu_layers = 0
parameters.warmup = True
parameters.verbosity = -1
server = xllamacpp.Server(parameters)
print("ready", flush=True)
for line in sys.stdin:
    times = []
    for _ in range(int(line)):
        said = server.handle_completions({
            "prompt": [785 + i % 500 for i in range(prompt)], "n_predict": tokens,
            "temperature": 0, "ignore_eos": True, "cache_prompt": False})
        said = said["timings"]
        rate = said["predicted_per_second" if tokens > 1 else "prompt_per_second"]
        times.append(1000 / rate)
    print(json.dumps(times), flush=True)
'''


class Generate:
    """`ane-run generate`, by the rates that it says."""

    def __init__(self, name, binary, model, threads, prompt, tokens):
        self.name, self.used, self.tokens = name, 0, tokens
        ids = ",".join(str(785 + i % 500) for i in range(prompt))
        self.command = [binary, "generate", model, "--context=1024",
                        f"--prompt-ids={ids}", f"--tokens={max(tokens, 2)}",
                        "--temperature=0", f"--threads={threads}"]

    def batch(self, count):
        times = []
        for _ in range(count):
            before = os.times()
            done = subprocess.run(self.command, capture_output=True, text=True)
            after = os.times()
            self.used += (after.children_user - before.children_user +
                          after.children_system - before.children_system)
            rates = re.search(r": ([0-9.]+) tokens/s, prompt ([0-9.]+)", done.stderr)
            if not rates:
                sys.exit(f"error: {self.name}: {done.stderr}")
            times.append(1000 / float(rates[1 if self.tokens > 1 else 2]))
        return times

    def seconds(self):
        return self.used

    def stop(self):
        pass


def install(folder):
    python = folder / "peer/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "peer"], check=True)
        subprocess.run([python, "-m", "pip", "-q", "install", *PACKAGES], check=True)
    return python


def compare(arguments, kind, model):
    """Rows of the table, and whether a limit is passed."""
    work = {"decode": (2, arguments.tokens), "prefill": (arguments.prompt, 1)}
    failed = False
    for name, (prompt, tokens) in work.items():
        contenders = [
            Generate(f"anec {kind} {name}", arguments.build / "bin/ane-run", model,
                     arguments.threads, prompt, tokens),
            interleaved.Worker(f"llama.cpp {kind} {name}",
                               [arguments.peer, "-c", LLAMA, model,
                                str(arguments.threads), str(prompt), str(tokens)])]
        for contender in contenders:
            contender.batch(1)
        results, foreign = interleaved.measure(contenders, arguments.rounds, 1,
                                               arguments.foreign)
        for contender in contenders:
            contender.stop()
        own, peer = results
        ratio = peer.median() / own.median()
        limit = arguments.decode_limit if name == "decode" else arguments.prefill_limit
        failed |= ratio < limit
        print(f"| {kind} | {name} | {1e3 / own.median():.1f} | {1e3 / own.minimum():.1f} | "
              f"{1e3 / peer.median():.1f} | {1e3 / peer.minimum():.1f} | {ratio:.2f} | "
              f"{foreign:.0%} |", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/anec-decode"))
    parser.add_argument("--peer", type=pathlib.Path, help="a Python with " + ", ".join(PACKAGES))
    parser.add_argument("--install", action="store_true", help="make one in --folder")
    parser.add_argument("--types", nargs="+", choices=TYPES, default=TYPES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--prompt", type=int, default=256)
    parser.add_argument("--foreign", type=float, default=0.05)
    parser.add_argument("--decode-limit", type=float, default=1.1,
                        help="least ratio of the rates, anec's to llama.cpp's")
    parser.add_argument("--prefill-limit", type=float, default=1.2)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.install:
        arguments.peer = install(arguments.folder)
    if not arguments.peer:
        sys.exit("error: --peer=PYTHON names a Python with " + ", ".join(PACKAGES)
                 + ", and --install makes one")
    print("| weights | work | anec, tokens/s | at best | llama.cpp | at best | ratio | others |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|")
    failed = False
    for kind in arguments.types:
        model = arguments.folder / f"qwen3-{kind}.gguf"
        if not model.exists():
            subprocess.run([arguments.peer, "-c", WRITER, model, kind, json.dumps(SHAPES)],
                           check=True)
        failed |= compare(arguments, kind, model)
    if failed:
        sys.exit("error: a ratio is below its limit")


if __name__ == "__main__":
    main()
