#!/usr/bin/env python3
"""Random models of every family that `anec import` reads, in the layout of
Hugging Face: imports each, compiles it with its weights, runs it, and compares
the logits with those of reference.py.

usage: random_models.py [--seed=N] [--models=N] [--only=N] [--family=NAME] WORK
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys

import numpy as np

import model_files
import reference

TOLERANCE = 1e-4  # of the largest logit
NEUTRAL = {"architectures": ["AnyForCausalLM"], "bos_token_id": 1, "eos_token_id": [2, 3],
           "torch_dtype": "bfloat16", "transformers_version": "4.57.0", "use_cache": True,
           "initializer_range": 0.02, "attention_dropout": 0.0}


class Draw:
    """A random model: its config, and the shapes of its arrays."""

    def __init__(self, seed, family):
        self.rng, self.family = random.Random(seed), family
        self.config, self.shapes = {"model_type": family}, {}
        self.seq = self.rng.randint(3, 12)

    def flag(self, odds=0.5):
        return self.rng.random() < odds

    def pick(self, *choices):
        return self.rng.choice(choices)

    def matrix(self, name, outputs, inputs, bias=False):
        self.shapes[name + ".weight"] = (outputs, inputs)
        if bias:
            self.shapes[name + ".bias"] = (outputs,)

    def sizes(self):
        """Those that most families name alike."""
        c = self.config
        kv, width = self.rng.randint(1, 3), 2 * self.rng.randint(2, 6)
        heads = kv * self.rng.randint(1, 3)
        dim = heads * width
        named = self.flag() and self.family not in ("phi", "phi3")
        if named and self.family in ("llama", "mistral", "qwen3", "gemma2", "gemma3_text"):
            dim = 2 * self.rng.randint(3, 20)
        if dim != heads * width or named or self.family in ("qwen3", "gemma2", "gemma3_text"):
            c["head_dim"] = width
        c.update(hidden_size=dim, intermediate_size=self.rng.randint(4, 40),
                 num_hidden_layers=self.rng.randint(1, 9), num_attention_heads=heads,
                 vocab_size=self.rng.randint(5, 60),
                 max_position_embeddings=self.rng.randint(4, 40))
        if kv != heads or self.flag():
            c["num_key_value_heads"] = kv
        return heads, kv, width, dim

    def scaling(self, kinds, channels):
        """An object for `rope_scaling`, or null."""
        c, kind = self.config, self.pick(*kinds)
        key = self.pick("rope_type", "type")
        longest = c["max_position_embeddings"]
        factor = self.pick(2.0, 4.0, 8.0, 1.5)
        if kind is None:
            return None
        if kind == "llama3":
            return {key: kind, "factor": factor, "low_freq_factor": 1.0,
                    "high_freq_factor": 4.0,
                    "original_max_position_embeddings": self.rng.randint(4, 60)}
        if kind == "yarn":
            s = {key: kind, "factor": factor,
                 "original_max_position_embeddings": self.rng.randint(4, 400)}
            if self.flag(0.3):
                s["attention_factor"] = 1.25
            elif self.flag(0.3):
                s.update(mscale=0.7, mscale_all_dim=1.2)
            if self.flag(0.3):
                s.update(beta_fast=16.0, beta_slow=2.0)
            return s
        if kind in ("longrope", "su"):
            c["original_max_position_embeddings"] = self.rng.randint(2, longest)
            return {key: kind,
                    "short_factor": [1 + self.rng.random() for _ in range(channels // 2)],
                    "long_factor": [1 + 5 * self.rng.random() for _ in range(channels // 2)]}
        if kind == "default":
            return {key: kind}
        return {key: kind, "factor": factor}

    def rope(self, kinds, width, part=1.0):
        c = self.config
        theta = self.pick(10000.0, 500000.0, 1000000, 123.5)
        scaling = self.scaling(kinds, int(width * part))
        partial = {"partial_rotary_factor": part} if part != 1 or self.flag(0.2) else {}
        if self.flag(0.3):
            scaling = dict(scaling or {"rope_type": "default"})
            c["rope_parameters"] = {"rope_theta": theta, **partial, **scaling}
            return
        c.update(rope_theta=theta, **partial)
        if scaling or self.flag():
            c["rope_scaling"] = scaling

    def layer_types(self, odds=0.5):
        return [self.pick("sliding_attention", "full_attention")
                for _ in range(self.config["num_hidden_layers"])]

    def ends(self, dim, tied_by_default, bias=False):
        c = self.config
        self.shapes["model.embed_tokens.weight"] = (c["vocab_size"], dim)
        self.shapes["model.norm.weight"] = (dim,)
        tied = self.flag()
        if tied != tied_by_default or self.flag():
            c["tie_word_embeddings"] = tied
        if not tied or self.flag(0.2):
            self.shapes["lm_head.weight"] = (c["vocab_size"], dim)

    # The families.

    def llama_like(self):
        c = self.config
        heads, kv, width, dim = self.sizes()
        c.update(rms_norm_eps=self.pick(1e-5, 1e-6), hidden_act=self.pick("silu", "silu", "gelu"))
        kinds = [None, "default", "linear", "dynamic", "llama3", "yarn", "longrope"]
        if width == 2:
            kinds.remove("dynamic")
        self.rope(kinds, width)
        qkv_bias = out_bias = mlp_bias = False
        if self.family in ("llama", "qwen3", "smollm3"):
            qkv_bias = out_bias = c["attention_bias"] = self.flag(0.3)
        if self.family in ("llama", "smollm3"):
            mlp_bias = c["mlp_bias"] = self.flag(0.3)
        if self.family == "qwen2":
            qkv_bias = True
        if self.family == "mistral":
            c["sliding_window"] = self.pick(None, self.rng.randint(1, 12))
        if self.family in ("qwen2", "qwen3"):
            c.update(use_sliding_window=self.flag(), sliding_window=self.rng.randint(1, 8),
                     max_window_layers=self.rng.randint(0, c["num_hidden_layers"]))
            if self.flag(0.3):
                c["layer_types"] = self.layer_types()
        if self.family == "smollm3":
            if self.flag():
                c["no_rope_layers"] = [self.pick(0, 1) for _ in range(c["num_hidden_layers"])]
            else:
                c["no_rope_layer_interval"] = self.rng.randint(2, 5)
            if self.flag(0.4):
                c.update(use_sliding_window=True, sliding_window=self.rng.randint(1, 6))
        self.ends(dim, self.family == "smollm3")
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            self.shapes[at + "input_layernorm.weight"] = (dim,)
            self.shapes[at + "post_attention_layernorm.weight"] = (dim,)
            self.matrix(at + "self_attn.q_proj", heads * width, dim, qkv_bias)
            self.matrix(at + "self_attn.k_proj", kv * width, dim, qkv_bias)
            self.matrix(at + "self_attn.v_proj", kv * width, dim, qkv_bias)
            self.matrix(at + "self_attn.o_proj", dim, heads * width, out_bias)
            if self.family == "qwen3":
                self.shapes[at + "self_attn.q_norm.weight"] = (width,)
                self.shapes[at + "self_attn.k_norm.weight"] = (width,)
            hidden = c["intermediate_size"]
            self.matrix(at + "mlp.gate_proj", hidden, dim, mlp_bias)
            self.matrix(at + "mlp.up_proj", hidden, dim, mlp_bias)
            self.matrix(at + "mlp.down_proj", dim, hidden, mlp_bias)
            if self.flag(0.1):
                self.shapes[at + "self_attn.rotary_emb.inv_freq"] = (width // 2,)

    llama = mistral = qwen2 = qwen3 = smollm3 = llama_like

    def gemma(self):
        c, third = self.config, self.family == "gemma3_text"
        heads, kv, width, dim = self.sizes()
        c.update(rms_norm_eps=1e-6, hidden_activation="gelu_pytorch_tanh",
                 query_pre_attn_scalar=self.pick(width, 256, 24),
                 sliding_window=self.rng.randint(1, 8),
                 attn_logit_softcapping=None if third else self.pick(50.0, 5.0),
                 final_logit_softcapping=None if third else self.pick(30.0, 3.0))
        if third:
            if self.flag(0.3):
                c["rope_parameters"] = {
                    "full_attention": {"rope_type": "linear", "factor": 8.0,
                                       "rope_theta": 1000000.0},
                    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
            else:
                c.update(rope_theta=1000000.0, rope_local_base_freq=self.pick(10000.0, 99.0),
                         rope_scaling=self.scaling([None, "linear"], width))
            c["sliding_window_pattern"] = self.rng.randint(2, 6)
        else:
            c["rope_theta"] = 10000.0
        if self.flag(0.4):
            c["layer_types"] = self.layer_types()
        bias = c["attention_bias"] = self.flag(0.2)
        self.ends(dim, True)
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            for name in ("input_layernorm", "post_attention_layernorm",
                         "pre_feedforward_layernorm", "post_feedforward_layernorm"):
                self.shapes[at + name + ".weight"] = (dim,)
            self.matrix(at + "self_attn.q_proj", heads * width, dim, bias)
            self.matrix(at + "self_attn.k_proj", kv * width, dim, bias)
            self.matrix(at + "self_attn.v_proj", kv * width, dim, bias)
            self.matrix(at + "self_attn.o_proj", dim, heads * width, bias)
            if third:
                self.shapes[at + "self_attn.q_norm.weight"] = (width,)
                self.shapes[at + "self_attn.k_norm.weight"] = (width,)
            self.matrix(at + "mlp.gate_proj", c["intermediate_size"], dim)
            self.matrix(at + "mlp.up_proj", c["intermediate_size"], dim)
            self.matrix(at + "mlp.down_proj", dim, c["intermediate_size"])

    gemma2 = gemma3_text = gemma

    def gpt2(self):
        c, heads = self.config, self.rng.randint(1, 4)
        dim = heads * self.rng.randint(2, 8)
        hidden = self.pick(None, self.rng.randint(4, 30))
        c.update(n_layer=self.rng.randint(1, 5), n_head=heads, n_embd=dim, n_inner=hidden,
                 vocab_size=self.rng.randint(5, 60), n_positions=self.rng.randint(12, 40),
                 layer_norm_epsilon=1e-5, activation_function=self.pick("gelu_new", "relu"),
                 reorder_and_upcast_attn=False, scale_attn_by_inverse_layer_idx=False)
        if self.flag(0.3):
            c["scale_attn_weights"] = self.flag()
        at = self.pick("", "transformer.")
        hidden = hidden or 4 * dim
        self.shapes[at + "wte.weight"] = (c["vocab_size"], dim)
        self.shapes[at + "wpe.weight"] = (c["n_positions"], dim)
        for name in [f"h.{layer}.ln_{n}" for layer in range(c["n_layer"]) for n in (1, 2)] + ["ln_f"]:
            self.shapes[f"{at}{name}.weight"] = self.shapes[f"{at}{name}.bias"] = (dim,)
        for layer in range(c["n_layer"]):
            for name, inputs, outputs in (("attn.c_attn", dim, 3 * dim),
                                          ("attn.c_proj", dim, dim),
                                          ("mlp.c_fc", dim, hidden),
                                          ("mlp.c_proj", hidden, dim)):
                self.shapes[f"{at}h.{layer}.{name}.weight"] = (inputs, outputs)
                self.shapes[f"{at}h.{layer}.{name}.bias"] = (outputs,)
            if self.flag(0.3):
                self.shapes[f"{at}h.{layer}.attn.bias"] = (1, 1, 4, 4)

    def phi(self):
        c = self.config
        heads, kv, width, dim = self.sizes()
        c.pop("head_dim", None)
        c.update(layer_norm_eps=1e-5, hidden_act="gelu_new", qk_layernorm=False)
        part = self.pick(*[n / width for n in range(4, width + 1, 2)])
        self.rope([None, "linear"], width, part)
        if "rope_parameters" not in c:
            c["partial_rotary_factor"] = part
        else:
            c["rope_parameters"]["partial_rotary_factor"] = part
        self.ends(dim, False)
        self.shapes.setdefault("lm_head.weight", (c["vocab_size"], dim))
        self.shapes["lm_head.bias"] = (c["vocab_size"],)
        c["tie_word_embeddings"] = False
        del self.shapes["model.norm.weight"]
        for name in [f"layers.{i}.input_layernorm" for i in range(c["num_hidden_layers"])] + ["final_layernorm"]:
            self.shapes[f"model.{name}.weight"] = self.shapes[f"model.{name}.bias"] = (dim,)
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            for name, outputs in (("q_proj", dim), ("k_proj", kv * width), ("v_proj", kv * width),
                                  ("dense", dim)):
                self.matrix(at + "self_attn." + name, outputs, dim, True)
            self.matrix(at + "mlp.fc1", c["intermediate_size"], dim, True)
            self.matrix(at + "mlp.fc2", dim, c["intermediate_size"], True)

    def phi3(self):
        c = self.config
        heads, kv, width, dim = self.sizes()
        c.pop("head_dim", None)
        c.update(rms_norm_eps=1e-5, hidden_act="silu",
                 sliding_window=self.pick(None, self.rng.randint(1, 12)))
        part = self.pick(1.0, *[n / width for n in range(4, width + 1, 2)])
        self.rope([None, "longrope", "su"], width, part)
        self.ends(dim, False)
        hidden = c["intermediate_size"]
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            self.shapes[at + "input_layernorm.weight"] = (dim,)
            self.shapes[at + "post_attention_layernorm.weight"] = (dim,)
            self.matrix(at + "self_attn.qkv_proj", (heads + 2 * kv) * width, dim)
            self.matrix(at + "self_attn.o_proj", dim, heads * width)
            self.matrix(at + "mlp.gate_up_proj", 2 * hidden, dim)
            self.matrix(at + "mlp.down_proj", dim, hidden)


FAMILIES = ["llama", "mistral", "qwen2", "qwen3", "smollm3", "gemma2", "gemma3_text", "gpt2",
            "phi", "phi3"]


def elements(rng, name, shape):
    if "norm" in name or ".ln_" in name or name.endswith("ln_f.weight"):
        return rng.normal(0.7, 0.3, shape)
    return rng.normal(0, shape[-1] ** -0.5 if len(shape) > 1 else 0.3, shape)


def write(seed, family, folder, kind=Draw):
    """Writes a model; returns its draw and its arrays, as stored."""
    draw = kind(seed, family)
    getattr(draw, family)()
    draw.config.update({key: NEUTRAL[key] for key in NEUTRAL if draw.flag(0.7)})
    rng = np.random.default_rng(seed)
    arrays = {name: elements(rng, name, shape) for name, shape in draw.shapes.items()}
    dtype = draw.pick("float32", "float16", "bfloat16")
    dtypes = {name: "float32" if draw.flag(0.05) else dtype for name in arrays}
    values = model_files.write_model(folder, draw.config, arrays, dtypes, draw.pick(1, 1, 3))
    return draw, values


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr[-3000:]}")
    return done


def round_trip(work):
    """Whether the arrays, under the program's names, come back as they were."""
    with open(f"{work}/m.names.json", encoding="utf-8") as file:
        names = json.load(file)
    config = names.pop("config")
    arrays = model_files.read_folder(f"{work}/model")
    model_files.write_arrays(f"{work}/renamed.safetensors",
                             {name: arrays[other] for name, other in names.items()})
    run("anec", "convert", f"{work}/renamed.safetensors", f"--weight-map={work}/m.names.json",
        "-o", f"{work}/back")
    back = model_files.read_folder(f"{work}/back")
    with open(f"{work}/back/config.json", encoding="utf-8") as file:
        written = json.load(file)
    config.pop("torch_dtype", None), written.pop("torch_dtype", None)
    return written == config and back == {name: arrays[name] for name in names.values()}


def compile_decoder(work, count):
    """Compiles programs with caches for `count` positions. Angles that depend on the length of a text
    are refused beyond a context, which the error tells; returns the context."""
    def command(positions):
        return ["anec", f"{work}/m.tdsl", f"--weights={work}/model", "--decode", "--block=1,2",
                "--prefill=3" if positions > 3 else "--prefill=1", f"--context={positions}",
                "-o", f"{work}/d.anepkg"]

    done = subprocess.run(command(count), capture_output=True, text=True)
    if "[rope-of-length]" in done.stderr:
        count = int(re.search(r"--context=(\d+)", done.stderr).group(1))
    run(*command(count))
    return count


def decodes(work, draw, values, tokens):
    """Whether a package that reads with caches chooses the token that the
    reference does, as likely, after all tokens but the last."""
    tokens = tokens[:compile_decoder(work, len(tokens))]
    wanted = reference.logits(draw.config, values, tokens)
    said = json.loads(run("ane-run", "generate", f"{work}/d.anepkg", "--numerics=fp32",
                          "--prompt-ids=" + ",".join(map(str, tokens[:-1])), "--tokens=1",
                          "--temperature=0", "--json", "--quiet").stdout)
    logits = wanted[len(tokens) - 2]
    likely = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
    chosen, logprob = said["ids"][0], said["logprobs"][0]
    scale = max(1.0, np.abs(wanted).max())
    near = 2 * TOLERANCE * scale
    return abs(likely[chosen] - logprob) < near and likely.max() - likely[chosen] < near


def logits_of(work, source, name, tokens, vocab):
    """The logits that anec computes in fp32 from `source`: [tokens, vocab]."""
    np.save(f"{work}/tokens.npy", tokens)
    run("anec", "import", source, "-o", f"{work}/{name}.tdsl", f"--seq={len(tokens)}",
        "--float=fp32")
    run("anec", f"{work}/{name}.tdsl", f"--weights={source}", "--forward-only", "-o",
        f"{work}/{name}.anepkg")
    run("ane-run", f"{work}/{name}.anepkg", "--numerics=fp32", "--input",
        f"tokens={work}/tokens.npy", "--input", f"targets={work}/tokens.npy", "--output-dir",
        f"{work}/{name}-out")
    got = [np.load(f"{work}/{name}-out/{file}") for file in os.listdir(f"{work}/{name}-out")]
    return next(array for array in got if array.shape == (vocab, len(tokens))).T


def compare(seed, family, work):
    """The difference from the reference, as a part of the largest logit."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    draw, values = write(seed, family, f"{work}/model")
    vocab = draw.config["vocab_size"]
    tokens = np.random.default_rng(seed + 1).integers(0, vocab, draw.seq).astype(np.int32)
    wanted = reference.logits(draw.config, values, tokens)
    got = logits_of(work, f"{work}/model", "m", tokens, vocab)
    error = np.abs(got - wanted).max() / np.abs(wanted).max()
    # The token that each position chooses, unless two are as good.
    best = np.sort(wanted, axis=1)
    sure = best[:, -1] - best[:, -2] > 2 * TOLERANCE * np.abs(wanted).max()
    same = got.argmax(1)[sure] == wanted.argmax(1)[sure]
    good = (np.isfinite(error) and same.all() and round_trip(work) and
            decodes(work, draw, values, tokens))
    return error if good else float("inf")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--only", type=int)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("work")
    args = parser.parse_args()
    worst, failures = 0, 0
    seeds = [args.only] if args.only else range(args.seed, args.seed + args.models)
    for seed in seeds:
        family = args.family or FAMILIES[seed % len(FAMILIES)]
        try:
            error = compare(seed, family, f"{args.work}/{seed}")
        except RuntimeError as wrong:
            print(f"{family} {seed}: {wrong}")
            failures += 1
            continue
        worst = max(worst, error)
        if error > TOLERANCE:
            print(f"{family} {seed}: the logits are off by {error:.2e} of the largest")
            failures += 1
        elif not args.only:
            shutil.rmtree(f"{args.work}/{seed}")
    print(f"{len(seeds)} models, {failures} differ, worst {worst:.1e}")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
