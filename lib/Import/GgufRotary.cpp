//===- GgufRotary.cpp - rotary embedding in GGUF files --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Scaling is in keys, as for linear and yarn, or in an array of a factor for
/// each pair: one, which the scaling of Llama 3 was computed into, or two for
/// short and for long texts.
///
//===----------------------------------------------------------------------===//

#include "GgufRotary.h"
#include <cmath>

using namespace anec;
using namespace llvm;

static constexpr StringLiteral onlyFactors = "rope_freqs.weight",
                               longFactors = "rope_factors_long.weight",
                               shortFactors = "rope_factors_short.weight";

namespace {

class RotaryWriter {
public:
  RotaryWriter(const RotarySource &source, GgufConfig &config)
      : source(source), config(config) {}

  void write();

private:
  double number(StringRef key, double fallback) {
    const GgufValue *value = source.find(key);
    return value ? value->getNumber().value_or(fallback) : fallback;
  }
  /// Leaves `key` to be refused if its number is another than `only`.
  void accept(StringRef key, double only) {
    const GgufValue *value = source.find(key);
    if (value && value->getNumber() != only)
      source.leave(key);
  }
  void set(StringRef name, StringRef key, json::Value value) {
    config.object[name] = std::move(value);
    config.names.emplace(name.str(), (source.architecture + "." + key).str());
  }
  /// The numbers of an array that is a part of the configuration.
  json::Array factors(StringRef array, std::vector<double> &numbers);
  void writeChannels();
  void writeTheta();
  json::Object scaling();
  json::Object scalingOfKeys(StringRef kind);
  json::Object scalingOfFactors();

  const RotarySource &source;
  GgufConfig &config;
  double theta = 10000;
};

} // namespace

json::Array RotaryWriter::factors(StringRef array,
                                  std::vector<double> &numbers) {
  config.arrays.push_back(array.str());
  static constexpr int64_t most = 1 << 16;
  json::Array list;
  const StoredArray *stored = source.arrays.find(array);
  if (stored && isFloat(stored->type().dtype) &&
      stored->type().numElements() <= most)
    for (double number : stored->get()->asDoubles())
      numbers.push_back(decimalOf(float(number)));
  for (double number : numbers)
    // What no number stands for is refused as a factor.
    list.push_back(std::isfinite(number) ? number : 0);
  return list;
}

void RotaryWriter::writeChannels() {
  static constexpr StringLiteral key = "rope.dimension_count";
  const GgufValue *value = source.find(key);
  double part = 1;
  if (value) {
    int64_t channels = value->getInteger().value_or(0);
    // Half a channel more, so that rounding takes none away.
    if (channels != source.width)
      part = source.width > 0 ? (double(channels) + 0.5) / double(source.width)
                              : 0.5;
    // None at all, rather than a fraction of one.
    if (channels < 1)
      part = 1e-9;
  }
  set("partial_rotary_factor", key, part);
}

void RotaryWriter::writeTheta() {
  static constexpr StringLiteral key = "rope.freq_base",
                                 local = "rope.freq_base_swa";
  const GgufValue *value = source.find(key);
  set("rope_theta", key, value ? jsonOf(*value) : json::Value(10000));
  theta = number(key, 10000);
  const GgufValue *near = source.find(local);
  if (source.architecture == "gemma3")
    set("rope_local_base_freq", local,
        near ? jsonOf(*near) : json::Value(10000));
  else if (near && near->getNumber() != theta)
    source.leave(local);
}

/// The scaling of Llama 3.1 and later, if `factors` come from it: the files
/// keep its results alone.
static std::optional<json::Object> llama3Scaling(ArrayRef<double> factors,
                                                 double theta) {
  static constexpr double pi = 3.14159265358979323846;
  constexpr double slow = 1, fast = 4, original = 8192, tolerance = 1e-5;
  double factor = 0;
  for (double number : factors)
    factor = std::max(factor, number);
  for (auto [index, number] : enumerate(factors)) {
    double turn = std::pow(theta, -double(index) / double(factors.size()));
    double turns = original * turn / (2 * pi), expected;
    if (turns > fast) {
      expected = 1;
    } else if (turns < slow) {
      expected = factor;
    } else {
      double smooth = (turns - slow) / (fast - slow);
      expected = 1 / ((1 - smooth) / factor + smooth);
    }
    if (!(std::abs(number / expected - 1) < tolerance))
      return std::nullopt;
  }
  return json::Object{{"rope_type", "llama3"},
                      {"factor", factor},
                      {"low_freq_factor", slow},
                      {"high_freq_factor", fast},
                      {"original_max_position_embeddings", int64_t(original)}};
}

json::Object RotaryWriter::scalingOfFactors() {
  static constexpr StringLiteral original =
      "rope.scaling.original_context_length";
  std::vector<double> ofLong, ofShort;
  accept("rope.scaling.factor", 1);
  accept("rope.scale_linear", 1);
  json::Object object{{"rope_type", "longrope"}};
  if (source.arrays.find(onlyFactors)) {
    json::Array list = factors(onlyFactors, ofShort);
    // Files of models without scaling can have factors of 1.
    if (!ofShort.empty() &&
        all_of(ofShort, [](double factor) { return factor == 1; }))
      return json::Object();
    if (std::optional<json::Object> known = llama3Scaling(ofShort, theta))
      return std::move(*known);
    object["short_factor"] = json::Value(json::Array(list));
    object["long_factor"] = json::Value(std::move(list));
    object["attention_factor"] = 1.0;
    accept("rope.scaling.attn_factor", 1);
  } else {
    object["short_factor"] = factors(shortFactors, ofShort);
    object["long_factor"] = factors(longFactors, ofLong);
    object["attention_factor"] = number("rope.scaling.attn_factor", 1);
  }
  object["original_max_position_embeddings"] =
      int64_t(number(original, double(source.positions)));
  return object;
}

json::Object RotaryWriter::scalingOfKeys(StringRef kind) {
  double factor = number("rope.scaling.factor", 0);
  // The older key of the same.
  double older = number("rope.scale_linear", 0);
  if (factor == 0)
    factor = older;
  accept("rope.scaling.attn_factor", 1);
  bool isScaled = factor != 0 && factor != 1 && kind != "none";
  if (kind == "linear" || kind == "none")
    return isScaled ? json::Object{{"rope_type", "linear"}, {"factor", factor}}
                    : json::Object();
  json::Object object{{"rope_type", kind.str()}};
  if (factor != 0)
    object["factor"] = factor;
  double original =
      number("rope.scaling.original_context_length", double(source.positions));
  object["original_max_position_embeddings"] = int64_t(original);
  for (auto [key, name] : {std::pair("yarn_beta_fast", "beta_fast"),
                           std::pair("yarn_beta_slow", "beta_slow")})
    if (const GgufValue *value =
            source.find((Twine("rope.scaling.") + key).str()))
      object[name] = jsonOf(*value);
  return object;
}

json::Object RotaryWriter::scaling() {
  const GgufValue *type = source.find("rope.scaling.type");
  StringRef kind = "linear"; // llama.cpp's default
  static constexpr StringLiteral kinds[] = {"none", "linear", "yarn",
                                            "longrope"};
  if (type && is_contained(kinds, type->getString().value_or("")))
    kind = *type->getString();
  else if (type)
    source.leave("rope.scaling.type");
  source.find("rope.scaling.original_context_length");
  // What yarn computes by itself.
  accept("rope.scaling.yarn_ext_factor", 1);
  accept("rope.scaling.yarn_attn_factor", 1);
  accept("rope.scaling.yarn_log_multiplier", 0);
  bool hasFactors = source.arrays.find(onlyFactors) ||
                    source.arrays.find(longFactors) ||
                    source.arrays.find(shortFactors);
  return hasFactors || kind == "longrope" ? scalingOfFactors()
                                          : scalingOfKeys(kind);
}

void RotaryWriter::write() {
  writeChannels();
  writeTheta();
  json::Object object = scaling();
  if (!object.empty())
    config.object["rope_scaling"] = std::move(object);
  config.names.emplace("rope_scaling",
                       source.architecture.str() + ".rope.scaling");
}

void anec::writeRotary(const RotarySource &source, GgufConfig &config) {
  RotaryWriter(source, config).write();
}
