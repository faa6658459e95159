"""The models that `anec import` reads, in numpy and double precision, written
from transformers' definitions (modeling_llama.py and so on): positions lead,
[positions, channels], and matrices are applied as `x @ w.T`. Shares nothing with
anec."""
import math

import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "silu": silu, "swish": silu, "gelu": gelu, "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh, "relu": lambda x: np.maximum(x, 0),
    "quick_gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
}


def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def layer_norm(x, weight, bias, eps):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + eps) * weight + bias


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# --- Rotary embedding ---------------------------------------------------------

def yarn_frequencies(inverse, n, theta, p, original):
    factor = p["factor"]
    fast, slow = p.get("beta_fast") or 32, p.get("beta_slow") or 1

    def dimension(turns):
        return n * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))

    low = max(math.floor(dimension(fast)), 0)
    high = min(math.ceil(dimension(slow)), n - 1)
    if low == high:
        high += 0.001
    ramp = np.clip((np.arange(n // 2) - low) / (high - low), 0, 1)
    mask = 1 - ramp
    frequencies = inverse / factor * (1 - mask) + inverse * mask
    magnitude = p.get("attention_factor")
    if magnitude is None:
        def scale(m=1):
            return 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1
        if p.get("mscale") and p.get("mscale_all_dim"):
            magnitude = scale(p["mscale"]) / scale(p["mscale_all_dim"])
        else:
            magnitude = scale()
    return frequencies, magnitude


def llama3_frequencies(inverse, p):
    old = p["original_max_position_embeddings"]
    result = []
    for f in inverse:
        wavelength = 2 * math.pi / f
        if wavelength < old / p["high_freq_factor"]:
            result.append(f)
        elif wavelength > old / p["low_freq_factor"]:
            result.append(f / p["factor"])
        else:
            smooth = ((old / wavelength - p["low_freq_factor"])
                      / (p["high_freq_factor"] - p["low_freq_factor"]))
            result.append((1 - smooth) * f / p["factor"] + smooth * f)
    return np.array(result)


def frequencies(config, n, theta, p, seq):
    """Radians per position, and the factor of cosines and sines."""
    inverse = theta ** (-np.arange(0, n, 2) / n)
    kind = p.get("rope_type", p.get("type", "default")) if p else "default"
    longest = config.get("max_position_embeddings")
    original = (p or {}).get("original_max_position_embeddings") or config.get(
        "original_max_position_embeddings") or longest
    if kind == "linear":
        return inverse / p["factor"], 1
    if kind == "dynamic":
        length = max(seq, longest)
        base = theta * ((p["factor"] * length / longest) - (p["factor"] - 1)) ** (n / (n - 2))
        return base ** (-np.arange(0, n, 2) / n), 1
    if kind == "llama3":
        return llama3_frequencies(inverse, p), 1
    if kind == "yarn":
        return yarn_frequencies(inverse, n, theta, p, original)
    if kind in ("longrope", "su"):
        factors = p["long_factor"] if seq > original else p["short_factor"]
        magnitude = p.get("attention_factor")
        if magnitude is None:
            factor = longest / original
            magnitude = 1 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
        return inverse / np.array(factors), magnitude
    assert kind == "default", kind
    return inverse, 1


def rope_settings(config, layer_type):
    """theta, the scaling's object, the part of the channels that is rotated."""
    newer = config.get("rope_parameters")
    if newer:
        newer = newer.get(layer_type, newer)
        return newer.get("rope_theta", 10000.0), newer, newer.get("partial_rotary_factor", 1.0)
    default = 0.5 if config["model_type"] == "phi" else 1.0
    theta = config.get("rope_theta", 10000.0)
    return theta, config.get("rope_scaling"), config.get("partial_rotary_factor", default)


def rotate(x, config, layer_type="full_attention", local_theta=None):
    """x: [heads, positions, width]"""
    theta, scaling, part = rope_settings(config, layer_type)
    if local_theta is not None:
        theta, scaling = local_theta, None
    seq, n = x.shape[1], int(x.shape[2] * part)
    step, magnitude = frequencies(config, n, theta, scaling, seq)
    angles = np.arange(seq)[:, None] * step[None, :]
    angles = np.concatenate([angles, angles], axis=-1)
    cos, sin = np.cos(angles) * magnitude, np.sin(angles) * magnitude
    turned, rest = x[..., :n], x[..., n:]
    half = np.concatenate([-turned[..., n // 2:], turned[..., :n // 2]], axis=-1)
    return np.concatenate([turned * cos + half * sin, rest], axis=-1)


# --- Attention ----------------------------------------------------------------

def heads_of(x, count):
    return x.reshape(x.shape[0], count, -1).transpose(1, 0, 2)


def attend(q, k, v, scale, window=None, cap=None):
    group = q.shape[0] // k.shape[0]
    k, v = np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)
    scores = q @ k.transpose(0, 2, 1) * scale
    if cap:
        scores = np.tanh(scores / cap) * cap
    i, j = np.arange(q.shape[1])[:, None], np.arange(q.shape[1])[None, :]
    seen = j <= i
    if window:
        seen &= j > i - window
    mixed = softmax(np.where(seen, scores, -np.inf)) @ v
    return mixed.transpose(1, 0, 2).reshape(q.shape[1], -1)


class Arrays:
    """The arrays of a model; `linear` applies one that can have a bias."""

    def __init__(self, arrays, prefix=""):
        self.arrays, self.prefix = arrays, prefix

    def __getitem__(self, name):
        return self.arrays[self.prefix + name]

    def under(self, prefix):
        return Arrays(self.arrays, self.prefix + prefix)

    def linear(self, x, name):
        y = x @ self[name + ".weight"].T
        bias = self.prefix + name + ".bias"
        return y + self.arrays[bias] if bias in self.arrays else y


# --- Families -----------------------------------------------------------------

def widths(config):
    heads = config["num_attention_heads"]
    return (heads, config.get("num_key_value_heads") or heads,
            config.get("head_dim") or config["hidden_size"] // heads)


def window_of(config, layer):
    kind = config["model_type"]
    if kind in ("mistral", "phi3"):
        return config.get("sliding_window")
    if not config.get("use_sliding_window"):
        return None
    types = config.get("layer_types")
    if kind == "smollm3":
        windowed = (types[layer] == "sliding_attention" if types
                    else not rotates(config, layer))
    else:
        windowed = (types[layer] == "sliding_attention" if types
                    else layer >= config["max_window_layers"])
    return config["sliding_window"] if windowed else None


def rotates(config, layer):
    if config["model_type"] != "smollm3":
        return True
    layers = config.get("no_rope_layers")
    if layers is None:
        return (layer + 1) % config.get("no_rope_layer_interval", 4) != 0
    return bool(layers[layer])


def llama(config, a, tokens):
    heads, kv_heads, width = widths(config)
    eps, act = config["rms_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    x = a["embed_tokens.weight"][tokens]
    for layer in range(config["num_hidden_layers"]):
        w = a.under(f"layers.{layer}.")
        h = rms_norm(x, w["input_layernorm.weight"], eps)
        if config["model_type"] == "phi3":
            qkv = w.linear(h, "self_attn.qkv_proj")
            q, k, v = np.split(qkv, [heads * width, (heads + kv_heads) * width], axis=1)
        else:
            q, k, v = (w.linear(h, f"self_attn.{p}_proj") for p in "qkv")
        q, k, v = heads_of(q, heads), heads_of(k, kv_heads), heads_of(v, kv_heads)
        if config["model_type"] == "qwen3":
            q = rms_norm(q, w["self_attn.q_norm.weight"], eps)
            k = rms_norm(k, w["self_attn.k_norm.weight"], eps)
        if rotates(config, layer):
            q, k = rotate(q, config), rotate(k, config)
        mixed = attend(q, k, v, width**-0.5, window_of(config, layer))
        x = x + w.linear(mixed, "self_attn.o_proj")
        h = rms_norm(x, w["post_attention_layernorm.weight"], eps)
        if config["model_type"] == "phi3":
            gate, up = np.split(w.linear(h, "mlp.gate_up_proj"), 2, axis=1)
        else:
            gate, up = w.linear(h, "mlp.gate_proj"), w.linear(h, "mlp.up_proj")
        x = x + w.linear(act(gate) * up, "mlp.down_proj")
    return rms_norm(x, a["norm.weight"], eps)


def gemma(config, a, tokens):
    heads, kv_heads, width = widths(config)
    eps, act = config["rms_norm_eps"], ACTIVATIONS[config["hidden_activation"]]
    third = config["model_type"] == "gemma3_text"

    def norm(x, weight):
        return rms_norm(x, 1 + weight, eps)

    x = a["embed_tokens.weight"][tokens] * config["hidden_size"] ** 0.5
    for layer in range(config["num_hidden_layers"]):
        w = a.under(f"layers.{layer}.")
        types = config.get("layer_types")
        if types:
            near = types[layer] == "sliding_attention"
        elif third:
            near = (layer + 1) % config.get("sliding_window_pattern", 6) != 0
        else:
            near = (layer + 1) % 2 != 0
        h = norm(x, w["input_layernorm.weight"])
        q = heads_of(w.linear(h, "self_attn.q_proj"), heads)
        k = heads_of(w.linear(h, "self_attn.k_proj"), kv_heads)
        v = heads_of(w.linear(h, "self_attn.v_proj"), kv_heads)
        if third:
            q = norm(q, w["self_attn.q_norm.weight"])
            k = norm(k, w["self_attn.k_norm.weight"])
        local, layer_type = None, "full_attention"
        if third and near:
            layer_type = "sliding_attention"
            if not config.get("rope_parameters"):
                local = config["rope_local_base_freq"]
        q, k = (rotate(part, config, layer_type, local) for part in (q, k))
        mixed = attend(q, k, v, config["query_pre_attn_scalar"] ** -0.5,
                       config["sliding_window"] if near else None,
                       config.get("attn_logit_softcapping"))
        x = x + norm(w.linear(mixed, "self_attn.o_proj"), w["post_attention_layernorm.weight"])
        h = norm(x, w["pre_feedforward_layernorm.weight"])
        fed = w.linear(act(w.linear(h, "mlp.gate_proj")) * w.linear(h, "mlp.up_proj"),
                       "mlp.down_proj")
        x = x + norm(fed, w["post_feedforward_layernorm.weight"])
    return norm(x, a["norm.weight"])


def gpt2(config, a, tokens):
    heads, dim = config["n_head"], config["n_embd"]
    eps, act = config["layer_norm_epsilon"], ACTIVATIONS[config["activation_function"]]

    def conv1d(x, w, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = a["wte.weight"][tokens] + a["wpe.weight"][: len(tokens)]
    for layer in range(config["n_layer"]):
        w = a.under(f"h.{layer}.")
        h = layer_norm(x, w["ln_1.weight"], w["ln_1.bias"], eps)
        q, k, v = (heads_of(part, heads)
                   for part in np.split(conv1d(h, w, "attn.c_attn"), 3, axis=1))
        scale = (dim // heads) ** -0.5 if config.get("scale_attn_weights", True) else 1
        x = x + conv1d(attend(q, k, v, scale), w, "attn.c_proj")
        h = layer_norm(x, w["ln_2.weight"], w["ln_2.bias"], eps)
        x = x + conv1d(act(conv1d(h, w, "mlp.c_fc")), w, "mlp.c_proj")
    return layer_norm(x, a["ln_f.weight"], a["ln_f.bias"], eps)


def phi(config, a, tokens):
    heads, kv_heads, width = widths(config)
    eps, act = config["layer_norm_eps"], ACTIVATIONS[config["hidden_act"]]
    x = a["embed_tokens.weight"][tokens]
    for layer in range(config["num_hidden_layers"]):
        w = a.under(f"layers.{layer}.")
        h = layer_norm(x, w["input_layernorm.weight"], w["input_layernorm.bias"], eps)
        q = rotate(heads_of(w.linear(h, "self_attn.q_proj"), heads), config)
        k = rotate(heads_of(w.linear(h, "self_attn.k_proj"), kv_heads), config)
        v = heads_of(w.linear(h, "self_attn.v_proj"), kv_heads)
        mixed = w.linear(attend(q, k, v, width**-0.5), "self_attn.dense")
        fed = w.linear(act(w.linear(h, "mlp.fc1")), "mlp.fc2")
        x = x + mixed + fed
    return layer_norm(x, a["final_layernorm.weight"], a["final_layernorm.bias"], eps)


def logits(config, arrays, tokens):
    """[positions, vocab]"""
    kind = config["model_type"]
    arrays = {name: array.astype(np.float64) for name, array in arrays.items()}
    prefix = "transformer." if kind == "gpt2" else "model."
    embedding = "wte.weight" if kind == "gpt2" else "embed_tokens.weight"
    if embedding in arrays:
        prefix = ""
    a = Arrays(arrays, prefix)
    family = {"gpt2": gpt2, "phi": phi, "gemma2": gemma, "gemma3_text": gemma}.get(kind, llama)
    hidden = family(config, a, tokens)
    tied_by_default = kind in ("gpt2", "gemma2", "gemma3_text", "smollm3")
    if config.get("tie_word_embeddings", tied_by_default):
        result = hidden @ a[embedding].T
        if "lm_head.bias" in arrays:
            result = result + arrays["lm_head.bias"]
    else:
        result = Arrays(arrays).linear(hidden, "lm_head")
    cap = config.get("final_logit_softcapping")
    return np.tanh(result / cap) * cap if cap else result
