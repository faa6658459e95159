//===- LlamaReader.cpp - the weights of a Llama, read ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ImportedModel.h"
#include "Llama2cModel.h"
#include "LlamaConfig.h"
#include "anec/Arrays/ArraySource.h"
#include "lib/Arrays/Diags.h"
#include "lib/Import/Diags.h"
#include "lib/Support/FileName.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Arrays by name
//===----------------------------------------------------------------------===//

namespace {

/// Arrays by name, and what is said of their model.
struct LlamaSource {
  std::optional<ArraySource> arrays;
  LlamaConfig config;

  bool add(StringRef path, Diagnostics &diags) {
    arrays = ArraySource::open(path, diags);
    if (arrays)
      config.complete(arrays->metadata());
    return arrays.has_value();
  }
};

} // namespace

/// A file, with the config.json beside it when it has Hugging Face's names and
/// says nothing itself.
static std::optional<LlamaSource> openFile(StringRef path, WeightFormat format,
                                           Diagnostics &diags) {
  LlamaSource source;
  if (!source.add(path, diags))
    return std::nullopt;
  std::string config = pathIn(sys::path::parent_path(path), "config.json");
  bool isAlone = format != WeightFormat::HuggingFace ||
                 source.config.sizes.count("heads") || !sys::fs::exists(config);
  if (!isAlone && !source.config.addFile(config, diags))
    return std::nullopt;
  return source;
}

/// Opens a file, or a folder in Hugging Face's layout.
static std::optional<LlamaSource>
openSource(StringRef path, WeightFormat format, Diagnostics &diags) {
  if (!sys::fs::is_directory(path))
    return openFile(path, format, diags);
  LlamaSource source;
  std::string config = pathIn(path, "config.json");
  if ((sys::fs::exists(config) && !source.config.addFile(config, diags)) ||
      !source.add(path, diags))
    return std::nullopt;
  return source;
}

namespace {

/// Takes arrays out of a source by their names.
class Reader {
public:
  Reader(const LlamaSource &source, StringRef path, WeightFormat format,
         const LlamaHints &hints, Diagnostics &diags)
      : source(source), path(path), format(format), diags(diags) {
    shapes.family = hints.model;
  }

  std::optional<LlamaWeights> read();

private:
  std::string name(WeightRole role, int64_t layer = 0) const {
    return arrayName(format, llamaWeight(shapes.family, role), layer);
  }
  const StoredArray *find(const std::string &name);
  bool readSizes();
  bool take(const DecoderWeight &weight, int64_t layer);
  bool checkRest();

  const LlamaSource &source;
  StringRef path;
  WeightFormat format;
  Diagnostics &diags;
  /// The model as shapes tell it: they show each row of wq and wk as a head of
  /// one channel.
  Decoder shapes;
  LlamaWeights weights;
};

} // namespace

/// Null, with the reason reported, when there is none.
const StoredArray *Reader::find(const std::string &name) {
  const StoredArray *array = source.arrays->find(name);
  if (!array)
    diags.reportFile(path, diag::NotLlama, name,
                     format == WeightFormat::Anec ? "anec" : "Hugging Face");
  return array;
}

/// The sizes that follow from shapes, and the number of layers.
bool Reader::readSizes() {
  using R = WeightRole;
  static constexpr std::pair<R, int64_t Decoder::*> rows[] = {
      {R::Embedding, &Decoder::vocab},
      {R::Query, &Decoder::heads},
      {R::Key, &Decoder::keyHeads},
      {R::Gate, &Decoder::hidden}};
  shapes.headDim = 1;
  for (const auto &[role, size] : rows) {
    const StoredArray *array = find(name(role));
    if (!array)
      return false;
    const Shape &shape = array->type().shape;
    if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0) {
      diags.reportFile(path, diag::WeightShape, name(role), array->type().str(),
                       "rank 2");
      return false;
    }
    shapes.*size = shape[0];
    if (role == R::Embedding)
      shapes.dim = shape[1];
  }
  while (source.arrays->find(name(R::Query, shapes.layers)))
    ++shapes.layers;
  return true;
}

bool Reader::take(const DecoderWeight &weight, int64_t layer) {
  std::string name = arrayName(format, weight, layer);
  const StoredArray *array = find(name);
  if (!array)
    return false;
  Shape wanted = weight.shape();
  if (array->type().shape != wanted || !isFloat(array->type().dtype)) {
    diags.reportFile(path, diag::WeightShape, name, array->type().str(),
                     shapeToString(wanted));
    return false;
  }
  weights.arrays.push_back(*array);
  return true;
}

/// Reports arrays that a Llama does not have, since they change what a model
/// computes; tables of angles are ignored.
bool Reader::checkRest() {
  StringSet<> known;
  known.insert(name(WeightRole::Classifier));
  forEachLlamaArray(shapes, [&](const DecoderWeight &weight, int64_t layer) {
    known.insert(arrayName(format, weight, layer));
  });
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
        shapes.family = prefix.str();
  if (!readSizes())
    return std::nullopt;
  shapes.hasClassifier =
      !source.config.tied.value_or(false) &&
      source.arrays->find(name(WeightRole::Classifier)) != nullptr;
  bool ok = checkRest();
  forEachLlamaArray(shapes, [&](const DecoderWeight &weight, int64_t layer) {
    ok = ok && take(weight, layer);
  });
  if (!ok)
    return std::nullopt;
  weights.queryRows = shapes.heads;
  weights.keyRows = shapes.keyHeads;
  weights.decoder = shapes;
  weights.decoder.heads = weights.decoder.keyHeads = weights.decoder.headDim =
      0;
  return std::move(weights);
}

//===----------------------------------------------------------------------===//
// What is said of the model
//===----------------------------------------------------------------------===//

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
  Decoder &decoder = weights.decoder;
  take("heads", decoder.heads);
  take("kv_heads", decoder.keyHeads);
  take("seq", decoder.positions);
  std::pair<const char *, int64_t> told[] = {
      {"layers", decoder.layers}, {"dim", decoder.dim},
      {"hidden", decoder.hidden}, {"vocab", decoder.vocab},
      {"heads", decoder.heads},   {"kv_heads", decoder.keyHeads}};
  for (const auto &[name, size] : told)
    if (int64_t value = known(name); value && value != size) {
      diags.reportFile(path, diag::ModelSize, name, size, value);
      return false;
    }
  // If keys have as many rows as queries, heads do not share keys.
  if (decoder.keyHeads == 0 && weights.queryRows == weights.keyRows)
    decoder.keyHeads = decoder.heads;
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

/// The width of a head, if their number is known. Returns false, with the
/// reason reported, when the numbers of heads do not divide the rows.
static bool findHeadDim(LlamaWeights &weights, StringRef path,
                        Diagnostics &diags) {
  Decoder &decoder = weights.decoder;
  if (!decoder.heads)
    return true;
  int64_t width = weights.queryRows / decoder.heads;
  if (weights.queryRows % decoder.heads || width % 2) {
    diags.reportFile(path, diag::UnevenHeads, "wq", weights.queryRows,
                     decoder.heads);
    return false;
  }
  bool isEven = weights.keyRows % width == 0;
  if (decoder.keyHeads == 0 && isEven)
    decoder.keyHeads = weights.keyRows / width;
  if (!isEven || weights.keyRows / width != decoder.keyHeads) {
    diags.reportFile(path, diag::UnevenHeads, "wk", weights.keyRows,
                     decoder.keyHeads);
    return false;
  }
  decoder.headDim = width;
  return true;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

/// The weights of llama2.c's file.
static LlamaWeights weightsOfLlama2c(const Llama2cFile &file) {
  LlamaWeights weights;
  weights.decoder = decoderOf(file);
  weights.facts = factsOf(weights.decoder);
  weights.queryRows = file.dim;
  weights.keyRows = file.keyRows();
  StringMap<const StoredArray *> arrays;
  for (const auto &[name, array] : file.arrays)
    arrays[name] = &array;
  forEachLlamaArray(
      weights.decoder, [&](const DecoderWeight &weight, int64_t layer) {
        weights.arrays.push_back(
            *arrays.at(arrayName(WeightFormat::Llama2c, weight, layer)));
      });
  return weights;
}

/// The weights of a GGUF file, whose model import reads.
static std::optional<LlamaWeights>
weightsOfGguf(const MappedFile &file, StringRef path, Diagnostics &diags) {
  std::optional<ImportedModel> model = readGgufModel(file, path, {}, diags);
  std::optional<ArraySource> source =
      model ? ArraySource::read(file, path, diags) : std::nullopt;
  if (!source)
    return std::nullopt;
  LlamaWeights weights;
  Decoder &decoder = weights.decoder = model->decoder;
  if (findFamily(decoder.family) != findFamily("llama")) {
    diags.reportFile(path, diag::OtherFamily, decoder.family);
    return std::nullopt;
  }
  for (const LayerKind &kind : decoder.kinds)
    if (kind.rotary.channels != decoder.headDim) {
      diags.reportFile(path, diag::PartlyRotated, kind.rotary.channels,
                       decoder.headDim);
      return std::nullopt;
    }
  weights.facts = factsOf(decoder);
  weights.queryRows = decoder.heads * decoder.headDim;
  weights.keyRows = decoder.keyHeads * decoder.headDim;
  StringSet<> known;
  forEachLlamaArray(decoder, [&](const DecoderWeight &weight, int64_t layer) {
    std::string name = arrayName(WeightFormat::Gguf, weight, layer);
    known.insert(name);
    weights.arrays.push_back(*source->find(name));
  });
  for (const ImportedWeight &weight : model->weights)
    if (!known.contains(weight.array)) {
      diags.reportFile(path, diag::UnknownArray, weight.array);
      return std::nullopt;
    }
  return weights;
}

static std::optional<LlamaWeights> readNamed(StringRef path,
                                             WeightFormat format,
                                             const LlamaHints &hints,
                                             Diagnostics &diags) {
  std::optional<LlamaSource> source = openSource(path, format, diags);
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
  const LlamaConfig &config = source->config;
  weights->decoder.ropeStyle = ropeStyleOf(config.facts).value_or(usual);
  weights->facts = config.facts;
  if (!applySizes(*weights, hints.sizes, path, diags) ||
      !applySizes(*weights, config.sizes, path, diags))
    return std::nullopt;
  return weights;
}

static std::optional<LlamaWeights> readFormat(StringRef path,
                                              WeightFormat format,
                                              const LlamaHints &hints,
                                              Diagnostics &diags) {
  bool isNamed =
      format == WeightFormat::Anec || format == WeightFormat::HuggingFace;
  if (isNamed)
    return readNamed(path, format, hints, diags);
  MappedFile file = mapFile(path, diags);
  if (!file)
    return std::nullopt;
  if (isPyTorchFile(file)) {
    diags.reportFile(path, diag::PyTorchFile);
    return std::nullopt;
  }
  std::optional<LlamaWeights> weights;
  if (format == WeightFormat::Gguf)
    weights = weightsOfGguf(file, path, diags);
  else if (std::optional<Llama2cFile> contents = readLlama2c(file, path, diags))
    weights = weightsOfLlama2c(*contents);
  if (weights && !applySizes(*weights, hints.sizes, path, diags))
    return std::nullopt;
  return weights;
}

std::optional<LlamaWeights> anec::readLlamaWeights(StringRef path,
                                                   WeightFormat format,
                                                   const LlamaHints &hints,
                                                   Diagnostics &diags) {
  std::optional<LlamaWeights> weights = readFormat(path, format, hints, diags);
  if (!weights || !findHeadDim(*weights, path, diags) ||
      !applyFacts(*weights, hints, path, diags))
    return std::nullopt;
  weights->format = format;
  if (weights->decoder.hasClassifier && hints.hasClassifier == false) {
    diags.reportFile(path, diag::UntiedClassifier, hints.source);
    return std::nullopt;
  }
  return weights;
}
