"""The models of languages.py: for each family the config of a tiny one, and what its
variants have otherwise."""
import copy
import json

SIZES = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 3,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128,
         "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": None}
GEMMA = SIZES | {"head_dim": 8, "sliding_window": 5, "query_pre_attn_scalar": 24}
FAMILIES = {
    "llama": SIZES,
    "mistral": SIZES | {"sliding_window": 6},
    "qwen2": SIZES,
    "qwen3": SIZES | {"head_dim": 12},
    "smollm3": SIZES | {"num_hidden_layers": 4},
    "gemma2": GEMMA | {"hidden_activation": "gelu_pytorch_tanh"},
    "gemma3_text": GEMMA | {"num_hidden_layers": 6},
    "gpt2": {"vocab_size": 96, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 64,
             "bos_token_id": 1, "eos_token_id": 2},
    "phi": SIZES | {"num_key_value_heads": 4, "hidden_size": 48},
    "phi3": SIZES,
}


def rope(kind, theta=10000.0, **rest):
    return {"rope_parameters": {"rope_theta": theta, "rope_type": kind} | rest}


YARN = rope("yarn", factor=4.0, original_max_position_embeddings=16)
LLAMA3 = rope("llama3", 500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=24)


def longrope(pairs, **rest):
    return rope("longrope", short_factor=[1.0 + 0.1 * i for i in range(pairs)],
                long_factor=[2.0 + i for i in range(pairs)], **rest)


def types(text):
    """`layer_types` by a letter for each layer."""
    return {"layer_types": [{"s": "sliding_attention", "f": "full_attention"}[one]
                            for one in text]}


ACTIVATIONS = ("gelu", "gelu_10", "gelu_fast", "gelu_new", "gelu_python", "gelu_pytorch_tanh",
               "gelu_python_tanh", "gelu_accurate", "hardswish", "laplace", "leaky_relu",
               "linear", "mish", "quick_gelu", "relu", "relu2", "relu6", "sigmoid",
               "sqrtsoftplus", "swish", "tanh", "prelu", "xielu")

# What variants have otherwise. A key of None is left out of config.json in the older
# layout; what begins with "file:" is written to config.json after saving.
ROTARY = {
    "linear": rope("linear", factor=2.5),
    "dynamic": rope("dynamic", factor=2.0) | {"max_position_embeddings": 16},
    "llama3": LLAMA3,
    "yarn": YARN,
    "yarn-factor": rope("yarn", factor=4.0, original_max_position_embeddings=16,
                        attention_factor=1.25),
    "yarn-turns": rope("yarn", factor=4.0, original_max_position_embeddings=64,
                       beta_fast=16.0, beta_slow=2.0),
    "yarn-mscale": rope("yarn", factor=8.0, original_max_position_embeddings=32,
                        mscale=0.7, mscale_all_dim=1.2),
    "yarn-truncate": rope("yarn", factor=8.0, original_max_position_embeddings=64,
                          truncate=False),
    "longrope-short": longrope(4, original_max_position_embeddings=64),
    "longrope-long": longrope(4, original_max_position_embeddings=16),
    "longrope-factor": longrope(4, original_max_position_embeddings=64, factor=4.0),
    "proportional": rope("proportional", factor=2.0),
    "theta": rope("default", 123.5),
    "partial": rope("default", partial_rotary_factor=0.5),
    "partial-yarn": rope("yarn", factor=4.0, original_max_position_embeddings=16,
                         partial_rotary_factor=0.5),
    # transformers takes that of the model, not of the scaling.
    "longrope-inside": longrope(4, original_max_position_embeddings=64, factor=2.0),
    "original": YARN | {"original_max_position_embeddings": 48},
}
COMMON = {
    "plain": {},
    "tied": {"tie_word_embeddings": True},
    "heads": {"num_key_value_heads": 4},
    "one-head": {"num_key_value_heads": 1},
    "wide": {"head_dim": 16},
    "epsilon": {"rms_norm_eps": 1e-3},
    "biased": {"attention_bias": True},
    "mlp-bias": {"mlp_bias": True},
    "bf16": {"file:dtype": "bfloat16"},
    "older": {"older": True},
    "older-yarn": YARN | {"older": True},
    "ends": {"eos_token_id": [2, 3], "pad_token_id": 0},
}
WINDOWS = {
    "window": {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1},
    "window-off": {"use_sliding_window": False, "sliding_window": 4, "max_window_layers": 1},
    "window-types": {"use_sliding_window": True, "sliding_window": 4} | types("sfs"),
    "window-types-off": {"use_sliding_window": False, "sliding_window": 4} | types("sfs"),
    "window-null": {"use_sliding_window": True, "sliding_window": None},
}
GEMMAS = {
    "plain": {}, "untied": {"tie_word_embeddings": False}, "biased": {"attention_bias": True},
    "older": {"older": True}, "scalar": {"query_pre_attn_scalar": 100},
    "no-cap": {"final_logit_softcapping": None, "attn_logit_softcapping": None},
    "cap": {"final_logit_softcapping": 3.0, "attn_logit_softcapping": 5.0},
    "relu": {"hidden_activation": "relu"}, "act": {"file:hidden_act": "relu"},
    "both-ways": {"use_bidirectional_attention": True}, "wide": {"head_dim": 12},
}
VARIANTS = {
    "llama": COMMON | ROTARY | {f"act-{name}": {"hidden_act": name} for name in ACTIVATIONS} | {
        "scaling-wins": {"file:rope_scaling": {"rope_type": "linear", "factor": 3.0}},
        "flat-and-theta": {"file:rope_theta": 99.0},
        "window-key": {"file:sliding_window": 4},
        "experts": {"file:num_local_experts": 4},
    },
    "mistral": COMMON | {
        "no-window": {"sliding_window": None}, "yarn": YARN, "types": types("fff"),
        "types-sliding": types("sfs"), "act-gelu": {"hidden_act": "gelu"}},
    "qwen2": COMMON | WINDOWS | {"yarn": YARN, "dynamic": ROTARY["dynamic"]},
    "qwen3": COMMON | WINDOWS | {"yarn": YARN, "partial": ROTARY["partial"]},
    "smollm3": COMMON | {
        "window": {"use_sliding_window": True, "sliding_window": 4},
        "window-types": {"use_sliding_window": True, "sliding_window": 4} | types("sfsf"),
        "window-types-off": {"use_sliding_window": False, "sliding_window": 4} | types("sfsf"),
        "window-off": {"use_sliding_window": False, "sliding_window": 4},
        "types-null": {"sliding_window": None} | types("sfsf"),
        "ropes": {"no_rope_layers": [0, 1, 1, 0]}, "interval": {"no_rope_layer_interval": 2},
        "untied": {"tie_word_embeddings": False}, "yarn": YARN},
    "gemma2": GEMMAS | {"types": types("fsf"), "yarn": YARN, "linear": ROTARY["linear"],
                        "no-window": {"sliding_window": None}},
    "gemma3_text": GEMMAS | {
        "types": types("fsfssf"), "pattern": {"sliding_window_pattern": 3},
        "older-pattern": {"sliding_window_pattern": 2, "older": True},
        "linear": {"rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}},
        "yarn": {"rope_parameters": {
            "full_attention": YARN["rope_parameters"],
            "sliding_attention": {"rope_type": "default", "rope_theta": 99.0}}},
        "yarn-truncate": {"rope_parameters": {
            "full_attention": ROTARY["yarn-truncate"]["rope_parameters"],
            "sliding_attention": {"rope_type": "default", "rope_theta": 99.0}}},
        "llama3": {"rope_parameters": {
            "full_attention": LLAMA3["rope_parameters"],
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}},
        "thetas": {"rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 500.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 99.0}}},
        "flat": {"file:rope_parameters": {"rope_type": "linear", "factor": 8.0,
                                          "rope_theta": 500.0}}},
    "gpt2": {
        "plain": {}, "untied": {"tie_word_embeddings": False}, "inner": {"n_inner": 24},
        "unscaled": {"scale_attn_weights": False},
        "inverse": {"scale_attn_by_inverse_layer_idx": True},
        "inverse-unscaled": {"scale_attn_by_inverse_layer_idx": True,
                             "scale_attn_weights": False},
        "upcast": {"reorder_and_upcast_attn": True}, "relu": {"activation_function": "relu"},
        "cross": {"add_cross_attention": True}, "epsilon": {"layer_norm_epsilon": 1e-3},
        "context": {"file:n_ctx": 32}, "silu": {"activation_function": "silu"},
        "upcast-inverse": {"reorder_and_upcast_attn": True,
                           "scale_attn_by_inverse_layer_idx": True},
        "upcast-unscaled": {"reorder_and_upcast_attn": True, "scale_attn_weights": False},
        "unscaled-one-head": {"scale_attn_weights": False, "n_head": 1},
        "one-head": {"n_head": 1}, "eight-heads": {"n_head": 8},
        "three-heads": {"n_head": 3, "n_embd": 36}, "odd-width": {"n_head": 3, "n_embd": 33},
        "five-heads": {"n_head": 5}, "heads-of-2": {"n_head": 16},
        "one-layer": {"n_layer": 1}, "six-layers": {"n_layer": 6},
        "six-layers-inverse": {"n_layer": 6, "scale_attn_by_inverse_layer_idx": True},
        "vocab-odd": {"vocab_size": 97}, "vocab-large": {"vocab_size": 1031},
        "positions-odd": {"n_positions": 61}, "positions-large": {"n_positions": 500},
        "inner-odd": {"n_inner": 37}, "inner-null": {"n_inner": None}, "inner-one": {"n_inner": 1},
        "inner-wide": {"n_inner": 300}, "epsilon-large": {"layer_norm_epsilon": 0.1},
        "epsilon-small": {"layer_norm_epsilon": 1e-12},
        "dropout": {"resid_pdrop": 0.5, "embd_pdrop": 0.4, "attn_pdrop": 0.3},
        "no-cache": {"use_cache": False}, "initializer": {"initializer_range": 0.5},
        "untied-inner": {"tie_word_embeddings": False, "n_inner": 50, "vocab_size": 101},
        "untied-bf16": {"tie_word_embeddings": False, "file:dtype": "bfloat16"},
        "older-inverse": {"older": True, "scale_attn_by_inverse_layer_idx": True},
        "older-untied": {"older": True, "tie_word_embeddings": False},
        "middle-unscaled": {"middle": True, "scale_attn_weights": False},
        "decoder": {"file:is_decoder": True}, "pruned": {"file:pruned_heads": {"0": [1]}},
        # The keys that published models have besides.
        "published": {"older": True, "file:n_ctx": 64, "file:predict_special_tokens": True,
                      "file:task_specific_params": {
                          "text-generation": {"do_sample": True, "max_length": 50}},
                      "file:summary_type": "cls_index", "file:summary_use_proj": True,
                      "file:summary_activation": None, "file:summary_first_dropout": 0.1,
                      "file:summary_proj_to_labels": True},
        "bare": {"older": True, "file:n_inner": None, "file:activation_function": "gelu_new",
                 "file:scale_attn_weights": True, "file:reorder_and_upcast_attn": False}},
    "phi": {
        "plain": {}, "tied": {"tie_word_embeddings": True}, "older": {"older": True},
        "norms": {"qk_layernorm": True}, "grouped": {"num_key_value_heads": 2},
        "part": rope("default", partial_rotary_factor=0.67),
        "whole": rope("default", partial_rotary_factor=1.0), "epsilon": {"layer_norm_eps": 1e-3},
        "linear": rope("linear", factor=2.0, partial_rotary_factor=0.5),
        "yarn": rope("yarn", factor=4.0, original_max_position_embeddings=16,
                     partial_rotary_factor=0.5),
        "relu2": {"hidden_act": "relu2"},
        "grouped-norms": {"num_key_value_heads": 1, "qk_layernorm": True},
        "norms-whole": {"qk_layernorm": True} | rope("default", partial_rotary_factor=1.0),
        "tied-grouped": {"tie_word_embeddings": True, "num_key_value_heads": 2}},
    "phi3": {
        "plain": {}, "tied": {"tie_word_embeddings": True}, "older": {"older": True},
        "window": {"sliding_window": 4}, "part": rope("default", partial_rotary_factor=0.5),
        "longrope": longrope(4) | {"original_max_position_embeddings": 64},
        "longrope-long": longrope(4) | {"original_max_position_embeddings": 16},
        "longrope-default": longrope(4) | {"max_position_embeddings": 8192},
        "longrope-part": longrope(2, partial_rotary_factor=0.5)
        | {"original_max_position_embeddings": 64},
        "su": {"older": True, "original_max_position_embeddings": 64,
               "file:rope_scaling": {"type": "su", "short_factor": [1.0, 1.1, 1.2, 1.3],
                                     "long_factor": [2.0, 3.0, 4.0, 5.0]}},
        "yarn": YARN, "gelu": {"hidden_act": "gelu"}},
}
ACTIVATION_KEYS = {"gemma2": "hidden_activation", "gemma3_text": "hidden_activation",
                   "gpt2": "activation_function"}


def rotary_of(family, variant):
    """A variant of ROTARY as `family` has it."""
    made = copy.deepcopy(ROTARY[variant])
    given = made["rope_parameters"]
    if family == "phi":  # Rotates half of the channels.
        given.setdefault("partial_rotary_factor", 0.5)
        for key in ("short_factor", "long_factor"):
            if key in given:
                given[key] = given[key][:3]
    if family == "qwen3":
        for key in ("short_factor", "long_factor"):
            if key in given:
                given[key] += [3.0, 4.0]
    if family == "gemma3_text":
        made["rope_parameters"] = {
            "full_attention": given,
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    return made


def add_common(family, variants):
    """What all families have: activations, rotary embeddings, and the layouts of older
    versions; what is there already stays."""
    key = ACTIVATION_KEYS.get(family, "hidden_act")
    for name in ACTIVATIONS:
        variants.setdefault(f"act-{name}", {key: name})
    variants.setdefault("tied", {"tie_word_embeddings": True})
    variants.setdefault("untied", {"tie_word_embeddings": False})
    variants.setdefault("bf16", {"file:dtype": "bfloat16"})
    variants.setdefault("ends", {"eos_token_id": [2, 3], "pad_token_id": 0})
    for name in ROTARY if family != "gpt2" else ():
        variants.setdefault(f"rope-{name}", rotary_of(family, name))
    for layout in ("older", "middle"):
        variants.setdefault(layout, {layout: True})
        variants.setdefault(f"{layout}-bf16", {layout: True, "file:dtype": "bfloat16"}
                            if layout == "middle" else
                            {layout: True, "file:torch_dtype": "bfloat16"})
        for name in ("linear", "yarn", "llama3", "theta", "dynamic") if family != "gpt2" else ():
            variants.setdefault(f"{layout}-{name}", rotary_of(family, name) | {layout: True})


IS_VERSION_4 = False  # Whether this process has transformers 4: see _older.py.
for _family, _variants in VARIANTS.items():
    add_common(_family, _variants)
MODELS = [(family, variant) for family, variants in VARIANTS.items() for variant in variants]


# transformers 5 does not find the original positions beside `su`.
ONLY_VERSION_4 = {("phi3", "su")}


def has_version_4(family, variant):
    """Whether transformers 4 has the values of a variant, in a layout that is not only another
    name of its own."""
    return not {"middle", "file:rope_parameters"} & VARIANTS[family][variant].keys()


def config_of(family, variant, is_version_4=False):
    config = copy.deepcopy(FAMILIES[family] | VARIANTS[family][variant])
    return of_version_4(family, config) if is_version_4 or IS_VERSION_4 else config


def older_layout(config):
    """config.json as versions before 5 wrote it, with what they leave to defaults."""
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    config.pop("layer_types", None)
    parameters = config.pop("rope_parameters", None) or {}
    if "full_attention" in parameters:
        config["rope_local_base_freq"] = parameters["sliding_attention"]["rope_theta"]
        parameters = parameters["full_attention"]
    for key in ("rope_theta", "partial_rotary_factor"):
        if key in parameters:
            config[key] = parameters.pop(key)
    kind = parameters.get("rope_type", "default")
    config["rope_scaling"] = None if kind == "default" else parameters
    config["transformers_version"] = "4.44.0"
    return config


def middle_layout(config):
    """config.json as 4.57 wrote it: scaled rotary embedding beside its theta."""
    types, dtype = config.get("layer_types"), config.get("dtype")
    config = older_layout(config)
    config.pop("torch_dtype", None)
    config |= {key: value for key, value in (("layer_types", types), ("dtype", dtype)) if value}
    config["transformers_version"] = "4.57.1"
    return config


def of_version_4(family, config):
    """The values that the classes of transformers 4 take."""
    config = middle_layout(config)
    del config["transformers_version"]
    if family == "phi3" and config["rope_scaling"]:  # It takes these three keys alone.
        given = config["rope_scaling"]
        given["type"] = given.pop("rope_type")
        key = "original_max_position_embeddings"
        if key in given:
            config.setdefault(key, given.pop(key))
    if family == "mistral":  # Rotary embedding takes the default, null, for the width.
        config.setdefault("head_dim", config["hidden_size"] // config["num_attention_heads"])
    return config


def draw(model):
    """Weights as large as those of trained models, so that every part counts."""
    import torch
    torch.manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or ".ln_" in name:
                parameter.normal_(0.7, 0.3)
            elif parameter.ndim == 1:
                parameter.normal_(0, 0.3)
            elif "embed" in name or name.endswith(("wte.weight", "wpe.weight")):
                parameter.normal_(0, 1)
            else:
                parameter.normal_(0, 1.5 * parameter.shape[-1] ** -0.5)


def logits_of(model, tokens):
    import torch
    with torch.no_grad():
        given = torch.tensor(tokens[None].astype("int64"))
        return model.eval()(given, use_cache=False).logits[0].float().numpy()


def fill(family, variant, length, count, folder):
    """Saves the model with what it gives; where transformers refuses the values, only
    config.json, in `refused`."""
    import numpy
    import torch
    import transformers
    torch.set_num_threads(1)
    config = config_of(family, variant)
    layout = (older_layout if config.pop("older", False) else
              middle_layout if config.pop("middle", False) else dict)
    after = {key[5:]: config.pop(key) for key in list(config) if key.startswith("file:")}
    saved = folder / "model"
    tokens = numpy.random.default_rng(3).integers(4, config["vocab_size"], length)
    tokens = tokens.astype(numpy.int32)
    try:
        described = transformers.AutoConfig.for_model(family, **config)
        model = transformers.AutoModelForCausalLM.from_config(
            described, attn_implementation="eager")
        draw(model)
        if "bfloat16" in (after.get("dtype"), after.get("torch_dtype")):
            model = model.to(torch.bfloat16)
        model.save_pretrained(saved)
        file = saved / "config.json"
        written = json.loads(file.read_text())
        written = layout(written) | after
        file.write_text(json.dumps(written, indent=2))
        model = transformers.AutoModelForCausalLM.from_pretrained(
            saved, attn_implementation="eager", dtype=torch.float32)
        logits = logits_of(model, tokens)
    except Exception as error:  # Whatever transformers raises.
        (folder / "refused").mkdir()
        kept = saved / "config.json"
        text = kept.read_text() if kept.exists() else json.dumps(
            config | after | {"model_type": family})
        (folder / "refused" / "config.json").write_text(text)
        (folder / "reason.txt").write_text(f"{type(error).__name__}: {error}")
        kept.unlink(missing_ok=True)
        return
    text, margins = list(tokens), []
    for _ in range(count):
        last = logits_of(model, numpy.array(text, dtype=numpy.int32))[-1]
        best = numpy.sort(last)[-2:]
        margins.append((best[1] - best[0]) / numpy.abs(last).max())
        text.append(int(last.argmax()))
    numpy.save(folder / "tokens.npy", tokens)
    numpy.save(folder / "logits.npy", logits)
    numpy.save(folder / "greedy.npy", numpy.array(text[length:]))
    numpy.save(folder / "margins.npy", numpy.array(margins))
