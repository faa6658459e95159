//===- RopeScaling.cpp - how rotary embedding is scaled -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/RopeScaling.h"
#include "anec/Package/ModelFacts.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

using namespace anec;
using namespace llvm;

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

RopeScaling RopeScaling::of(const Op &rope) {
  RopeScaling scaling;
  scaling.kind = rope.get(param::scaling);
  scaling.factor = rope.get(param::factor);
  scaling.originalPositions = rope.get(param::originalPositions);
  scaling.slowTurns = rope.get(param::slowTurns);
  scaling.fastTurns = rope.get(param::fastTurns);
  scaling.magnitude = rope.get(param::magnitude);
  if (const Constant *factors = rope.constant(param::shortFactors))
    scaling.shortFactors = factors->asDoubles();
  if (const Constant *factors = rope.constant(param::longFactors))
    scaling.longFactors = factors->asDoubles();
  return scaling;
}

//===----------------------------------------------------------------------===//
// config.json
//===----------------------------------------------------------------------===//

namespace {

/// Reads one object; `wrong` keeps the first error.
class Reader {
public:
  Reader(const json::Object &scaling, const json::Object &config,
         int64_t original)
      : scaling(scaling), config(config), defaultOriginal(original) {}

  std::string wrong;

  std::optional<RopeScaling> read();

private:
  void fail(const Twine &text) {
    if (wrong.empty())
      wrong = text.str();
  }
  /// A positive number, or `fallback` where it is absent or null.
  double number(StringRef key, std::optional<double> fallback);
  std::vector<double> numbers(StringRef key);
  int64_t original(const RopeScaling &read);
  double yarnMagnitude(double factor);
  double longMagnitude(double original);
  void checkKeys(StringRef kind);
  void readNumbers(RopeScaling &read);
  void readYarn(RopeScaling &read);
  void writeFactors(RopeScaling &yarn);

  const json::Object &scaling, &config;
  int64_t defaultOriginal;
};

} // namespace

static bool isGiven(const json::Object &object, StringRef key) {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null;
}

double Reader::number(StringRef key, std::optional<double> fallback) {
  if (!isGiven(scaling, key)) {
    if (!fallback)
      fail("its rotary embedding's scaling has no `" + key + "`");
    return fallback.value_or(1);
  }
  std::optional<double> value = scaling.getNumber(key);
  if (value && *value > 0 && float(*value) > 0 && std::isfinite(float(*value)))
    return *value;
  fail("`" + key +
       "` of its rotary embedding's scaling is not a positive number");
  return 1;
}

std::vector<double> Reader::numbers(StringRef key) {
  std::vector<double> list;
  const json::Array *array = scaling.getArray(key);
  if (!array)
    fail("its rotary embedding's scaling has no list `" + key + "`");
  else
    for (const json::Value &value : *array) {
      double number = value.getAsNumber().value_or(0);
      if (!(float(number) > 0) || !std::isfinite(float(number)))
        fail("`" + key +
             "` of its rotary embedding's scaling has a value that is not a "
             "positive number");
      list.push_back(number);
    }
  return list;
}

/// The positions that a model was trained for: said in the object, of the
/// model, or all that the model has. `dynamic` scales from the latter.
int64_t Reader::original(const RopeScaling &read) {
  static constexpr StringLiteral key = "original_max_position_embeddings";
  std::optional<int64_t> all = config.getInteger("max_position_embeddings");
  std::optional<int64_t> said = scaling.getInteger(key),
                         ofModel = config.getInteger(key);
  if (said && ofModel && *said != *ofModel)
    fail("`" + key + "` is " + Twine(*said) +
         " in its rotary embedding's scaling and " + Twine(*ofModel) +
         " outside of it");
  if (!said)
    said = ofModel;
  if (!said && defaultOriginal && read.kind == RopeScalingKind::LongRope)
    said = defaultOriginal;
  if (read.kind == RopeScalingKind::Dynamic && said && all && *said != *all)
    fail("`" + key + "` is " + Twine(*said) +
         " and `max_position_embeddings` " + Twine(*all) +
         ", and programs disagree on which one dynamic scaling "
         "begins at");
  int64_t positions = (said ? said : all).value_or(0);
  if (positions < 1 || positions > INT32_MAX)
    fail("it does not say the positions that its rotary embedding's scaling "
         "starts from");
  return positions;
}

double Reader::yarnMagnitude(double factor) {
  if (isGiven(scaling, "attention_factor"))
    return number("attention_factor", std::nullopt);
  auto of = [&](double scale) {
    return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1;
  };
  double one = scaling.getNumber("mscale").value_or(0);
  double all = scaling.getNumber("mscale_all_dim").value_or(0);
  return one != 0 && all != 0 ? of(one) / of(all) : of(1);
}

double Reader::longMagnitude(double original) {
  if (isGiven(scaling, "attention_factor"))
    return number("attention_factor", std::nullopt);
  double all = config.getNumber("max_position_embeddings").value_or(0);
  double factor = number("factor", all / original);
  if (isGiven(scaling, "factor") && factor != all / original)
    fail("`factor` of its rotary embedding's scaling is not "
         "`max_position_embeddings` / `original_max_position_embeddings`, and "
         "programs disagree on which one is the factor");
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
}

/// Yarn whose bounds are not rounded to pairs, as the factors that its angles
/// are divided by.
void Reader::writeFactors(RopeScaling &yarn) {
  static constexpr double turn = 2 * 3.14159265358979323846;
  auto ofEither = [&](StringRef key, double fallback) {
    std::optional<double> own = scaling.getNumber(key);
    return own ? own : config.getNumber(key).value_or(fallback);
  };
  double heads = config.getNumber("num_attention_heads").value_or(1);
  double width = config.getNumber("head_dim")
                     .value_or(std::floor(
                         config.getNumber("hidden_size").value_or(0) / heads));
  double theta = *ofEither("rope_theta", 0);
  auto rotary = int64_t(width * *ofEither("partial_rotary_factor", 1));
  if (rotary < 2 || rotary > 65536 || theta <= 1) {
    fail("`truncate` of its rotary embedding's scaling is false, and there is "
         "no `rope_theta` above 1 or no width of heads");
    return;
  }
  auto pairOf = [&](double turns) {
    return double(rotary) *
           std::log(double(yarn.originalPositions) / (turns * turn)) /
           (2 * std::log(theta));
  };
  double low = std::max(pairOf(yarn.fastTurns), 0.0);
  double high = std::min(pairOf(yarn.slowTurns), double(rotary - 1));
  if (low == high)
    high += 0.001;
  for (int64_t pair = 0; pair < rotary / 2; ++pair) {
    double scaled = std::clamp((double(pair) - low) / (high - low), 0.0, 1.0);
    yarn.longFactors.push_back(1 / (1 - scaled + scaled / yarn.factor));
  }
  yarn.shortFactors = yarn.longFactors;
  yarn.kind = RopeScalingKind::LongRope;
  yarn.factor = 1;
  yarn.slowTurns = RopeScaling().slowTurns;
  yarn.fastTurns = RopeScaling().fastTurns;
}

/// A key that is not known could change the angles.
void Reader::checkKeys(StringRef kind) {
  // `linear` and `default` do not depend on the original positions.
  static constexpr StringLiteral always[] = {
      "type", "rope_type", "rope_theta", "partial_rotary_factor",
      "original_max_position_embeddings"};
  static constexpr std::pair<StringLiteral, StringLiteral> some[] = {
      {"linear", "factor"},           {"dynamic", "factor"},
      {"llama3", "factor"},           {"llama3", "low_freq_factor"},
      {"llama3", "high_freq_factor"}, {"yarn", "factor"},
      {"yarn", "attention_factor"},   {"yarn", "beta_fast"},
      {"yarn", "beta_slow"},          {"yarn", "mscale"},
      {"yarn", "mscale_all_dim"},     {"yarn", "truncate"},
      {"longrope", "factor"},         {"longrope", "attention_factor"},
      {"longrope", "short_factor"},   {"longrope", "long_factor"},
  };
  std::vector<std::string> keys;
  for (const auto &[key, value] : scaling) {
    StringRef name = key;
    bool isKnown = value.kind() == json::Value::Null ||
                   is_contained(always, name) ||
                   any_of(some, [&](const auto &known) {
                     return known.first == kind && known.second == name;
                   });
    // What no scaling does anyway.
    if (name == "factor" && kind == "default" && value.getAsNumber() == 1)
      isKnown = true;
    if (!isKnown)
      keys.push_back(name.str());
  }
  llvm::sort(keys);
  if (!keys.empty())
    fail("`" + keys.front() + "` of its rotary embedding's scaling `" + kind +
         "` is not known");
}

/// The word of a kind in config.json.
static StringRef wordOf(RopeScalingKind kind) {
  return kind == RopeScalingKind::None ? "default" : spelling(kind);
}

static std::optional<RopeScalingKind> kindOfWord(StringRef word) {
  if (word == "su") // the name that Phi-3 began with
    return RopeScalingKind::LongRope;
  if (word == wordOf(RopeScalingKind::None))
    return RopeScalingKind::None;
  std::optional<RopeScalingKind> kind = parseWord<RopeScalingKind>(word);
  return kind == RopeScalingKind::None ? std::nullopt : kind;
}

void Reader::readYarn(RopeScaling &read) {
  double all = config.getNumber("max_position_embeddings").value_or(0);
  read.factor = number("factor", all / double(read.originalPositions));
  read.slowTurns = number("beta_slow", 1);
  read.fastTurns = number("beta_fast", 32);
  read.magnitude = yarnMagnitude(read.factor);
  const json::Value *truncate = scaling.get("truncate");
  if (truncate && truncate->getAsBoolean() == false)
    writeFactors(read);
  else if (truncate && truncate->kind() != json::Value::Null &&
           !truncate->getAsBoolean())
    fail("`truncate` of its rotary embedding's scaling is neither true nor "
         "false");
}

/// Reads the numbers that belong to the kind.
void Reader::readNumbers(RopeScaling &read) {
  // Yarn's has a default.
  if (hasFactor(read.kind) && read.kind != RopeScalingKind::Yarn)
    read.factor = number("factor", std::nullopt);
  if (hasOriginal(read.kind))
    read.originalPositions = original(read);
  switch (read.kind) {
  case RopeScalingKind::None:
  case RopeScalingKind::Linear:
  case RopeScalingKind::Dynamic:
    break;
  case RopeScalingKind::Llama3:
    read.slowTurns = number("low_freq_factor", std::nullopt);
    read.fastTurns = number("high_freq_factor", std::nullopt);
    break;
  case RopeScalingKind::Yarn:
    readYarn(read);
    break;
  case RopeScalingKind::LongRope:
    read.shortFactors = numbers("short_factor");
    read.longFactors = numbers("long_factor");
    read.magnitude = longMagnitude(double(read.originalPositions));
    break;
  }
}

std::optional<RopeScaling> Reader::read() {
  RopeScaling read;
  StringRef word = RopeScaling::kindOf(scaling);
  std::optional<RopeScalingKind> kind = kindOfWord(word);
  checkKeys(kind ? wordOf(*kind) : word);
  if (kind) {
    read.kind = *kind;
    readNumbers(read);
  } else {
    fail("the scaling `" + word +
         "` of its rotary embedding is not known; anec has `default`, "
         "`dynamic`, `linear`, `llama3`, `longrope` and `yarn`");
  }
  if (hasTurns(read.kind) && read.slowTurns >= read.fastTurns)
    fail("the numbers of turns of its rotary embedding's scaling are not in "
         "order");
  if (!(read.factor > 0) || !std::isfinite(read.magnitude))
    fail("its rotary embedding's scaling has no positive factor");
  if (!wrong.empty())
    return std::nullopt;
  return read;
}

StringRef RopeScaling::kindOf(const json::Object &scaling) {
  StringRef kind = "default";
  for (const char *key : {"type", "rope_type"})
    kind = scaling.getString(key).value_or(kind);
  return kind;
}

std::optional<RopeScaling> RopeScaling::read(const json::Object &scaling,
                                             const json::Object &config,
                                             std::string &wrong,
                                             int64_t original) {
  Reader reader(scaling, config, original);
  std::optional<RopeScaling> read = reader.read();
  wrong = reader.wrong;
  return read;
}

//===----------------------------------------------------------------------===//
// The fact
//===----------------------------------------------------------------------===//

static std::string listText(ArrayRef<double> numbers) {
  std::vector<std::string> texts;
  for (double number : numbers)
    texts.push_back(ModelFacts::spell(number));
  return "[" + join(texts, ",") + "]";
}

std::string RopeScaling::text() const {
  // Layers without scaling can share their text with others.
  bool isPlain = kind == RopeScalingKind::None ||
                 (isPlainWithFactor1(kind) && factor == 1);
  if (isPlain && magnitude == 1)
    return "none";
  // Sorted.
  std::vector<std::string> members;
  auto add = [&](StringRef key, const std::string &value) {
    members.push_back(("\"" + key + "\":" + value).str());
  };
  bool isYarn = kind == RopeScalingKind::Yarn;
  bool isLlama3 = kind == RopeScalingKind::Llama3;
  bool isLong = kind == RopeScalingKind::LongRope;
  bool hasMagnitude = isYarn || isLong || magnitude != 1;
  if (hasMagnitude)
    add("attention_factor", ModelFacts::spell(magnitude));
  if (isYarn) {
    add("beta_fast", ModelFacts::spell(fastTurns));
    add("beta_slow", ModelFacts::spell(slowTurns));
  }
  if (hasFactor(kind))
    add("factor", ModelFacts::spell(factor));
  if (isLlama3)
    add("high_freq_factor", ModelFacts::spell(fastTurns));
  if (isLong)
    add("long_factor", listText(longFactors));
  if (isLlama3)
    add("low_freq_factor", ModelFacts::spell(slowTurns));
  if (hasOriginal(kind))
    add("original_max_position_embeddings", std::to_string(originalPositions));
  add("rope_type", "\"" + wordOf(kind).str() + "\"");
  if (isLong)
    add("short_factor", listText(shortFactors));
  return "{" + join(members, ",") + "}";
}
