"""Models that transformers saves, as GGUF files: written with the package gguf, with the
names that it maps, and moved as llama.cpp's converter moves them."""
import numpy

ARCHITECTURES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3",
                 "smollm3": "smollm3", "gemma2": "gemma2", "gemma3_text": "gemma3",
                 "gpt2": "gpt2", "phi": "phi2", "phi3": "phi3"}


def moved(rows, heads):
    """The rows of each head from halves to neighbours."""
    return rows.reshape(heads, 2, -1, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def converted(config, name, array):
    family = config["model_type"]
    if family in ("llama", "mistral", "smollm3"):
        if ".q_proj." in name:
            return moved(array, config["num_attention_heads"])
        if ".k_proj." in name:
            return moved(array, config["num_key_value_heads"])
    if family.startswith("gemma") and name.endswith("norm.weight"):
        return array + 1
    if family == "gpt2" and ".c_" in name and array.ndim == 2:
        return array.T
    return array


def metadata(writer, config, ends):
    """`ends`: the token that ends a text."""
    c = {"num_hidden_layers": config.get("n_layer"), "hidden_size": config.get("n_embd"),
         "num_attention_heads": config.get("n_head"),
         "max_position_embeddings": config.get("n_positions")} | config
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_context_length(c["max_position_embeddings"])
    writer.add_embedding_length(c["hidden_size"])
    writer.add_feed_forward_length(c.get("intermediate_size") or 4 * c["hidden_size"])
    writer.add_head_count(c["num_attention_heads"])
    if "num_key_value_heads" in c:
        writer.add_head_count_kv(c["num_key_value_heads"])
    width = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    if c.get("head_dim"):
        writer.add_key_length(width)
        writer.add_value_length(width)
    if "rms_norm_eps" in c:
        writer.add_layer_norm_rms_eps(c["rms_norm_eps"])
    else:
        writer.add_layer_norm_eps(c.get("layer_norm_eps", c.get("layer_norm_epsilon")))
    rope = c.get("rope_parameters") or {}
    local = rope.get("sliding_attention", {}).get("rope_theta")
    rope = rope.get("full_attention", rope)
    if rope:
        writer.add_rope_freq_base(rope["rope_theta"])
        writer.add_rope_dimension_count(int(width * rope.get("partial_rotary_factor", 1)))
    if local:
        writer.add_rope_freq_base_swa(local)
    scaled(writer, rope)
    if c["model_type"].startswith("gemma") or c["model_type"] == "phi3":
        writer.add_sliding_window(c.get("sliding_window") or 0)
    if c["model_type"] == "gemma2":
        writer.add_attn_logit_softcapping(c["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(c["final_logit_softcapping"])
    if c["model_type"] == "phi3":
        writer.add_rope_scaling_orig_ctx_len(c["max_position_embeddings"])
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(3, c["vocab_size"]))]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(words)
    writer.add_token_scores([-float(i) for i in range(len(words))])
    writer.add_token_types([2, 3, 3] + [1] * (len(words) - 3))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(ends)
    writer.add_vocab_size(c["vocab_size"])


def scaled(writer, rope):
    import gguf
    kind = rope.get("rope_type", "default")
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def rope_factors(config):
    """What the angles of Llama 3's scaling are divided by, as in its publication; None of
    other models."""
    import math
    rope = config.get("rope_parameters") or {}
    if rope.get("rope_type") != "llama3":
        return None
    width = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    length = rope["original_max_position_embeddings"]
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    factors = []
    for i in range(0, width, 2):
        wave = 2 * math.pi * rope["rope_theta"] ** (i / width)
        smooth = min(max((length / wave - low) / (high - low), 0), 1)
        factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return numpy.array(factors, dtype=numpy.float32)


def write(path, config, arrays, ends):
    """`arrays`: those of model.safetensors, in fp32. Returns them by their names in the
    file."""
    import gguf
    arch = ARCHITECTURES[config["model_type"]]
    kind = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    layers = config.get("num_hidden_layers", config.get("n_layer"))
    names = gguf.get_tensor_name_map(kind, layers)
    writer = gguf.GGUFWriter(path, arch)
    metadata(writer, config, ends)
    written = {}
    for name, array in arrays.items():
        other = names.get_name(name, try_suffixes=(".weight", ".bias"))
        written[other] = numpy.ascontiguousarray(
            converted(config, name, array).astype(numpy.float32))
    factors = rope_factors(config)
    for name, array in written.items() if factors is None else [
            *written.items(), ("rope_freqs.weight", factors)]:
        writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return written
