//===- GgufTokenizerJson.cpp - tokenizers of GGUF files, written ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GgufTokenizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;
using namespace llvm;

/// SentencePiece's space.
static constexpr StringLiteral spacePiece = "\xE2\x96\x81";

static json::Object byteLevel(bool splits) {
  return json::Object{{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", true},
                      {"use_regex", splits}};
}

static json::Object replace(StringRef from, StringRef to) {
  return json::Object{{"type", "Replace"},
                      {"pattern", json::Object{{"String", from.str()}}},
                      {"content", to.str()}};
}

static json::Value normalizerOf(const GgufTokenizer &tokenizer) {
  if (!tokenizer.hasScores)
    return tokenizer.rule->normalizes
               ? json::Value(json::Object{{"type", "NFC"}})
               : json::Value(nullptr);
  json::Array steps;
  if (tokenizer.addsSpace)
    steps.push_back(json::Object{{"type", "Prepend"}, {"prepend", spacePiece}});
  steps.push_back(replace(" ", spacePiece));
  return json::Object{{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

static json::Value splitterOf(const GgufTokenizer &tokenizer) {
  if (tokenizer.hasScores)
    return nullptr;
  json::Array steps;
  const SplitRule &rule = *tokenizer.rule;
  if (rule.splitsDigits)
    steps.push_back(
        json::Object{{"type", "Digits"}, {"individual_digits", true}});
  if (!rule.regex.empty())
    steps.push_back(
        json::Object{{"type", "Split"},
                     {"pattern", json::Object{{"Regex", rule.regex}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  steps.push_back(byteLevel(rule.regex.empty()));
  return json::Object{{"type", "Sequence"},
                      {"pretokenizers", std::move(steps)}};
}

static json::Value decoderOf(const GgufTokenizer &tokenizer) {
  if (!tokenizer.hasScores)
    return byteLevel(true);
  json::Array steps;
  steps.push_back(replace(spacePiece, " "));
  steps.push_back(json::Object{{"type", "ByteFallback"}});
  steps.push_back(json::Object{{"type", "Fuse"}});
  if (tokenizer.addsSpace)
    steps.push_back(json::Object{
        {"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  return json::Object{{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

/// What is put around a text.
static json::Value markersOf(const GgufTokenizer &tokenizer) {
  json::Array single;
  json::Object special;
  auto add = [&](int32_t id) {
    std::string text = tokenizer.tokens[size_t(id)].text.str();
    single.push_back(json::Object{
        {"SpecialToken", json::Object{{"id", text}, {"type_id", 0}}}});
    special[text] = json::Object{
        {"id", text}, {"ids", json::Array{id}}, {"tokens", json::Array{text}}};
  };
  if (tokenizer.addsBeginning)
    add(*tokenizer.beginning);
  single.push_back(
      json::Object{{"Sequence", json::Object{{"id", "A"}, {"type_id", 0}}}});
  if (tokenizer.addsEnd)
    add(*tokenizer.end);
  if (special.empty())
    return nullptr;
  return json::Object{{"type", "TemplateProcessing"},
                      {"single", std::move(single)},
                      {"pair", json::Array{}},
                      {"special_tokens", std::move(special)}};
}

static void writeAdded(const GgufTokenizer &tokenizer, json::OStream &json) {
  for (auto [id, token] : enumerate(tokenizer.tokens))
    if (token.isAdded)
      json.object([&, id = id, &token = token] {
        json.attribute("id", int64_t(id));
        json.attribute("content", token.text);
        for (StringRef key : {"single_word", "lstrip", "rstrip", "normalized"})
          json.attribute(key, false);
        json.attribute("special", token.isSpecial);
      });
}

static void writeModel(const GgufTokenizer &tokenizer, json::OStream &json) {
  bool hasBytes = any_of(tokenizer.tokens, [](const auto &token) {
    return token.text == "<0x00>";
  });
  json.attribute("type", "BPE");
  json.attribute("dropout", nullptr);
  if (tokenizer.hasScores && tokenizer.unknown)
    json.attribute("unk_token",
                   tokenizer.tokens[size_t(*tokenizer.unknown)].text);
  json.attribute("fuse_unk", tokenizer.hasScores);
  json.attribute("byte_fallback", tokenizer.hasScores && hasBytes);
  json.attribute("ignore_merges",
                 tokenizer.rule && tokenizer.rule->prefersWholeWords);
  json.attributeObject("vocab", [&] {
    StringSet<> known;
    for (auto [id, token] : enumerate(tokenizer.tokens))
      if (!token.isUnused && known.insert(token.text).second)
        json.attribute(token.text, int64_t(id));
  });
  json.attributeArray("merges", [&] {
    for (const auto &[left, right] : tokenizer.merges)
      json.value(json::Array{left, right});
  });
}

void anec::writeTokenizer(const GgufTokenizer &tokenizer, raw_ostream &out) {
  json::OStream json(out, 1);
  json.object([&] {
    json.attribute("version", "1.0");
    json.attribute("truncation", nullptr);
    json.attribute("padding", nullptr);
    json.attributeArray("added_tokens", [&] { writeAdded(tokenizer, json); });
    json.attribute("normalizer", normalizerOf(tokenizer));
    json.attribute("pre_tokenizer", splitterOf(tokenizer));
    json.attribute("post_processor", markersOf(tokenizer));
    json.attribute("decoder", decoderOf(tokenizer));
    json.attributeObject("model", [&] { writeModel(tokenizer, json); });
  });
  out << '\n';
}

void anec::writeTokenizerConfig(const GgufTokenizer &tokenizer,
                                raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    for (auto [key, id] : {std::pair("bos_token", tokenizer.beginning),
                           std::pair("eos_token", tokenizer.end)})
      if (id)
        json.attribute(key, tokenizer.tokens[size_t(*id)].text);
      else
        json.attribute(key, nullptr);
    if (tokenizer.chatTemplate)
      json.attribute("chat_template", *tokenizer.chatTemplate);
  });
  out << '\n';
}

void anec::writeGenerationConfig(const GgufTokenizer &tokenizer,
                                 raw_ostream &out) {
  json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("eos_token_id", [&] {
      for (int32_t id : tokenizer.otherEnds)
        json.value(id);
    });
  });
  out << '\n';
}
