//===- TextModel.cpp - the text part of a multimodal model ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextModel.h"
#include "ConfigReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace llvm;

/// Published files, and files of transformers 4.52 and later.
static constexpr StringLiteral published = "language_model.model.",
                               newer = "model.language_model.";

bool anec::hasTextModel(const json::Object &config) {
  return config.getString("model_type") == "gemma3" &&
         config.getObject("text_config");
}

/// Members of Gemma3TextConfig that `text_config` has only where they differ.
static void addDefaults(json::Object &text) {
  static constexpr std::pair<StringLiteral, int64_t> sizes[] = {
      {"vocab_size", 262208},
      {"hidden_size", 2304},
      {"intermediate_size", 9216},
      {"num_hidden_layers", 26},
      {"num_attention_heads", 8},
      {"num_key_value_heads", 4},
      {"max_position_embeddings", 131072}};
  for (const auto &[key, size] : sizes)
    if (!text.get(key))
      text[key] = size;
  text["model_type"] = "gemma3_text";
}

std::optional<json::Object> anec::textConfigOf(const json::Object &config,
                                               StringRef path,
                                               ArrayRef<std::string> ignored,
                                               Diagnostics &diags) {
  ConfigReader reader(config, path, ignored, diags);
  for (StringRef key :
       {"text_config", "vision_config", "boi_token_index", "eoi_token_index",
        "image_token_index", "image_token_id", "boi_token_id", "eoi_token_id",
        "mm_tokens_per_image"})
    reader.accept(key);
  if (!reader.flag("tie_word_embeddings", true))
    reader.refuse("tie_word_embeddings", "true");
  json::Object text = *config.getObject("text_config");
  std::optional<StringRef> type = text.getString("model_type");
  if (type.value_or("gemma3_text") != "gemma3_text")
    reader.fail("`text_config` is of the type \"" + *type + "\"");
  if (!reader.finish())
    return std::nullopt;
  for (const std::string &key : ignored)
    text.erase(key);
  addDefaults(text);
  for (StringRef key : {"torch_dtype", "dtype"})
    if (const json::Value *dtype = config.get(key); dtype && !text.get(key))
      text[key] = *dtype;
  return text;
}

StringRef anec::textPrefix(const ArraySource &arrays) {
  bool isNewer = any_of(
      arrays.names(), [](StringRef array) { return array.starts_with(newer); });
  return isNewer ? newer : published;
}

std::vector<std::string> anec::arraysForImages(const ArraySource &arrays) {
  std::vector<std::string> others;
  for (StringRef name : arrays.names()) {
    StringRef rest = name;
    rest.consume_front("model.");
    if (rest.starts_with("vision_tower.") ||
        rest.starts_with("multi_modal_projector.") ||
        name == "language_model.lm_head.weight")
      others.push_back(name.str());
  }
  return others;
}

std::string anec::nameInTextModel(StringRef array) {
  for (StringRef prefix : {published, newer})
    if (array.consume_front(prefix))
      return "model." + array.str();
  array.consume_front("language_model.");
  return array.str();
}
