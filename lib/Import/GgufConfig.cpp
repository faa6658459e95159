//===- GgufConfig.cpp - metadata of GGUF files as config.json -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GgufConfig.h"
#include "GgufRotary.h"
#include "lib/Import/Diags.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec;
using namespace llvm;

static constexpr StringLiteral layerNorm = "attention.layer_norm_epsilon";
static constexpr StringLiteral rmsNorm = "attention.layer_norm_rms_epsilon";
static constexpr GgufArchitecture architectures[] = {
    {"gemma2", "gemma2", RopeStyle::HalfSplit, rmsNorm},
    {"gemma3", "gemma3_text", RopeStyle::HalfSplit, rmsNorm},
    {"gpt2", "gpt2", RopeStyle::HalfSplit, layerNorm},
    {"llama", "llama", RopeStyle::Interleaved, rmsNorm},
    {"phi2", "phi", RopeStyle::HalfSplit, layerNorm},
    {"phi3", "phi3", RopeStyle::HalfSplit, rmsNorm},
    {"qwen2", "qwen2", RopeStyle::HalfSplit, rmsNorm},
    {"qwen3", "qwen3", RopeStyle::HalfSplit, rmsNorm},
    {"smollm3", "smollm3", RopeStyle::Interleaved, rmsNorm},
};

const GgufArchitecture *anec::findArchitecture(StringRef name) {
  for (const GgufArchitecture &row : architectures)
    if (row.name == name)
      return &row;
  return nullptr;
}

static std::string architectureNames() {
  std::vector<std::string> names;
  for (const GgufArchitecture &row : architectures)
    names.push_back("`" + row.name.str() + "`");
  return join(names, ", ");
}

/// Keys with a number that has another name in config.json.
static constexpr std::pair<StringLiteral, StringLiteral> renamed[] = {
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {layerNorm, "layer_norm_eps"},
    {rmsNorm, "rms_norm_eps"},
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
};
static constexpr std::pair<StringLiteral, StringLiteral> renamedGpt2[] = {
    {"attention.head_count", "n_head"}, {layerNorm, "layer_norm_epsilon"},
    {"block_count", "n_layer"},         {"context_length", "n_positions"},
    {"embedding_length", "n_embd"},     {"feed_forward_length", "n_inner"},
};

/// Keys without effect, or whose meaning is in the arrays.
static constexpr StringLiteral withoutEffect[] = {
    "rope.scaling.finetuned", "tensor_data_layout", "vocab_size"};
/// Keys that say with 0 that a part is absent.
static constexpr StringLiteral absentIfZero[] = {
    "attention.clamp_kqv",  "attention.max_alibi_bias",
    "attention.scale",      "attention.sliding_window",
    "expert_count",         "expert_shared_count",
    "expert_used_count",    "leading_dense_block_count",
    "nextn_predict_layers", "pooling_type"};

namespace {

/// Writes the configuration of one file.
class GgufConfigWriter {
public:
  GgufConfigWriter(const GgufFile &file, const ArraySource &arrays,
                   ArrayRef<std::string> ignoredKeys, GgufConfig &config)
      : file(file), arrays(arrays), ignored(ignoredKeys), config(config),
        arch(config.architecture->name) {}

  void write();

private:
  std::string fullName(StringRef key) const {
    return arch.str() + "." + key.str();
  }
  /// The value of a key of the architecture; null when it is missing or
  /// ignored.
  const GgufValue *find(StringRef key);
  std::optional<int64_t> integer(StringRef key);
  /// Sets a key of config.json to a value of the file.
  void set(StringRef name, StringRef key, const GgufValue &value);

  void writeSizes();
  void writeWindows(int64_t layers);
  void writeGemma(int64_t layers, int64_t dim, int64_t heads, int64_t width);
  void writeOthers();

  const GgufFile &file;
  const ArraySource &arrays;
  ArrayRef<std::string> ignored;
  GgufConfig &config;
  StringRef arch;
  StringSet<> read; ///< keys of the architecture
};

} // namespace

const GgufValue *GgufConfigWriter::find(StringRef key) {
  read.insert(key);
  std::string name = fullName(key);
  return is_contained(ignored, name) ? nullptr : file.find(name);
}

std::optional<int64_t> GgufConfigWriter::integer(StringRef key) {
  const GgufValue *value = find(key);
  return value ? value->getInteger() : std::nullopt;
}

json::Value anec::jsonOf(const GgufValue &value) {
  if (std::optional<int64_t> integer = value.getInteger())
    return *integer;
  if (std::optional<bool> flag = value.getBool())
    return *flag;
  if (std::optional<double> number = value.getNumber())
    if (std::isfinite(*number))
      return jsonNumber(*number);
  if (std::optional<StringRef> text = value.getString())
    return json::fixUTF8(text->take_front(100));
  static constexpr uint64_t most = 8;
  std::optional<std::vector<GgufValue>> elements;
  if (value.count <= most)
    elements = value.getElements();
  if (!elements)
    return value.text();
  json::Array list;
  for (const GgufValue &element : *elements)
    list.push_back(jsonOf(element));
  return list;
}

/// A number for each of `layers` layers, if all are equal.
static std::optional<int64_t> equalNumber(const GgufValue &value,
                                          int64_t layers) {
  std::optional<std::vector<GgufValue>> numbers;
  if (layers > 0 && value.count == uint64_t(layers))
    numbers = value.getElements();
  if (!numbers || numbers->empty())
    return std::nullopt;
  std::optional<int64_t> first = numbers->front().getInteger();
  bool isEqual = all_of(*numbers, [&](const GgufValue &number) {
    return number.getInteger() == first;
  });
  return isEqual ? first : std::nullopt;
}

void GgufConfigWriter::set(StringRef name, StringRef key,
                           const GgufValue &value) {
  config.object[name] = jsonOf(value);
  // Some writers give these layer by layer.
  if (key == "attention.head_count" || key == "attention.head_count_kv" ||
      key == "feed_forward_length")
    if (std::optional<int64_t> number =
            equalNumber(value, integer("block_count").value_or(0)))
      config.object[name] = *number;
  config.names.emplace(name.str(), fullName(key));
}

void GgufConfigWriter::writeSizes() {
  bool isGpt2 = arch == "gpt2";
  ArrayRef<std::pair<StringLiteral, StringLiteral>> rows = renamed;
  if (isGpt2)
    rows = renamedGpt2;
  for (const auto &[key, name] : rows) {
    // Also where it is missing.
    config.names.emplace(name.str(), fullName(key));
    if (const GgufValue *value = find(key))
      set(name, key, *value);
  }
  static constexpr StringLiteral embedding = "token_embd.weight";
  config.names.emplace("vocab_size", embedding.str());
  if (const StoredArray *array = arrays.find(embedding))
    if (!array->type().shape.empty())
      config.object["vocab_size"] = array->type().shape.front();
  config.object["tie_word_embeddings"] = !arrays.find("output.weight");

  int64_t heads =
      config.object.getInteger(isGpt2 ? "n_head" : "num_attention_heads")
          .value_or(0);
  int64_t dim = integer("embedding_length").value_or(0);
  int64_t width = heads > 0 && dim % heads == 0 ? dim / heads : 0;
  if (const GgufValue *value = find("attention.key_length"); value && !isGpt2) {
    set("head_dim", "attention.key_length", *value);
    width = value->getInteger().value_or(0);
  } else if (width > 0 && !isGpt2) {
    config.object["head_dim"] = width;
  }
  // Others than these are left to be refused.
  for (StringRef key : {"attention.key_length", "attention.value_length"})
    if (integer(key) != width)
      read.erase(key);
  if (isGpt2 && integer("attention.head_count_kv") != heads)
    read.erase("attention.head_count_kv");

  int64_t layers = integer("block_count").value_or(0);
  writeWindows(layers);
  if (arch.starts_with("gemma"))
    writeGemma(layers, dim, heads, width);
  if (!isGpt2)
    writeRotary({file, arrays, arch, width,
                 integer("context_length").value_or(0),
                 [this](StringRef key) { return find(key); },
                 [this](StringRef key) { read.erase(key); }},
                config);
}

/// Which layers have a window.
void GgufConfigWriter::writeWindows(int64_t layers) {
  static constexpr StringLiteral key = "attention.sliding_window";
  const GgufValue *size = find(key);
  bool isGemma = arch.starts_with("gemma");
  if (!size || (!isGemma && size->getInteger() == 0))
    return;
  if (arch == "llama") // which is of Mistral then
    config.object["model_type"] = "mistral";
  else if (!isGemma && arch != "phi3") {
    read.erase(key);
    return;
  }
  set("sliding_window", key, *size);
  if (!isGemma || layers < 1 || layers > 10000)
    return;
  static constexpr StringLiteral patternKey =
      "attention.sliding_window_pattern";
  const GgufValue *pattern = find(patternKey);
  if (!pattern)
    return;
  // Every layer but the last of so many, or a flag for each layer.
  json::Array types;
  std::optional<int64_t> period = pattern->getInteger();
  std::optional<std::vector<GgufValue>> flags = pattern->getElements();
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::optional<bool> isWindowed;
    if (period && *period >= 0)
      isWindowed = *period == 0 || layer % *period < *period - 1;
    else if (flags && int64_t(flags->size()) == layers)
      isWindowed = (*flags)[size_t(layer)].getBool();
    if (!isWindowed) {
      read.erase(patternKey);
      return;
    }
    types.push_back(*isWindowed ? "sliding_attention" : "full_attention");
  }
  config.object["layer_types"] = std::move(types);
  config.names.emplace("layer_types", fullName(patternKey));
}

void GgufConfigWriter::writeGemma(int64_t layers, int64_t dim, int64_t heads,
                                  int64_t width) {
  for (StringRef key : {"attn_logit_softcapping", "final_logit_softcapping"})
    if (const GgufValue *value = find(key)) {
      set(key, key, *value);
      if (value->getNumber() == 0)
        config.object[key] = nullptr;
    }
  // The file does not say it. The models with 27 billion weights are told by
  // their layers.
  bool isLargest = layers == (arch == "gemma2" ? 46 : 62);
  if (isLargest && heads > 0)
    config.object["query_pre_attn_scalar"] = dim / heads;
  else if (width > 0)
    config.object["query_pre_attn_scalar"] = width;
  config.names.emplace("sliding_window", fullName("attention.sliding_window"));
  // Without the key, gemma2 has windows of 4096, and gemma3 none.
  if (arch == "gemma3" && !find("attention.sliding_window"))
    config.object["layer_types"] = json::Array(std::vector<json::Value>(
        size_t(std::clamp<int64_t>(layers, 0, 10000)), "full_attention"));
}

/// Keys that nothing has read, which the reader of the object refuses.
void GgufConfigWriter::writeOthers() {
  std::string prefix = arch.str() + ".";
  for (const auto &[name, value] : file.metadata) {
    StringRef key = name;
    if (!key.consume_front(prefix) || is_contained(ignored, name) ||
        read.contains(key) || is_contained(withoutEffect, key))
      continue;
    if (is_contained(absentIfZero, key) && value.getNumber() == 0)
      continue;
    if (key == "attention.causal" && value.getBool() == true)
      continue;
    config.object[name] = jsonOf(value);
  }
}

void GgufConfigWriter::write() {
  config.object["model_type"] = config.architecture->family;
  writeSizes();
  writeOthers();
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Whether the file has a whole model.
static bool checkGeneral(const GgufFile &file, const ArraySource &arrays,
                         Diagnostics &diags) {
  const GgufValue *type = file.find("general.type");
  if (type && type->getString() != "model") {
    diags.reportFile(arrays.path(), diag::ConfigValue, "general.type",
                     type->text(), "\"model\"");
    return false;
  }
  const GgufValue *version = file.find("general.quantization_version");
  bool isPacked = any_of(
      file.arrays, [](const auto &named) { return named.second.isPacked(); });
  if (version && isPacked && version->getInteger() != 2) {
    diags.reportFile(arrays.path(), diag::ConfigValue,
                     "general.quantization_version", version->text(), "2");
    return false;
  }
  const GgufValue *parts = file.find("split.count");
  if (parts && parts->getInteger().value_or(2) > 1) {
    diags.reportFile(arrays.path(), diag::BadImportConfig,
                     "it is one of " + parts->text() +
                         " files; llama.cpp's `llama-gguf-split --merge` "
                         "makes one of them");
    return false;
  }
  return true;
}

std::optional<GgufConfig> anec::configOfGguf(const GgufFile &file,
                                             const ArraySource &arrays,
                                             ArrayRef<std::string> ignoredKeys,
                                             Diagnostics &diags) {
  static constexpr StringLiteral key = "general.architecture";
  const GgufValue *name = file.find(key);
  if (!name) {
    diags.reportFile(arrays.path(), diag::ConfigMissing, key);
    return std::nullopt;
  }
  GgufConfig config;
  config.architecture = findArchitecture(name->getString().value_or(""));
  if (!config.architecture) {
    diags.reportFile(arrays.path(), diag::ModelArchitecture, name->text(),
                     architectureNames());
    return std::nullopt;
  }
  if (!checkGeneral(file, arrays, diags))
    return std::nullopt;
  GgufConfigWriter(file, arrays, ignoredKeys, config).write();
  // Families have different values by default, so that none can be assumed.
  std::string epsilon =
      (config.architecture->name + "." + config.architecture->epsilon).str();
  if (!file.find(epsilon) && !is_contained(ignoredKeys, epsilon)) {
    diags.reportFile(arrays.path(), diag::ConfigMissing, epsilon);
    return std::nullopt;
  }
  return config;
}
