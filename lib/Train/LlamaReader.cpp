//===- LlamaReader.cpp - weights under the names of others, read ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlamaFormats.h"
#include "anec/Arrays/ArraySource.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Package/RopeScaling.h"
#include "lib/Support/Json.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

static std::string inFolder(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

namespace {

/// Arrays by name, and what is said of their model.
struct Source {
  std::optional<ArraySource> arrays;
  std::map<std::string, int64_t> sizes;
  ModelFacts facts;
  std::optional<bool> tied; ///< where it is said

  bool add(StringRef path, Diagnostics &diags);
  bool addConfig(StringRef path, Diagnostics &diags);
};

} // namespace

bool Source::add(StringRef path, Diagnostics &diags) {
  arrays = ArraySource::open(path, diags);
  if (!arrays)
    return false;
  for (const auto &[key, value] : arrays->metadata())
    if (int64_t number; !StringRef(value).getAsInteger(10, number))
      sizes.try_emplace(key, number);
  facts.complete(ModelFacts::from(arrays->metadata()));
  return true;
}

static std::optional<json::Object> readObject(StringRef path,
                                              Diagnostics &diags) {
  std::optional<json::Value> value =
      readJson(path, diag::BadModelConfig, diags);
  if (!value)
    return std::nullopt;
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  diags.reportFile(path, diag::BadModelConfig, "it is not a JSON object");
  return std::nullopt;
}

/// What config.json says of the rotary embedding: newer ones in an object
/// `rope_parameters`. A number that is missing is the default of transformers'
/// LlamaConfig.
static void readRope(const json::Object &config, ModelFacts &facts) {
  const json::Object *newer = config.getObject("rope_parameters");
  std::optional<double> theta =
      (newer ? *newer : config).getNumber(fact::ropeTheta);
  facts.add(fact::ropeTheta, ModelFacts::spell(theta.value_or(10000)));
  const json::Object *scaling =
      newer ? newer : config.getObject(fact::ropeScaling);
  if (!scaling) {
    facts.add(fact::ropeScaling, "none");
    return;
  }
  std::string wrong;
  if (std::optional<RopeScaling> known =
          RopeScaling::read(*scaling, config, wrong)) {
    facts.add(fact::ropeScaling, known->text());
    return;
  }
  // No model of anec says the same.
  json::Object factors = *scaling;
  factors.erase(fact::ropeTheta);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(factors));
  facts.add(fact::ropeScaling, text);
}

/// Hugging Face's config.json.
bool Source::addConfig(StringRef path, Diagnostics &diags) {
  std::optional<json::Object> object = readObject(path, diags);
  if (!object)
    return false;
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"hidden_size", "dim"},
      {"intermediate_size", "hidden"},
      {"num_hidden_layers", "layers"},
      {"num_attention_heads", "heads"},
      {"num_key_value_heads", "kv_heads"},
      {"max_position_embeddings", "seq"},
      {"vocab_size", "vocab"}};
  for (const auto &[theirs, ours] : names)
    if (std::optional<int64_t> number = object->getInteger(theirs))
      sizes[ours.str()] = *number;
  tied = object->getBoolean("tie_word_embeddings");
  StringRef activation = object->getString("hidden_act").value_or("silu");
  if (activation != "silu" && activation != "swish") {
    diags.reportFile(path, diag::BadModelConfig,
                     "its `hidden_act` is `" + activation.str() +
                         "`, and a Llama's is `silu`");
    return false;
  }
  readRope(*object, facts);
  facts.add(
      fact::rmsNormEps,
      ModelFacts::spell(object->getNumber(fact::rmsNormEps).value_or(1e-6)));
  return true;
}

/// A file, with the config.json beside it when it has Hugging Face's names and
/// says nothing itself.
static std::optional<Source> openFile(StringRef path, WeightFormat format,
                                      Diagnostics &diags) {
  Source source;
  if (!source.add(path, diags))
    return std::nullopt;
  std::string config = inFolder(sys::path::parent_path(path), "config.json");
  bool isAlone = format != WeightFormat::HuggingFace ||
                 source.sizes.count("heads") || !sys::fs::exists(config);
  if (!isAlone && !source.addConfig(config, diags))
    return std::nullopt;
  return source;
}

/// Opens a file, or a folder in Hugging Face's layout.
static std::optional<Source> openSource(StringRef path, WeightFormat format,
                                        Diagnostics &diags) {
  if (!sys::fs::is_directory(path))
    return openFile(path, format, diags);
  Source source;
  std::string config = inFolder(path, "config.json");
  if ((sys::fs::exists(config) && !source.addConfig(config, diags)) ||
      !source.add(path, diags))
    return std::nullopt;
  return source;
}

namespace {

/// Takes arrays out of a source by their names.
class Reader {
public:
  Reader(const Source &source, StringRef path, WeightFormat format,
         const LlamaHints &hints, Diagnostics &diags)
      : source(source), path(path), format(format), model(hints.model),
        diags(diags) {}

  std::optional<LlamaWeights> read();

private:
  std::string name(LlamaRole role, int64_t layer = 0) const {
    return llamaName(format, role, layer, model);
  }
  /// The extent of a matrix that determines a size; 0, with the reason
  /// reported, when the matrix is missing.
  int64_t extent(LlamaRole role, unsigned axis);
  bool take(LlamaWeights &weights, LlamaRole role, int64_t layer);
  bool checkRest(const LlamaWeights &weights);

  const Source &source;
  StringRef path;
  WeightFormat format;
  std::string model;
  Diagnostics &diags;
};

} // namespace

int64_t Reader::extent(LlamaRole role, unsigned axis) {
  const StoredArray *array = source.arrays->find(name(role));
  if (!array) {
    diags.reportFile(path, diag::NotLlama, name(role),
                     format == WeightFormat::Anec ? "anec" : "Hugging Face");
    return 0;
  }
  if (array->type().shape.size() == 2 && array->type().shape[axis] > 0)
    return array->type().shape[axis];
  diags.reportFile(path, diag::WeightShape, name(role), array->type().str(),
                   "rank 2");
  return 0;
}

bool Reader::take(LlamaWeights &weights, LlamaRole role, int64_t layer) {
  const StoredArray *array = source.arrays->find(name(role, layer));
  if (!array) {
    diags.reportFile(path, diag::NotLlama, name(role, layer),
                     format == WeightFormat::Anec ? "anec" : "Hugging Face");
    return false;
  }
  Shape wanted = weights.shapeOf(role);
  if (array->type().shape != wanted || !isFloat(array->type().dtype)) {
    diags.reportFile(path, diag::WeightShape, name(role, layer),
                     array->type().str(), shapeToString(wanted));
    return false;
  }
  weights.arrays[unsigned(role)].push_back(*array);
  return true;
}

/// Reports arrays that a Llama does not have, since they change what a model
/// computes; tables of angles are ignored.
bool Reader::checkRest(const LlamaWeights &weights) {
  StringSet<> known;
  forEachLlamaArray(
      weights.layers, /*tied=*/false,
      [&](LlamaRole role, int64_t layer) { known.insert(name(role, layer)); });
  for (StringRef array : source.arrays->names())
    if (!known.contains(array) && !array.ends_with("rotary_emb.inv_freq")) {
      diags.reportFile(path, diag::UnknownArray, array);
      return false;
    }
  return true;
}

std::optional<LlamaWeights> Reader::read() {
  // Whatever the model is called.
  if (format == WeightFormat::Anec)
    for (StringRef prefix : source.arrays->names())
      if (prefix.consume_back(".embedding"))
        model = prefix.str();
  LlamaWeights weights;
  weights.vocab = extent(LlamaRole::Embedding, 0);
  weights.dim = weights.vocab ? extent(LlamaRole::Embedding, 1) : 0;
  weights.queryRows = weights.dim ? extent(LlamaRole::Wq, 0) : 0;
  weights.keyRows = weights.queryRows ? extent(LlamaRole::Wk, 0) : 0;
  weights.hidden = weights.keyRows ? extent(LlamaRole::W1, 0) : 0;
  if (!weights.hidden)
    return std::nullopt;
  while (source.arrays->find(name(LlamaRole::Wq, weights.layers)))
    ++weights.layers;
  weights.tied = source.tied.value_or(false) ||
                 !source.arrays->find(name(LlamaRole::Classifier));
  bool ok = checkRest(weights);
  forEachLlamaArray(weights.layers, weights.tied,
                    [&](LlamaRole role, int64_t layer) {
                      ok = ok && take(weights, role, layer);
                    });
  if (!ok)
    return std::nullopt;
  return weights;
}

/// Compares sizes with the hints, and takes those that do not follow from the
/// weights from the hints.
static bool applySizes(LlamaWeights &weights,
                       const std::map<std::string, int64_t> &sizes,
                       StringRef path, Diagnostics &diags) {
  auto known = [&](const char *name) {
    auto it = sizes.find(name);
    return it == sizes.end() ? 0 : it->second;
  };
  auto take = [&](const char *name, int64_t &size) {
    if (int64_t value = known(name); value > 0 && size == 0)
      size = value;
  };
  take("heads", weights.heads);
  take("kv_heads", weights.keyHeads);
  take("seq", weights.positions);
  std::pair<const char *, int64_t> told[] = {
      {"layers", weights.layers}, {"dim", weights.dim},
      {"hidden", weights.hidden}, {"vocab", weights.vocab},
      {"heads", weights.heads},   {"kv_heads", weights.keyHeads}};
  for (const auto &[name, size] : told)
    if (int64_t value = known(name); value && value != size) {
      diags.reportFile(path, diag::ModelSize, name, size, value);
      return false;
    }
  // If keys have as many rows as queries, heads do not share keys.
  if (weights.keyHeads == 0 && weights.queryRows == weights.keyRows)
    weights.keyHeads = weights.heads;
  return true;
}

/// Compares facts with the hints, and takes those that the weights do not tell.
static bool applyFacts(LlamaWeights &weights, const LlamaHints &hints,
                       StringRef path, Diagnostics &diags) {
  // Rows move from one style to the other.
  weights.facts.remove(fact::ropeStyle);
  std::vector<std::string> different = weights.facts.differences(hints.facts);
  for (const std::string &name : different)
    diags.reportFile(path, diag::ModelFact, name, weights.facts.find(name),
                     hints.facts.find(name), hints.source);
  weights.facts.complete(hints.facts);
  weights.facts.remove(fact::ropeStyle);
  return different.empty();
}

/// Whether the numbers of heads, as far as known, divide the rows.
static bool checkHeads(LlamaWeights &weights, StringRef path,
                       Diagnostics &diags) {
  if (!weights.heads)
    return true;
  if (weights.queryRows % (2 * weights.heads)) {
    diags.reportFile(path, diag::UnevenHeads, "wq", weights.queryRows,
                     weights.heads);
    return false;
  }
  int64_t width = weights.queryRows / weights.heads;
  if (weights.keyHeads == 0 && weights.keyRows % width == 0)
    weights.keyHeads = weights.keyRows / width;
  if (weights.keyRows != width * weights.keyHeads) {
    diags.reportFile(path, diag::UnevenHeads, "wk", weights.keyRows,
                     weights.keyHeads);
    return false;
  }
  return true;
}

static std::optional<LlamaWeights> readNamed(StringRef path,
                                             WeightFormat format,
                                             const LlamaHints &hints,
                                             Diagnostics &diags) {
  std::optional<Source> source = openSource(path, format, diags);
  if (!source)
    return std::nullopt;
  std::optional<LlamaWeights> weights =
      Reader(*source, path, format, hints, diags).read();
  if (!weights)
    return std::nullopt;
  RopeStyle usual =
      format == WeightFormat::HuggingFace
          ? RopeStyle::HalfSplit
          : ropeStyleOf(hints.facts).value_or(RopeStyle::Interleaved);
  weights->rope = ropeStyleOf(source->facts).value_or(usual);
  weights->facts = source->facts;
  if (!applySizes(*weights, hints.sizes, path, diags) ||
      !applySizes(*weights, source->sizes, path, diags))
    return std::nullopt;
  return weights;
}

std::optional<LlamaWeights> anec::readLlamaWeights(StringRef path,
                                                   WeightFormat format,
                                                   const LlamaHints &hints,
                                                   Diagnostics &diags) {
  std::optional<LlamaWeights> weights;
  if (format != WeightFormat::Llama2c) {
    weights = readNamed(path, format, hints, diags);
  } else if (MappedFile file = mapFile(path, diags)) {
    if (isPyTorchFile(file)) {
      diags.reportFile(path, diag::PyTorchFile);
      return std::nullopt;
    }
    if (std::optional<Llama2cFile> contents = readLlama2c(file, path, diags))
      weights = llamaWeightsOf(*contents);
    if (weights && !applySizes(*weights, hints.sizes, path, diags))
      return std::nullopt;
  }
  if (!weights || !checkHeads(*weights, path, diags) ||
      !applyFacts(*weights, hints, path, diags))
    return std::nullopt;
  weights->format = format;
  if (!weights->tied && hints.hasClassifier == false) {
    diags.reportFile(path, diag::UntiedClassifier, hints.source);
    return std::nullopt;
  }
  return weights;
}

WeightFormat anec::guessWeightFormat(StringRef path) {
  if (path.ends_with(".bin"))
    return WeightFormat::Llama2c;
  if (sys::fs::is_directory(path))
    return WeightFormat::HuggingFace;
  // Errors in the file are reported when it is read.
  Diagnostics ignored;
  std::optional<Safetensors> contents = readSafetensors(path, ignored);
  bool isTheirs =
      contents && llvm::any_of(contents->arrays, [](const NamedArray &named) {
        return StringRef(named.name).starts_with("model.layers.");
      });
  return isTheirs ? WeightFormat::HuggingFace : WeightFormat::Anec;
}
