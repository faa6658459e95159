#!/usr/bin/env python3
"""Trains adapters of a model of the shape of Qwen3-0.6B, with random bf16 weights, and
reports the most memory that a process had at a time. See ../README.md."""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CONFIG = {
    "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024,
    "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
    "head_dim": 128, "intermediate_size": 3072, "vocab_size": 151936,
    "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000,
    "tie_word_embeddings": True, "attention_bias": False, "hidden_act": "silu",
    "torch_dtype": "bfloat16"}


def shapes(layers):
    width, heads, keys, ffn = 1024, 16 * 128, 8 * 128, 3072
    yield "model.embed_tokens.weight", (CONFIG["vocab_size"], width)
    for layer in range(layers):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", (width,)
        yield at + "self_attn.q_proj.weight", (heads, width)
        yield at + "self_attn.k_proj.weight", (keys, width)
        yield at + "self_attn.v_proj.weight", (keys, width)
        yield at + "self_attn.o_proj.weight", (width, heads)
        yield at + "self_attn.q_norm.weight", (128,)
        yield at + "self_attn.k_norm.weight", (128,)
        yield at + "post_attention_layernorm.weight", (width,)
        yield at + "mlp.gate_proj.weight", (ffn, width)
        yield at + "mlp.up_proj.weight", (ffn, width)
        yield at + "mlp.down_proj.weight", (width, ffn)
    yield "model.norm.weight", (width,)


def write_model(folder, layers):
    """Random weights in bf16, drawn one array at a time."""
    folder.mkdir(parents=True)
    config = dict(CONFIG, num_hidden_layers=layers)
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    header, at = {}, 0
    for name, shape in shapes(layers):
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    rng = np.random.default_rng(1)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes(layers):
            values = (np.ones(shape, np.float32) if len(shape) == 1 else
                      rng.standard_normal(shape, np.float32) * np.float32(0.02))
            file.write((values.view(np.uint32) >> 16).astype("<u2").tobytes())


def run(command):
    """The output, the seconds and the greatest resident size of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"error: {command[1]} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return output, time.perf_counter() - begin, usage.ru_maxrss * unit


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--work", type=pathlib.Path, help="keeps the model and package here")
    parser.add_argument("--layers", type=int, default=28)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--lora", default="rank=8,targets=wq:wv")
    parser.add_argument("--limit", type=float, default=4.0, help="in GB (10^9 bytes)")
    parser.add_argument("--anec-flag", action="append", default=[])
    parser.add_argument("--train-flag", action="append", default=[])
    options = parser.parse_args()
    work = options.work or pathlib.Path(tempfile.mkdtemp())
    tools = options.build.resolve() / "bin"
    try:
        model, program, package = work / "model", work / "model.tdsl", work / "model.anepkg"
        if not model.exists():
            write_model(model, options.layers)
        subprocess.run([tools / "anec", "import", model, "-o", program], check=True)
        _, seconds, size = run([
            tools / "anec", program, "--define", f"seq={options.seq}",
            f"--lora={options.lora}", *options.anec_flag, "-o", package])
        print(f"compiled in {seconds:.1f} s with {size / 1e9:.2f} GB")
        shutil.rmtree(work / "run", ignore_errors=True)
        # 32-bit ids, with the header of llm.c.
        ids = np.random.default_rng(2).integers(0, CONFIG["vocab_size"], 8 * options.seq + 1,
                                                dtype=np.uint32)
        begin = np.zeros(256, np.uint32)
        begin[:3] = 20240801, 7, len(ids)
        np.concatenate([begin, ids]).tofile(work / "tokens.bin")
        output, seconds, size = run([
            tools / "ane-run", "train", package, f"--weights={model}", "--init=1",
            f"--data={work / 'tokens.bin'}", "--validation=0", f"--steps={options.steps}",
            f"--checkpoint={work / 'run'}", *options.train_flag])
        print(output, end="")
        print(f"{options.steps} steps in {seconds:.1f} s with {size / 1e9:.2f} GB at most, "
              "measured")
        if size > options.limit * 1e9:
            sys.exit(f"error: more than {options.limit} GB")
    finally:
        if not options.work:
            shutil.rmtree(work)


if __name__ == "__main__":
    main()
