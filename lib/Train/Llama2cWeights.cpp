//===- Llama2cWeights.cpp - llama2.c's file of weights --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What is written is version 0: seven 32-bit integers, then fp32 arrays; the
/// arrays of one role for all layers are consecutive. A negative vocabulary
/// size means that a separate classifier follows at the end. Before it are two
/// tables of the angles of the rotary embedding, which current programs ignore.
///
//===----------------------------------------------------------------------===//

#include "LlamaFormats.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace llvm;

const ModelFacts &anec::factsOfLlama2c() {
  static const ModelFacts facts = ModelFacts::from({
      {fact::ropeTheta.str(), "10000"},
      {fact::ropeScaling.str(), "none"},
      {fact::rmsNormEps.str(), "1e-05"},
  });
  return facts;
}

void anec::forEachLlamaArray(int64_t layers, bool tied,
                             function_ref<void(LlamaRole, int64_t)> visit) {
  for (unsigned index = 0; index < llamaRoles; ++index) {
    LlamaRole role = LlamaRole(index);
    if (role == LlamaRole::Classifier && tied)
      continue;
    for (int64_t layer = 0, end = isOfLayer(role) ? layers : 1; layer < end;
         ++layer)
      visit(role, layer);
  }
}

LlamaWeights anec::llamaWeightsOf(const Llama2cFile &file) {
  LlamaWeights weights;
  weights.facts = factsOfLlama2c();
  weights.dim = weights.queryRows = file.dim;
  weights.hidden = file.hidden;
  weights.layers = file.layers;
  weights.heads = file.heads;
  weights.keyHeads = file.keyHeads;
  weights.keyRows = file.keyRows();
  weights.vocab = file.vocab;
  weights.positions = file.positions;
  weights.tied = file.tied;
  StringMap<const StoredArray *> arrays;
  for (const auto &[name, array] : file.arrays)
    arrays[name] = &array;
  forEachLlamaArray(weights.layers, weights.tied,
                    [&](LlamaRole role, int64_t layer) {
                      weights.arrays[unsigned(role)].push_back(
                          *arrays.at(llama2cName(role, layer)));
                    });
  return weights;
}

/// cos and sin of position times theta^(-2i / width), for each pair i.
static void writeTables(int64_t positions, int64_t width, raw_ostream &out) {
  for (double (*function)(double) : {static_cast<double (*)(double)>(std::cos),
                                     static_cast<double (*)(double)>(std::sin)})
    for (int64_t position = 0; position < positions; ++position)
      for (int64_t i = 0; i < width / 2; ++i) {
        double turn = std::pow(10000.0, -2.0 * double(i) / double(width));
        support::endian::write<float>(
            out, float(function(double(position) * turn)), endianness::little);
      }
}

void anec::writeLlama2c(const LlamaWeights &weights,
                        function_ref<ConstantRef(LlamaRole, int64_t)> arrayOf,
                        raw_ostream &out) {
  for (int64_t field :
       {weights.dim, weights.hidden, weights.layers, weights.heads,
        weights.keyHeads, weights.tied ? weights.vocab : -weights.vocab,
        weights.positions})
    support::endian::write<int32_t>(out, int32_t(field), endianness::little);
  forEachLlamaArray(
      weights.layers, weights.tied, [&](LlamaRole role, int64_t layer) {
        writeElements(out, *declaredAs(arrayOf(role, layer), DType::FP32));
        // The tables come before the classifier.
        if (role == LlamaRole::Norm)
          writeTables(weights.positions, weights.dim / weights.heads, out);
      });
}
