#!/usr/bin/env python3
"""Random models as GGUF files, in each type of arrays, and as llama2.c's
checkpoints: imports each, compiles it with its weights, runs it, and compares the
logits with those of reference.py. Models that have no packed arrays are written as
a folder too, whose logits must be the same.

The files are written as llama.cpp's convert_hf_to_gguf.py writes them: the rows of
queries and keys moved, norms as 1 + w, GPT-2's matrices turned round, the scaling of
Llama 3 as an array of factors.

usage: gguf_models.py [--seed=N] [--models=N] [--only=N] [--family=NAME] [--type=NAME]
                      [--write-only] WORK
"""
import argparse
import math
import os
import random
import shutil
import struct
import sys

import numpy as np

import gguf_files
import model_files
import random_models
import reference

TOLERANCE = random_models.TOLERANCE
ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3",
                 "smollm3": "smollm3", "gemma2": "gemma2", "gemma3_text": "gemma3",
                 "gpt2": "gpt2", "phi": "phi2", "phi3": "phi3"}
TYPES = ["F32", "F16", "BF16", *gguf_files.PACKINGS]
NAMES = {
    "embed_tokens": "token_embd", "wte": "token_embd", "wpe": "position_embd",
    "norm": "output_norm", "ln_f": "output_norm", "final_layernorm": "output_norm",
    "lm_head": "output", "input_layernorm": "attn_norm", "ln_1": "attn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.qkv_proj": "attn_qkv", "attn.c_attn": "attn_qkv",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "self_attn.o_proj": "attn_output", "self_attn.dense": "attn_output",
    "attn.c_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "ln_2": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.fc1": "ffn_up",
    "mlp.c_fc": "ffn_up", "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "mlp.fc2": "ffn_down", "mlp.c_proj": "ffn_down",
}
GEMMA_NAMES = {"post_attention_layernorm": "post_attention_norm",
               "pre_feedforward_layernorm": "ffn_norm",
               "post_feedforward_layernorm": "post_ffw_norm"}


def gguf_name(family, name):
    """The name of an array in GGUF files."""
    name = name.removeprefix("model.").removeprefix("transformer.")
    part, end = name.rsplit(".", 1)
    names = {**NAMES, **GEMMA_NAMES} if family.startswith("gemma") else NAMES
    if part.startswith(("layers.", "h.")):
        _, layer, part = part.split(".", 2)
        return f"blk.{layer}.{names[part]}.{end}"
    return f"{names[part]}.{end}"


def moved(rows, heads, back=False):
    """The rows of each head from halves to neighbours, or back."""
    order = (heads, -1, 2) if back else (heads, 2, -1)
    return rows.reshape(*order, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def convert(config, name, array, back=False):
    """An array as GGUF files have it, or as folders have it."""
    family = config["model_type"]
    heads, kv_heads = (0, 0) if family == "gpt2" else reference.widths(config)[:2]
    if family in ("llama", "mistral", "smollm3") and "self_attn.q_proj" in name:
        return moved(array, heads, back)
    if family in ("llama", "mistral", "smollm3") and "self_attn.k_proj" in name:
        return moved(array, kv_heads, back)
    if family.startswith("gemma") and name.endswith("norm.weight"):
        return array - 1 if back else array + 1
    if family == "gpt2" and array.ndim == 2 and ".c_" in name:
        return np.ascontiguousarray(array.T)
    return array


# --- Configurations that GGUF files can describe ------------------------------

class Model:
    """A random model: its config.json, and the shapes of the arrays of its folder.
    `block`: sizes are multiples of it."""

    def __init__(self, seed, family, block):
        self.rng, self.family, self.shapes = random.Random(seed), family, {}
        self.config = {"model_type": family}
        self.seq, self.tied = self.rng.randint(3, 12), self.flag()
        self.biases = family == "qwen2" or (family in ("llama", "qwen3", "smollm3", "gemma2")
                                            and self.flag(0.3))
        self.gpt2(block) if family == "gpt2" else self.draw(block)

    def flag(self, odds=0.5):
        return self.rng.random() < odds

    def gpt2(self, block):
        heads = self.rng.randint(1, 4)
        dim = block if block > 1 else heads * self.rng.randint(2, 8)
        hidden = block if block > 1 else self.rng.choice([None, self.rng.randint(4, 30)])
        self.config.update(n_layer=self.rng.randint(1, 3), n_head=4 if block > 1 else heads,
                           n_embd=dim, n_inner=hidden, vocab_size=self.rng.randint(5, 60),
                           n_positions=self.rng.randint(12, 40), layer_norm_epsilon=1e-5,
                           activation_function="gelu_new", tie_word_embeddings=self.tied)
        c, hidden = self.config, hidden or 4 * dim
        self.shapes = {"wte.weight": (c["vocab_size"], dim), "wpe.weight": (c["n_positions"], dim)}
        if not self.tied:
            self.shapes["lm_head.weight"] = (c["vocab_size"], dim)
        self.norm("ln_f", dim, True)
        for layer in range(c["n_layer"]):
            at = f"h.{layer}."
            self.norm(at + "ln_1", dim, True)
            self.norm(at + "ln_2", dim, True)
            for name, inputs, outputs in (("attn.c_attn", dim, 3 * dim), ("attn.c_proj", dim, dim),
                                          ("mlp.c_fc", dim, hidden), ("mlp.c_proj", hidden, dim)):
                self.shapes[f"{at}{name}.weight"] = (inputs, outputs)
                self.shapes[f"{at}{name}.bias"] = (outputs,)

    def norm(self, name, size, bias=False):
        self.shapes[name + ".weight"] = (size,)
        if bias:
            self.shapes[name + ".bias"] = (size,)

    def matrix(self, name, outputs, inputs, bias=False):
        self.shapes[name + ".weight"] = (outputs, inputs)
        if bias:
            self.shapes[name + ".bias"] = (outputs,)

    def draw(self, block):
        rng, c, family = self.rng, self.config, self.family
        kv, width = rng.randint(1, 3), 2 * rng.randint(2, 6)
        heads = kv * rng.randint(1, 3)
        if block > 1:
            kv, heads = rng.choice([1, 2, 4]), 4
            width = block // heads
        if family == "phi":
            kv = heads
        dim = heads * width
        if block == 1 and self.flag() and family not in ("phi", "phi3"):
            dim = 2 * rng.randint(3, 20)
        hidden = block * rng.randint(1, 2) if block > 1 else rng.randint(4, 40)
        c.update(hidden_size=dim, intermediate_size=hidden, num_attention_heads=heads,
                 num_key_value_heads=kv, vocab_size=rng.randint(5, 60),
                 num_hidden_layers=rng.randint(1, 2 if block > 1 else 7),
                 max_position_embeddings=rng.randint(8, 40), tie_word_embeddings=self.tied)
        if family not in ("phi", "phi3"):
            c["head_dim"] = width
        c["layer_norm_eps" if family == "phi" else "rms_norm_eps"] = rng.choice([1e-5, 1e-6])
        c["hidden_act"] = "gelu_new" if family == "phi" else "silu"
        if family in ("mistral", "phi3"):
            c["sliding_window"] = rng.choice([None, rng.randint(1, 12)])
        if family == "mistral" and c["sliding_window"] is None:
            c["model_type"] = self.family = "llama"
        if family.startswith("gemma"):
            c.update(hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=width,
                     sliding_window=rng.randint(1, 8))
            if family == "gemma2":
                c.update(attn_logit_softcapping=rng.choice([50.0, 5.0]),
                         final_logit_softcapping=rng.choice([30.0, 3.0]))
            else:
                c["rope_local_base_freq"] = rng.choice([10000.0, 99.0])
        if family in ("llama", "mistral", "qwen3", "smollm3", "gemma2", "gemma3_text"):
            c["attention_bias"] = self.biases
        if family in ("llama", "smollm3") and self.flag(0.3):
            c["mlp_bias"] = True
        self.rope(width)
        self.arrays(heads * width, kv * width, width)

    def rope(self, width):
        rng, c = self.rng, self.config
        c["rope_theta"] = rng.choice([10000.0, 500000.0, 1000000.0, 123.5])
        channels = width
        if self.family in ("phi", "phi3"):
            channels = 2 * rng.randint(1, width // 2)
            # As parts of the width, whose product is the number again.
            c["partial_rotary_factor"] = (channels + 0.25) / width if channels < width else 1.0
        kinds = {"llama": ["linear", "llama3", "yarn", "known"], "mistral": ["linear", "yarn"],
                 "gemma3_text": ["linear"], "phi3": ["longrope"], "gemma2": [], "phi": []}
        kind = rng.choice([None, *kinds.get(self.family, ["linear", "yarn"])])
        scaling = {"rope_type": kind, "factor": rng.choice([2.0, 4.0, 8.0, 1.5])}
        if kind in ("llama3", "known"):
            scaling.update(rope_type="llama3", low_freq_factor=1.0, high_freq_factor=4.0,
                           original_max_position_embeddings=8192 if kind == "known"
                           else rng.randint(4, 60))
        elif kind == "yarn":
            scaling["original_max_position_embeddings"] = rng.randint(4, 400)
            if self.flag(0.3):
                scaling.update(beta_fast=16.0, beta_slow=2.0)
        elif kind == "longrope":
            c["original_max_position_embeddings"] = rng.randint(2, c["max_position_embeddings"])
            scaling = {"rope_type": kind,
                       **{key: [float(np.float32(1 + most * rng.random()))
                                for _ in range(channels // 2)]
                          for key, most in (("short_factor", 1), ("long_factor", 5))}}
        if kind:
            c["rope_scaling"] = scaling

    def arrays(self, queries, keys, width):
        c, family = self.config, self.family
        dim, hidden, is_phi = c["hidden_size"], c["intermediate_size"], family == "phi"
        self.shapes["model.embed_tokens.weight"] = (c["vocab_size"], dim)
        if not self.tied:
            self.matrix("lm_head", c["vocab_size"], dim)
        if is_phi:
            self.shapes["lm_head.bias"] = (c["vocab_size"],)
        self.norm("model.final_layernorm" if is_phi else "model.norm", dim, is_phi)
        norms = ["input_layernorm"]
        if not is_phi:
            norms.append("post_attention_layernorm")
        if family.startswith("gemma"):
            norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
        for layer in range(c["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            for name in norms:
                self.norm(at + name, dim, is_phi)
            if family in ("qwen3", "gemma3_text"):
                self.norm(at + "self_attn.q_norm", width)
                self.norm(at + "self_attn.k_norm", width)
            bias = self.biases or is_phi
            if family == "phi3":
                self.matrix(at + "self_attn.qkv_proj", queries + 2 * keys, dim)
                self.matrix(at + "mlp.gate_up_proj", 2 * hidden, dim)
            else:
                for letter, rows in (("q", queries), ("k", keys), ("v", keys)):
                    self.matrix(f"{at}self_attn.{letter}_proj", rows, dim, bias)
            out_bias = bias and family != "qwen2"
            self.matrix(at + ("self_attn.dense" if is_phi else "self_attn.o_proj"), dim, queries,
                        out_bias)
            if is_phi:
                self.matrix(at + "mlp.fc1", hidden, dim, True)
                self.matrix(at + "mlp.fc2", dim, hidden, True)
                continue
            if family != "phi3":
                self.matrix(at + "mlp.gate_proj", hidden, dim, c.get("mlp_bias"))
                self.matrix(at + "mlp.up_proj", hidden, dim, c.get("mlp_bias"))
            self.matrix(at + "mlp.down_proj", dim, hidden, c.get("mlp_bias"))

    def values(self, seed):
        rng = np.random.default_rng(seed)
        return {name: random_models.elements(rng, name, shape)
                for name, shape in self.shapes.items()}


# --- Metadata -----------------------------------------------------------------

def metadata_of(rng, c):
    """What the converter writes, and what it sometimes writes."""
    family = c["model_type"]
    arch = ARCHITECTURES[family]
    m = {"general.architecture": arch, "general.type": "model", "general.name": "A model",
         "general.file_type": 1, "general.quantization_version": 2,
         "tokenizer.ggml.model": rng.choice(["gpt2", "llama"]),
         "tokenizer.ggml.pre": rng.choice(["gpt-2", "llama-bpe", "qwen2", "smollm"]),
         "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "a", "b", "ab"],
         "tokenizer.ggml.scores": [0.0, 0.0, 0.0, -2.0, -3.0, -1.0],
         "tokenizer.ggml.token_type": [2, 3, 3, 1, 1, 1], "tokenizer.ggml.merges": ["a b"],
         "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
         "tokenizer.ggml.add_bos_token": True, "general.tags": ["x", "y"],
         "general.nested": (gguf_files.ARRAY, (gguf_files.ARRAY, [
             (gguf_files.UINT8, [1, 2]), (gguf_files.STRING, ["z"])]))}

    def put(key, content):
        m[f"{arch}.{key}"] = content

    if family == "gpt2":
        put("context_length", c["n_positions"])
        put("embedding_length", c["n_embd"])
        put("feed_forward_length", c.get("n_inner") or 4 * c["n_embd"])
        put("block_count", c["n_layer"])
        put("attention.head_count", c["n_head"])
        put("attention.layer_norm_epsilon", c["layer_norm_epsilon"])
        return m
    heads, kv_heads, width = reference.widths(c)
    put("context_length", c["max_position_embeddings"])
    put("embedding_length", c["hidden_size"])
    put("feed_forward_length", (rng.choice([gguf_files.UINT32, gguf_files.INT32,
                                            gguf_files.UINT64]), c["intermediate_size"]))
    put("block_count", c["num_hidden_layers"])
    put("attention.head_count", heads)
    if kv_heads != heads or rng.random() < 0.7:
        put("attention.head_count_kv",
            kv_heads if rng.random() < 0.7 else [kv_heads] * c["num_hidden_layers"])
    if family == "phi":
        put("attention.layer_norm_epsilon", c["layer_norm_eps"])
    else:
        put("attention.layer_norm_rms_epsilon", c["rms_norm_eps"])
    if width * heads != c["hidden_size"] or rng.random() < 0.5:
        put("attention.key_length", width)
        put("attention.value_length", width)
    if rng.random() < 0.5:
        put("vocab_size", c["vocab_size"])
    if rng.random() < 0.3:
        put("expert_count", 0)
    if rng.random() < 0.3:
        put("attention.causal", True)
    theta = float(c.get("rope_theta", 10000.0))
    if theta != 10000 or rng.random() < 0.5:
        put("rope.freq_base", theta)
    part = c.get("partial_rotary_factor", 0.5 if family == "phi" else 1.0)
    if part != 1 or rng.random() < 0.5:
        put("rope.dimension_count", int(width * part))
    if family == "phi3":
        put("attention.sliding_window", c["sliding_window"] or 0)
        put("rope.scaling.original_context_length",
            c.get("original_max_position_embeddings", c["max_position_embeddings"]))
    elif c.get("sliding_window"):
        put("attention.sliding_window", c["sliding_window"])
    for key, name in (("attn_logit_softcapping", "attn_logit_softcapping"),
                      ("final_logit_softcapping", "final_logit_softcapping")):
        if c.get(key):
            put(name, c[key])
    if family.startswith("gemma"):
        layers = c["num_hidden_layers"]
        period = rng.choice([None, 1, 2, 3])
        if period and rng.random() < 0.5:
            put("attention.sliding_window_pattern", period)
        elif period:
            put("attention.sliding_window_pattern",
                (gguf_files.ARRAY, (gguf_files.BOOL, [layer % period < period - 1
                                                      for layer in range(layers)])))
        if period:
            c["layer_types"] = ["sliding_attention" if layer % period < period - 1
                                else "full_attention" for layer in range(layers)]
    if c.get("rope_local_base_freq", 10000) != 10000:
        put("rope.freq_base_swa", c["rope_local_base_freq"])
    scaling_metadata(rng, c, put)
    return m


def scaling_metadata(rng, c, put):
    scaling = c.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "linear":
        if rng.random() < 0.5:
            put("rope.scale_linear", scaling["factor"])
            return
        put("rope.scaling.type", "linear")
        put("rope.scaling.factor", scaling["factor"])
    elif kind == "yarn":
        put("rope.scaling.type", "yarn")
        put("rope.scaling.factor", scaling["factor"])
        put("rope.scaling.original_context_length",
            scaling["original_max_position_embeddings"])
        if "beta_fast" in scaling:
            put("rope.scaling.yarn_beta_fast", scaling["beta_fast"])
            put("rope.scaling.yarn_beta_slow", scaling["beta_slow"])
    elif kind in ("longrope", "su"):
        ratio = c["max_position_embeddings"] / c["original_max_position_embeddings"]
        factor = math.sqrt(1 + math.log(ratio) / math.log(c["original_max_position_embeddings"]))
        put("rope.scaling.attn_factor", factor if ratio > 1 else 1.0)
    elif rng.random() < 0.2:
        put("rope.scaling.type", "none")


def factor_arrays(c):
    """Arrays of factors that the file has for its rotary embedding."""
    scaling = c.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type"))
    if kind == "llama3":
        n = reference.widths(c)[2]
        inverse = c.get("rope_theta", 10000.0) ** (-np.arange(0, n, 2) / n)
        return {"rope_freqs.weight": inverse / reference.llama3_frequencies(inverse, scaling)}
    if kind in ("longrope", "su"):
        return {"rope_factors_long.weight": np.array(scaling["long_factor"]),
                "rope_factors_short.weight": np.array(scaling["short_factor"])}
    return {}


# --- Writing and running ------------------------------------------------------

def write_gguf(seed, model, kind, path):
    """Writes a model. Returns the values that its arrays stand for, as folders have them."""
    rng, np_rng = random.Random(seed + 7), np.random.default_rng(seed + 7)
    config, arrays, values = model.config, {}, {}
    metadata = metadata_of(rng, config)
    if rng.random() < 0.3:
        items = list(metadata.items())
        rng.shuffle(items)
        metadata = dict(items)
    alignment = rng.choice([32, 32, 64, 8])
    if alignment != 32:
        metadata["general.alignment"] = alignment
    for name, array in model.values(seed).items():
        other = gguf_name(model.family, name)
        theirs = convert(config, name, array)
        # Vectors are not packed. Real files mix types.
        own = kind if theirs.ndim > 1 and rng.random() < 0.9 else "F32"
        if theirs.ndim == 1 and own not in gguf_files.PACKINGS and rng.random() < 0.5:
            own = "F32"
        code, raw, stored = gguf_files.pack(np_rng, theirs, own)
        arrays[other] = (code, raw, theirs.shape)
        values[name] = convert(config, name, stored, back=True)
    for name, array in factor_arrays(config).items():
        arrays[name] = (0, array.astype("<f4").tobytes(), array.shape)
    if rng.random() < 0.3:
        arrays = dict(sorted(arrays.items()))
    gguf_files.write_gguf(path, metadata, arrays, version=rng.choice([2, 3]),
                          alignment=alignment)
    return values


def write_llama2c(seed, path, version):
    """A checkpoint of llama2.c. Returns what folders would have."""
    rng, np_rng = random.Random(seed), np.random.default_rng(seed)
    heads = rng.randint(1, 4)
    kv = rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    dim, group = heads * 2 * rng.randint(2, 6), 0
    if version == 2:
        group = rng.choice([n for n in range(1, dim + 1) if dim % n == 0])
    c = {"model_type": "llama", "hidden_size": dim, "intermediate_size": rng.randint(4, 40),
         "num_hidden_layers": rng.randint(1, 4), "num_attention_heads": heads,
         "num_key_value_heads": kv, "vocab_size": rng.randint(5, 60), "hidden_act": "silu",
         "max_position_embeddings": rng.randint(12, 20), "rms_norm_eps": 1e-5,
         "tie_word_embeddings": rng.random() < 0.5}
    hidden, layers, vocab, tied = (c["intermediate_size"], c["num_hidden_layers"],
                                   c["vocab_size"], c["tie_word_embeddings"])
    at = "model.layers.{}."
    norms = [at + "input_layernorm.weight", at + "post_attention_layernorm.weight"]
    shapes = {at + "self_attn.q_proj.weight": (dim, dim),
              at + "self_attn.k_proj.weight": (dim // heads * kv, dim),
              at + "self_attn.v_proj.weight": (dim // heads * kv, dim),
              at + "self_attn.o_proj.weight": (dim, dim),
              at + "mlp.gate_proj.weight": (hidden, dim), at + "mlp.down_proj.weight": (dim, hidden),
              at + "mlp.up_proj.weight": (hidden, dim)}
    matrices, values = list(shapes), {}

    def pieces(name):
        """The bytes of the arrays of a name; their values go to `values`."""
        shape = shapes.get(name, (dim,) if "norm" in name else (vocab, dim))
        data = b""
        for full in [name.format(i) for i in range(layers)] if "{}" in name else [name]:
            array = random_models.elements(np_rng, full, shape).astype("<f4")
            if group and array.ndim == 2:
                flat = array.reshape(-1, group)
                scale = np.abs(flat).max(1) / np.float32(127)
                numbers = np.rint(flat / scale[:, None]).astype(np.int8)
                data += numbers.tobytes() + scale.astype("<f4").tobytes()
                array = (numbers.astype(np.float32) * scale[:, None]).reshape(shape)
            else:
                data += array.tobytes()
            # Neighbours in the file, halves in folders.
            if "q_proj" in full or "k_proj" in full:
                array = moved(array, heads if "q_proj" in full else kv, back=True)
            values[full] = array.astype(np.float64)
        return data

    embedding, last = "model.embed_tokens.weight", "model.norm.weight"
    sizes = (dim, hidden, layers, heads, kv, vocab if version or tied else -vocab,
             c["max_position_embeddings"])
    if version == 0:
        order = [embedding, norms[0], *matrices[:4], norms[1], *matrices[4:], last]
        data = struct.pack("<7i", *sizes) + b"".join(pieces(name) for name in order)
        if not tied or rng.random() < 0.5:
            data += bytes(c["max_position_embeddings"] * (dim // heads) * 4)
    else:
        order = [*norms, last, embedding, *matrices]
        head = struct.pack("<Ii7iB", 0x616b3432, version, *sizes, tied)
        if version == 2:
            head += struct.pack("<i", group)
        data = head.ljust(256, b"\0") + b"".join(pieces(name) for name in order)
    if not tied:
        data += pieces("lm_head.weight")
    with open(path, "wb") as file:
        file.write(data)
    return c, values


def compare(seed, family, kind, work):
    """The difference from the reference, as a part of the largest logit."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if family == "llama2c":
        source, seq = f"{work}/model.bin", 7
        config, values = write_llama2c(seed, source, seed % 3)
    else:
        block = gguf_files.PACKINGS[kind].elements if kind in gguf_files.PACKINGS else 1
        model = Model(seed, family, block)
        source, seq, config = f"{work}/model.gguf", model.seq, model.config
        values = write_gguf(seed, model, kind, source)
    vocab = config["vocab_size"]
    tokens = np.random.default_rng(seed + 1).integers(0, vocab, seq).astype(np.int32)
    wanted = reference.logits(config, values, tokens)
    got = random_models.logits_of(work, source, "m", tokens, vocab)
    error = np.abs(got - wanted).max() / np.abs(wanted).max()
    if error < TOLERANCE and kind in ("F32", "F64"):
        # The same model as a folder; what is moved is added up in another order.
        exact = config["model_type"] in ("qwen2", "qwen3", "phi", "phi3")
        model_files.write_model(f"{work}/folder", config, values,
                                {name: "float32" for name in values})
        same = random_models.logits_of(work, f"{work}/folder", "f", tokens, vocab)
        if (np.any(same != got) if exact else
                np.abs(same - got).max() > 1e-5 * np.abs(wanted).max()):
            return float("inf")
    return error if np.isfinite(error) else float("inf")


def write_all(folder, count):
    """Writes models of every family, and checkpoints of every version."""
    for seed in range(count):
        families = list(ARCHITECTURES)
        if seed < len(families):
            model = Model(seed, families[seed], 1)
            write_gguf(seed, model, TYPES[seed % 3], f"{folder}/{families[seed]}.gguf")
        else:
            write_llama2c(seed, f"{folder}/model-{seed}.bin", seed % 3)


def main():
    families = [*ARCHITECTURES, "llama2c"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--only", type=int)
    parser.add_argument("--family", choices=families)
    parser.add_argument("--type", choices=TYPES)
    parser.add_argument("--write-only", action="store_true")
    parser.add_argument("work")
    args = parser.parse_args()
    if args.write_only:
        write_all(args.work, args.models)
        return
    worst, failures = 0, 0
    seeds = [args.only] if args.only else range(args.seed, args.seed + args.models)
    for seed in seeds:
        family = args.family or families[seed % len(families)]
        kind = args.type or TYPES[seed % len(TYPES)]
        try:
            error = compare(seed, family, kind, f"{args.work}/{seed}")
        except RuntimeError as wrong:
            print(f"{family} {kind} {seed}: {wrong}")
            failures += 1
            continue
        worst = max(worst, error)
        if error > TOLERANCE:
            print(f"{family} {kind} {seed}: the logits are off by {error:.2e} of the largest")
            failures += 1
        elif not args.only:
            shutil.rmtree(f"{args.work}/{seed}")
    print(f"{len(seeds)} models, {failures} differ, worst {worst:.1e}")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
