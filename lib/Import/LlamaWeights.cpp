//===- LlamaWeights.cpp - the weights of a Llama in any form --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LlamaWeights.h"
#include "GgufConfig.h"
#include "ImportedWeights.h"
#include "Llama2cModel.h"
#include "lib/Arrays/Safetensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace llvm;

void anec::forEachLlamaArray(
    const Decoder &decoder,
    function_ref<void(const DecoderWeight &, int64_t)> visit) {
  std::vector<DecoderWeight> weights = weightsOf(decoder);
  for (const ArrayName &row : llama2cArrays())
    for (const DecoderWeight &weight : weights)
      if (weight.role == row.role)
        for (int64_t layer = 0; layer < weight.count(decoder); ++layer)
          visit(weight, layer);
}

DecoderWeight anec::llamaWeight(StringRef model, WeightRole role) {
  Decoder decoder;
  decoder.family = model.str();
  decoder.hasClassifier = true;
  for (DecoderWeight &weight : weightsOf(decoder))
    if (weight.role == role)
      return std::move(weight);
  llvm_unreachable("not a role of a Llama");
}

std::string anec::arrayName(WeightFormat format, const DecoderWeight &weight,
                            int64_t layer) {
  switch (format) {
  case WeightFormat::Anec:
    return weight.nameOf(layer);
  case WeightFormat::HuggingFace: {
    const Family &family = *findFamily("llama");
    return arrayName(family.arrays, weight.role, layer, family.prefix);
  }
  case WeightFormat::Llama2c:
    return arrayName({llama2cArrays(), {}}, weight.role, layer, "");
  case WeightFormat::Gguf:
    return arrayName({ggufArrays(), {}}, weight.role, layer, "");
  }
  llvm_unreachable("not a format");
}

std::optional<RopeStyle> anec::ropeStyleOf(const ModelFacts &facts) {
  std::optional<std::string> known = facts.only(fact::ropeStyle);
  return known ? parseWord<RopeStyle>(*known) : std::nullopt;
}

WeightFormat anec::guessWeightFormat(StringRef path) {
  if (path.ends_with(".bin"))
    return WeightFormat::Llama2c;
  if (sys::fs::is_directory(path))
    return WeightFormat::HuggingFace;
  // Errors in the file are reported when it is read.
  Diagnostics ignored;
  MappedFile file = mapFile(path, ignored);
  if (file && isGguf(file))
    return WeightFormat::Gguf;
  std::optional<Safetensors> contents =
      file ? readSafetensors(file, path, ignored) : std::nullopt;
  bool isTheirs =
      contents && llvm::any_of(contents->arrays, [](const NamedArray &named) {
        return StringRef(named.name).starts_with("model.layers.");
      });
  return isTheirs ? WeightFormat::HuggingFace : WeightFormat::Anec;
}

WeightFormat anec::formatToWrite(StringRef path) {
  if (path.ends_with(".bin"))
    return WeightFormat::Llama2c;
  return path.ends_with(".safetensors") ? WeightFormat::Anec
                                        : WeightFormat::HuggingFace;
}
