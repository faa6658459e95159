//===- ConfigReader.cpp - reads config.json, key by key -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ConfigReader.h"
#include "NeutralKeys.h"
#include "anec/Package/ModelFacts.h"
#include "lib/Import/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace llvm;

ConfigReader::ConfigReader(const json::Object &object, StringRef path,
                           ArrayRef<std::string> ignored, Diagnostics &diags,
                           ConfigNames names)
    : object(object), path(path.str()), diags(diags), names(std::move(names)) {
  for (const std::string &key : ignored)
    this->ignored.insert(key);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// A value in one line of a message.
std::string ConfigReader::spell(StringRef key) const {
  static constexpr size_t longest = 80;
  std::string text;
  raw_string_ostream(text) << *object.get(key);
  if (text.size() > longest) {
    text.resize(longest);
    while (!text.empty() && !json::isUTF8(text))
      text.pop_back();
    text += "...";
  }
  return text;
}

StringRef ConfigReader::nameOf(StringRef key) const {
  auto known = names.find(std::string_view(key));
  return known == names.end() ? key : StringRef(known->second);
}

void ConfigReader::refuse(StringRef key, const Twine &known) {
  failed = true;
  diags.reportFile(path, diag::ConfigValue, nameOf(key), spell(key),
                   known.str());
}

void ConfigReader::fail(const Twine &reason) {
  failed = true;
  diags.reportFile(path, diag::BadImportConfig, reason.str());
}

void ConfigReader::failToDivide(int64_t count, StringRef things, int64_t parts,
                                StringRef others) {
  failed = true;
  diags.reportFile(path, diag::ConfigHeads, count, things, parts, others);
}

void ConfigReader::missing(StringRef key) {
  failed = true;
  diags.reportFile(path, diag::ConfigMissing, nameOf(key));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The value of a key, unless it is null or ignored.
const json::Value *ConfigReader::find(StringRef key) {
  used.insert(key);
  return has(key) ? object.get(key) : nullptr;
}

bool ConfigReader::has(StringRef key) const {
  const json::Value *value = object.get(key);
  return value && value->kind() != json::Value::Null && !ignored.contains(key);
}

int64_t ConfigReader::integer(StringRef key, std::optional<int64_t> fallback,
                              int64_t least) {
  const json::Value *value = find(key);
  if (!value) {
    if (!fallback)
      missing(key);
    return fallback.value_or(1);
  }
  std::optional<int64_t> number = value->getAsInteger();
  if (number && *number >= least && *number <= INT32_MAX)
    return *number;
  refuse(key, "an integer from " + Twine(least) + " to 2147483647");
  return 1;
}

double ConfigReader::number(StringRef key, std::optional<double> fallback) {
  const json::Value *value = find(key);
  if (!value) {
    if (!fallback)
      missing(key);
    return fallback.value_or(1);
  }
  std::optional<double> number = value->getAsNumber();
  if (number && float(*number) > 0 && std::isfinite(float(*number)))
    return *number;
  refuse(key, "a positive number");
  return 1;
}

double ConfigReader::numberOrZero(StringRef key, double fallback) {
  if (isNull(key)) {
    accept(key);
    return 0;
  }
  return number(key, fallback);
}

bool ConfigReader::flag(StringRef key, bool fallback) {
  const json::Value *value = find(key);
  if (!value)
    return fallback;
  std::optional<bool> flag = value->getAsBoolean();
  if (!flag)
    refuse(key, "true or false");
  return flag.value_or(fallback);
}

std::string ConfigReader::text(StringRef key, StringRef fallback) {
  const json::Value *value = find(key);
  if (!value)
    return fallback.str();
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    refuse(key, "a string");
  return text.value_or(fallback).str();
}

Activation ConfigReader::activation(StringRef key, StringRef fallback) {
  static constexpr std::pair<StringLiteral, Activation> names[] = {
      {"silu", Activation::Silu},
      {"swish", Activation::Silu},
      {"gelu", Activation::Gelu},
      {"gelu_python", Activation::Gelu},
      {"gelu_10", Activation::GeluClipped},
      {"gelu_new", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh},
      {"gelu_accurate", Activation::GeluTanh},
      {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"gelu_python_tanh", Activation::GeluTanh},
      {"quick_gelu", Activation::GeluSigmoid},
      {"relu", Activation::Relu},
      {"relu2", Activation::ReluSquared},
      {"relu6", Activation::Relu6},
      {"leaky_relu", Activation::LeakyRelu},
      {"sigmoid", Activation::Sigmoid},
      {"hardswish", Activation::HardSwish},
      {"mish", Activation::Mish},
      {"tanh", Activation::Tanh},
      {"laplace", Activation::Laplace},
      {"sqrtsoftplus", Activation::SqrtSoftplus},
      {"linear", Activation::Linear},
  };
  std::string name = text(key, fallback);
  std::vector<std::string> known;
  for (const auto &[spelling, activation] : names) {
    if (name == spelling)
      return activation;
    known.push_back("`" + spelling.str() + "`");
  }
  if (has(key))
    refuse(key, join(known, ", "));
  return Activation::Silu;
}

std::vector<bool> ConfigReader::windowedLayers(int64_t layers) {
  const json::Value *value = find("layer_types");
  std::vector<bool> windowed;
  if (!value)
    return windowed;
  const json::Array *array = value->getAsArray();
  if (!array || int64_t(array->size()) != layers) {
    refuse("layer_types", "a list with a type for each layer");
    return windowed;
  }
  for (const json::Value &item : *array) {
    std::optional<StringRef> type = item.getAsString();
    if (type != "full_attention" && type != "sliding_attention") {
      refuse("layer_types", "`full_attention` and `sliding_attention`");
      return {};
    }
    windowed.push_back(type == "sliding_attention");
  }
  return windowed;
}

std::vector<int64_t> ConfigReader::integers(StringRef key, int64_t count) {
  const json::Value *value = find(key);
  std::vector<int64_t> list;
  if (!value)
    return list;
  const json::Array *array = value->getAsArray();
  for (size_t i = 0; array && i < array->size(); ++i)
    if (std::optional<int64_t> item = (*array)[i].getAsInteger())
      list.push_back(*item);
  if (!array || list.size() != array->size() || int64_t(list.size()) != count) {
    refuse(key, "a list with an integer for each layer");
    list.clear();
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

int64_t ConfigReader::layers(StringRef key) {
  int64_t number = size(key);
  if (number <= 10000)
    return number;
  fail("it has more than 10000 layers");
  return 1;
}

int64_t ConfigReader::window(int64_t fallback, bool isUsed) {
  static constexpr StringLiteral key = "sliding_window";
  if (isUsed && isNull(key))
    refuse(key, "a size, where `layer_types` has layers with a window");
  else if (isUsed && !fallback && !has(key))
    missing(key);
  else
    return sizeOrNull(key, fallback ? fallback : 1, 0);
  return 0;
}

void ConfigReader::take(const json::Object &parameters, StringRef key,
                        double &number) {
  const json::Value *value = parameters.get(key);
  if (!value || value->kind() == json::Value::Null)
    return;
  std::optional<double> given = value->getAsNumber();
  if (given && float(*given) > 0 && std::isfinite(float(*given)))
    number = *given;
  else
    fail("`" + key + "` of its rotary embedding is not a positive number");
}

/// Older files have `rope_theta`, `rope_scaling` and `partial_rotary_factor`;
/// newer ones an object `rope_parameters` with all of them, or one such object
/// for each type of layer. Where a file has both objects, transformers takes
/// the older one, which scales the layers without a window where types differ.
json::Object ConfigReader::rotaryParameters(const RotaryForm &form) {
  static constexpr StringLiteral newerKey = "rope_parameters",
                                 olderKey = "rope_scaling";
  auto objectAt = [&](StringRef key) {
    const json::Value *value = find(key);
    if (value && !value->getAsObject())
      refuse(key, "an object");
    return value && value->getAsObject() ? *value->getAsObject()
                                         : json::Object();
  };
  json::Object newer = objectAt(newerKey), older = objectAt(olderKey);
  auto hasTypes = [](const json::Object &object) {
    return any_of(object, [](const auto &member) {
      return StringRef(member.first).ends_with("_attention");
    });
  };
  if (form.type.empty()) {
    if (hasTypes(newer))
      refuse(newerKey, "one object for all layers");
    return older.empty() ? std::move(newer) : std::move(older);
  }
  if (!newer.empty() && !hasTypes(newer))
    refuse(newerKey, "an object for each type of layers");
  json::Object parameters;
  if (const json::Object *part = newer.getObject(form.type))
    parameters = *part;
  if (form.type == "full_attention")
    for (auto &[key, value] : older)
      parameters[key] = value;
  // transformers 4 reads it in the older object; 5 looks for it outside of the
  // part.
  if (form.type == "full_attention" && older.getBoolean("truncate") == false)
    fail("`truncate` of its `rope_scaling` is false, which some versions of "
         "transformers read, and others do not");
  parameters.erase("truncate");
  return parameters;
}

/// For longrope transformers 4 reads the original positions of the model alone,
/// and 5 those of `rope_scaling` too.
void ConfigReader::checkOriginal() {
  static constexpr StringLiteral key = "original_max_position_embeddings";
  const json::Object *older = object.getObject("rope_scaling");
  bool isFolder = names.empty();
  if (!isFolder || !older || ignored.contains("rope_scaling") || has(key) ||
      RopeScaling::kindOf(*older) != "longrope")
    return;
  std::optional<int64_t> given = older->getInteger(key);
  if (given && given != object.getInteger("max_position_embeddings"))
    fail("`" + key +
         "` is in its `rope_scaling`, where some versions of transformers do "
         "not look for it with `longrope`, and not outside of it");
}

Rotary ConfigReader::rotary(int64_t headDim, double theta,
                            const RotaryForm &form) {
  static constexpr StringLiteral partKey = "partial_rotary_factor";
  Rotary rotary;
  accept("original_max_position_embeddings");
  json::Object parameters = rotaryParameters(form);
  rotary.theta = number(form.thetaKey, theta);
  double part = number(partKey, form.part.value_or(1));
  take(parameters, "rope_theta", rotary.theta);
  take(parameters, partKey, part);
  // Some versions of transformers rotate a part of the channels, some ignore
  // the key, and some fail.
  bool isFolder = names.empty();
  if (isFolder && !form.part && part != 1)
    fail("its `partial_rotary_factor` is " + ModelFacts::spell(part) +
         ", and models of this family rotate all channels");
  StringRef kind = RopeScaling::kindOf(parameters);
  if (form.type.empty() || form.type == "full_attention")
    checkOriginal();
  if (isFolder && form.isLongOnly && kind != "default" && kind != "longrope" &&
      kind != "su")
    fail("the scaling of its rotary embedding is `" + kind +
         "`, and models of this family have `longrope`");
  if (!parameters.empty()) {
    std::string wrong;
    std::optional<RopeScaling> scaling =
        RopeScaling::read(parameters, object, wrong, form.original);
    if (!scaling)
      fail(wrong);
    else
      rotary.scaling = std::move(*scaling);
  }
  rotary.channels = part > 1 ? 0 : int64_t(double(headDim) * part);
  // Without a head's channels there was an error before.
  if (headDim > 0 && (rotary.channels < 2 || rotary.channels % 2))
    fail("its rotary embedding rotates " + Twine(rotary.channels) + " of " +
         Twine(headDim) + " channels of a head, which are not pairs");
  for (const std::vector<double> *factors :
       {&rotary.scaling.shortFactors, &rotary.scaling.longFactors})
    if (rotary.scaling.kind == RopeScalingKind::LongRope &&
        int64_t(factors->size()) != rotary.channels / 2)
      fail("its rotary embedding's scaling has " + Twine(factors->size()) +
           " factors, and there are " + Twine(rotary.channels / 2) + " pairs");
  return rotary;
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

bool ConfigReader::finish() {
  std::vector<std::string> keys;
  for (const auto &[key, value] : object)
    if (has(key) && !used.contains(key))
      keys.push_back(key.str());
  llvm::sort(keys);
  for (const std::string &key : keys) {
    const json::Value &value = *object.get(key);
    if (isNeutral(key, value))
      continue;
    if (StringRef known = onlyKnownValue(key); !known.empty()) {
      refuse(key, known);
      continue;
    }
    failed = true;
    const json::Object *quantized =
        key == "quantization_config" ? value.getAsObject() : nullptr;
    if (quantized)
      diags.reportFile(path, diag::ConfigQuantized,
                       quantized->getString("quant_method").value_or(key));
    else
      diags.reportFile(path, diag::ConfigUnknown, nameOf(key), spell(key));
  }
  return !failed;
}
