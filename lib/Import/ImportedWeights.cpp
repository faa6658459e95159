//===- ImportedWeights.cpp - which array is which weight ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ImportedWeights.h"
#include "lib/Import/Diags.h"

using namespace anec;
using namespace llvm;

std::string anec::arrayName(const ArrayNames &names, WeightRole role,
                            int64_t layer, StringRef prefix) {
  StringRef pattern = names.of(role);
  bool isBeside =
      role == WeightRole::Classifier || role == WeightRole::ClassifierBias;
  auto [before, after] = pattern.split('#');
  std::string text = (isBeside ? "" : prefix).str() + before.str();
  if (before.size() < pattern.size())
    text += std::to_string(layer);
  return text + after.str();
}

bool anec::isDecoderAlone(const ArrayNames &names, const ArraySource &arrays) {
  return arrays.find(arrayName(names, WeightRole::Embedding, 0, "")) != nullptr;
}

/// The weights of `decoder`, with the arrays that `arrayOf` gives them.
static std::vector<ImportedWeight>
allWeights(const Decoder &decoder,
           function_ref<std::string(const DecoderWeight &, int64_t)> arrayOf) {
  std::vector<ImportedWeight> weights;
  for (const DecoderWeight &weight : weightsOf(decoder))
    for (int64_t layer = 0; layer < weight.count(decoder); ++layer)
      weights.push_back(
          {weight.nameOf(layer), arrayOf(weight, layer), weight.shape()});
  return weights;
}

std::vector<ImportedWeight> anec::weightInstances(const Decoder &decoder) {
  return allWeights(decoder, [](const DecoderWeight &weight, int64_t layer) {
    return weight.nameOf(layer);
  });
}

std::vector<ImportedWeight> anec::matchWeights(const ArrayNames &names,
                                               const Decoder &decoder,
                                               StringRef prefix) {
  return allWeights(decoder, [&](const DecoderWeight &weight, int64_t layer) {
    return arrayName(names, weight.role, layer, prefix);
  });
}

/// Arrays that files have besides the weights, and that no model reads: tables
/// of angles, masks, and a classifier that is the embedding.
static bool isUnread(StringRef array) {
  static constexpr StringLiteral endings[] = {"rotary_emb.inv_freq",
                                              "attn.bias", "attn.masked_bias",
                                              "attn_rot_embd.weight"};
  return array == "lm_head.weight" ||
         any_of(endings, [&](StringRef end) { return array.ends_with(end); });
}

bool anec::checkWeights(ArrayRef<ImportedWeight> weights, StringRef description,
                        ArrayRef<std::string> others, const ArraySource &arrays,
                        Diagnostics &diags) {
  static constexpr unsigned mostErrors = 10;
  unsigned errors = 0;
  StringSet<> known;
  for (const std::string &name : others)
    known.insert(name);
  for (const ImportedWeight &weight : weights) {
    known.insert(weight.array);
    if (errors >= mostErrors)
      return false;
    const StoredArray *array = arrays.find(weight.array);
    if (!array) {
      diags.reportFile(arrays.path(), diag::WeightArrayMissing, weight.array,
                       weight.name);
      ++errors;
    } else if (array->type().shape != weight.shape ||
               !isFloat(array->type().dtype)) {
      diags.reportFile(arrays.path(), diag::WeightArrayShape, weight.array,
                       array->type().str(), description,
                       shapeToString(weight.shape));
      ++errors;
    }
  }
  // An array that is left over changes what a model computes.
  for (StringRef name : arrays.names())
    if (errors < mostErrors && !known.contains(name) && !isUnread(name)) {
      diags.reportFile(arrays.path(), diag::ArrayNotOfModel, name, description);
      ++errors;
    }
  return errors == 0;
}
