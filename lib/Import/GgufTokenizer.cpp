//===- GgufTokenizer.cpp - tokenizers of GGUF files -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Keys, the numbers of types, and defaults are those of llama.cpp's
/// src/llama-vocab.cpp.
///
//===----------------------------------------------------------------------===//

#include "GgufTokenizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace anec;
using namespace llvm;

/// Words of Llama 3; digits in groups of three.
static constexpr StringLiteral llamaRegex =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/// Words of Qwen; digits alone.
static constexpr StringLiteral qwenRegex =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// Words of GPT-4o, which end before an upper-case letter after a lower-case
/// one; digits in groups of three.
static constexpr StringLiteral gpt4oRegex =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/// The same of Mistral's Tekken, without contractions; digits alone.
static constexpr StringLiteral tekkenRegex =
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|"
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+"
    "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static constexpr SplitRule splitRules[] = {
    {"dbrx", llamaRegex, false, false, false, false},
    {"deepseek-r1-qwen", qwenRegex, false, false, false, false},
    {"falcon3", llamaRegex, false, false, true, true},
    {"gpt-2", "", false, false, false, false},
    {"gpt-4o", gpt4oRegex, false, false, false, false},
    {"llama-bpe", llamaRegex, false, false, true, true},
    {"llama3", llamaRegex, false, false, true, true},
    {"phi-2", "", false, false, false, false},
    {"qwen2", qwenRegex, false, true, false, false},
    {"smaug-bpe", llamaRegex, false, false, false, false},
    {"smollm", "", true, false, false, false},
    {"tekken", tekkenRegex, false, false, true, true},
};

namespace {

class GgufTokenizerReader {
public:
  GgufTokenizerReader(const GgufFile &file, GgufTokenizer &tokenizer,
                      std::string &wrong)
      : file(file), tokenizer(tokenizer), wrong(wrong) {}

  bool read();

private:
  bool fail(const Twine &text) {
    wrong = text.str();
    return false;
  }
  const GgufValue *find(StringRef key) {
    return file.find(("tokenizer.ggml." + key).str());
  }
  bool flag(StringRef key, bool fallback) {
    const GgufValue *value = find(key);
    return value ? value->getBool().value_or(fallback) : fallback;
  }
  bool readTokens();
  bool readTypes();
  bool readScores();
  bool readMerges();
  bool readRule();
  bool readMarker(StringRef key, std::optional<int32_t> &id);

  const GgufFile &file;
  GgufTokenizer &tokenizer;
  std::string &wrong;
};

} // namespace

bool GgufTokenizerReader::readTokens() {
  // Ids are below it in tokenizers.
  static constexpr size_t most = 1 << 22;
  const GgufValue *value = find("tokens");
  std::optional<std::vector<StringRef>> texts;
  if (value)
    texts = value->getStrings();
  if (!texts || texts->empty() || texts->size() > most)
    return fail("`tokenizer.ggml.tokens` is not a list of texts");
  for (StringRef text : *texts) {
    if (!json::isUTF8(text))
      return fail("`tokenizer.ggml.tokens` has a text that is not UTF-8");
    tokenizer.tokens.push_back({text});
  }
  return true;
}

bool GgufTokenizerReader::readTypes() {
  enum { unknown = 2, control = 3, userDefined = 4, unused = 5, byte = 6 };
  const GgufValue *value = find("token_type");
  if (!value)
    return true;
  std::optional<std::vector<GgufValue>> types = value->getElements();
  if (!types || types->size() != tokenizer.tokens.size())
    return fail(
        "`tokenizer.ggml.token_type` is not a list with a number for each "
        "token");
  for (auto [token, type] : zip(tokenizer.tokens, *types)) {
    int64_t number = type.getInteger().value_or(0);
    if (number < 1 || number > byte)
      return fail("`tokenizer.ggml.token_type` has " + type.text() +
                  ", which is not a type of a token");
    token.isNormal = number == 1;
    token.isUnused = number == unused;
    token.isSpecial = number == control || number == unknown;
    token.isAdded = token.isSpecial || number == userDefined;
  }
  return true;
}

bool GgufTokenizerReader::readScores() {
  const GgufValue *value = find("scores");
  std::optional<std::vector<GgufValue>> scores;
  if (value)
    scores = value->getElements();
  if (!scores || scores->size() != tokenizer.tokens.size())
    return fail("`tokenizer.ggml.scores` is not a list with a number for each "
                "token");
  for (auto [token, score] : zip(tokenizer.tokens, *scores)) {
    std::optional<double> number = score.getNumber();
    if (!number || std::isnan(*number))
      return fail("`tokenizer.ggml.scores` has a value that is not a number");
    token.score = float(*number);
  }
  return true;
}

/// The pairs that scores stand for: every division of a token into two others,
/// those with the highest score first.
static void mergesFromScores(GgufTokenizer &tokenizer) {
  // Texts of more characters come from damaged files: real ones have 16.
  static constexpr size_t longest = 256;
  StringMap<size_t> ids;
  for (auto [id, token] : enumerate(tokenizer.tokens))
    if (!token.isUnused)
      ids.try_emplace(token.text, id);
  struct Pair {
    float score;
    size_t left, right;
    StringRef leftText, rightText;
  };
  std::vector<Pair> pairs;
  for (const GgufTokenizer::Token &token : tokenizer.tokens) {
    if (!token.isNormal || token.text.size() > longest)
      continue;
    size_t first = pairs.size();
    for (size_t at = 1; at < token.text.size(); ++at) {
      if ((uint8_t(token.text[at]) & 0xC0) == 0x80)
        continue;
      auto left = ids.find(token.text.take_front(at));
      auto right = ids.find(token.text.drop_front(at));
      if (left != ids.end() && right != ids.end())
        pairs.push_back({token.score, left->second, right->second,
                         token.text.take_front(at), token.text.drop_front(at)});
    }
    std::stable_sort(pairs.begin() + ptrdiff_t(first), pairs.end(),
                     [](const Pair &lhs, const Pair &rhs) {
                       return std::tie(lhs.left, lhs.right) <
                              std::tie(rhs.left, rhs.right);
                     });
  }
  std::stable_sort(
      pairs.begin(), pairs.end(),
      [](const Pair &lhs, const Pair &rhs) { return lhs.score > rhs.score; });
  for (const Pair &pair : pairs)
    tokenizer.merges.emplace_back(pair.leftText, pair.rightText);
}

bool GgufTokenizerReader::readMerges() {
  const GgufValue *value = find("merges");
  std::optional<std::vector<StringRef>> texts;
  if (value)
    texts = value->getStrings();
  if (!texts)
    return fail("`tokenizer.ggml.merges` is not a list of texts");
  for (StringRef text : *texts) {
    auto pair = text.split(' ');
    if (pair.first.empty() || pair.second.empty() || !json::isUTF8(text))
      return fail("`tokenizer.ggml.merges` has a text that is not two parts");
    tokenizer.merges.push_back(pair);
  }
  return true;
}

bool GgufTokenizerReader::readRule() {
  const GgufValue *value = find("pre");
  std::vector<std::string> names;
  for (const SplitRule &rule : splitRules) {
    names.push_back("`" + rule.name.str() + "`");
    if (value && value->getString() == rule.name)
      tokenizer.rule = &rule;
  }
  if (tokenizer.rule)
    return true;
  return fail("`tokenizer.ggml.pre` is " + (value ? value->text() : "missing") +
              ", and anec writes " + join(names, ", "));
}

bool GgufTokenizerReader::readMarker(StringRef key,
                                     std::optional<int32_t> &id) {
  const GgufValue *value = find(key);
  if (!value)
    return true;
  std::optional<int64_t> number = value->getInteger();
  if (!number || *number < 0 || *number >= int64_t(tokenizer.tokens.size()))
    return fail("`tokenizer.ggml." + key + "` is " + value->text() +
                ", which is not a token");
  id = int32_t(*number);
  return true;
}

bool GgufTokenizerReader::read() {
  const GgufValue *model = find("model");
  StringRef kind = model ? model->getString().value_or("") : "";
  if (kind != "gpt2" && kind != "llama")
    return fail("`tokenizer.ggml.model` is " +
                (model ? model->text() : "missing") +
                ", and anec writes `gpt2` and `llama`");
  tokenizer.hasScores = kind == "llama";
  if (find("precompiled_charsmap"))
    return fail("`tokenizer.ggml.precompiled_charsmap` is not known");
  if (!readTokens() || !readTypes() ||
      !(tokenizer.hasScores ? readScores() : readMerges() && readRule()))
    return false;
  if (tokenizer.hasScores) {
    mergesFromScores(tokenizer);
    tokenizer.beginning = 1;
    tokenizer.end = 2;
    tokenizer.unknown = 0;
    if (tokenizer.tokens.size() < 3)
      return fail("`tokenizer.ggml.tokens` has fewer than 3 texts");
  }
  std::optional<int32_t> turn, message;
  if (!readMarker("bos_token_id", tokenizer.beginning) ||
      !readMarker("eos_token_id", tokenizer.end) ||
      !readMarker("unknown_token_id", tokenizer.unknown) ||
      !readMarker("eot_token_id", turn) || !readMarker("eom_token_id", message))
    return false;
  for (std::optional<int32_t> id : {tokenizer.end, turn, message})
    if (id && !is_contained(tokenizer.otherEnds, *id))
      tokenizer.otherEnds.push_back(*id);
  bool addsByDefault =
      tokenizer.hasScores || (tokenizer.rule && tokenizer.rule->addsBeginning);
  tokenizer.addsBeginning =
      tokenizer.beginning && flag("add_bos_token", addsByDefault);
  tokenizer.addsEnd = tokenizer.end && flag("add_eos_token", false);
  tokenizer.addsSpace = tokenizer.hasScores && flag("add_space_prefix", true);
  if (const GgufValue *chat = file.find("tokenizer.chat_template"))
    tokenizer.chatTemplate = chat->getString();
  if (tokenizer.chatTemplate && !json::isUTF8(*tokenizer.chatTemplate))
    return fail("`tokenizer.chat_template` is not UTF-8");
  return true;
}

std::optional<GgufTokenizer> GgufTokenizer::read(const GgufFile &file,
                                                 std::string &wrong) {
  GgufTokenizer tokenizer;
  if (!GgufTokenizerReader(file, tokenizer, wrong).read())
    return std::nullopt;
  return tokenizer;
}
