//===- NeutralKeys.cpp - keys of config.json without effect ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// docs/use/import.md has the same lists.
///
//===----------------------------------------------------------------------===//

#include "NeutralKeys.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace llvm;

/// Keys whose value does not matter: names, dropout and initialization for
/// training, tokens, options of generation, and how other programs compute.
static constexpr StringLiteral anyValue[] = {
    "architectures",
    "attention_dropout",
    "attn_implementation",
    "attn_pdrop",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "cache_implementation",
    "classifier_dropout",
    "cross_attention_hidden_size",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "embd_pdrop",
    "embedding_dropout",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "hidden_dropout",
    "hidden_dropout_prob",
    "id2label",
    "ignore_keys_at_rope_validation",
    "initializer_range",
    "is_llama_config",
    "keys_to_ignore_at_inference",
    "label2id",
    "length_penalty",
    "max_length",
    "max_new_tokens",
    "max_sequence_length",
    "max_window_layers",
    "min_length",
    "model_max_length",
    "model_type",
    "n_special",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "predict_special_tokens",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "reorder_and_upcast_attn",
    "repetition_penalty",
    "resid_pdrop",
    "residual_dropout",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers.js_config",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
    "use_flash_attention",
    "use_flash_attention_2",
    "use_flash_attn",
    "vocab_file",
};

/// Keys with the one value that says that a part is absent.
static constexpr std::pair<StringLiteral, StringLiteral> oneValue[] = {
    {"add_cross_attention", "false"},
    {"attention_bias", "false"},
    {"chunk_size_feed_forward", "0"},
    {"full_attn_mod", "1"},
    {"interpolate_factor", "1"},
    {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},
    {"lm_head_bias", "false"},
    {"mlp_bias", "false"},
    {"pruned_heads", "{}"},
    {"qk_layernorm", "false"},
    {"rope_interleaved", "false"},
    {"tie_encoder_decoder", "false"},
    {"use_bidirectional_attention", "false"},
    {"use_mrope", "false"},
    {"use_qk_norm", "false"},
    {"use_sliding_window", "false"},
};

/// A list that gives all layers full attention, which they have anyway.
static bool isAllFull(const json::Value &types) {
  const json::Array *array = types.getAsArray();
  return array && all_of(*array, [](const json::Value &type) {
           return type.getAsString() == "full_attention";
         });
}

bool anec::isNeutral(StringRef key, const json::Value &value) {
  // Attributes that transformers keeps for itself: `_num_labels`.
  if (key.starts_with("_") || is_contained(anyValue, key))
    return true;
  if (key == "layer_types")
    return isAllFull(value);
  StringRef known = onlyKnownValue(key);
  if (known == "false")
    return value.getAsBoolean() == false;
  if (known == "0" || known == "1")
    return value.getAsInteger() == (known == "1");
  if (known == "{}")
    return value.getAsObject() && value.getAsObject()->empty();
  return false;
}

StringRef anec::onlyKnownValue(StringRef key) {
  for (const auto &[name, value] : oneValue)
    if (name == key)
      return value;
  return "";
}
