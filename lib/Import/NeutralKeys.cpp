//===- NeutralKeys.cpp - keys of config.json without effect ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// docs/import.md has the same lists.
///
//===----------------------------------------------------------------------===//

#include "NeutralKeys.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace llvm;

/// Keys whose value does not matter: names, dropout and initialization for
/// training, tokens, options of generation, and how other programs compute.
static constexpr StringLiteral anyValue[] = {
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_name_or_path",
    "architectures",
    "attention_dropout",
    "attn_implementation",
    "attn_pdrop",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "cache_implementation",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "embd_pdrop",
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
    "initializer_range",
    "is_llama_config",
    "keys_to_ignore_at_inference",
    "label2id",
    "length_penalty",
    "max_length",
    "max_window_layers",
    "min_length",
    "model_type",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "remove_invalid_values",
    "reorder_and_upcast_attn",
    "repetition_penalty",
    "resid_pdrop",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
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
};

/// Keys with the one value that says that a part is absent.
static constexpr std::pair<StringLiteral, StringLiteral> oneValue[] = {
    {"add_cross_attention", "false"},
    {"attention_bias", "false"},
    {"chunk_size_feed_forward", "0"},
    {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},
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

bool anec::isNeutral(StringRef key, const json::Value &value) {
  if (is_contained(anyValue, key))
    return true;
  StringRef known = onlyKnownValue(key);
  if (known == "false")
    return value.getAsBoolean() == false;
  if (known == "0")
    return value.getAsInteger() == 0;
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
