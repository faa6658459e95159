//===- Llama2cWeights.cpp - llama2.c's file of weights --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Seven 32-bit integers, then fp32 arrays; the arrays of one role for all
/// layers are consecutive. A negative vocabulary size means that a separate
/// classifier follows at the end. Before it are two tables of the angles of the
/// rotary embedding, which current programs ignore.
///
//===----------------------------------------------------------------------===//

#include "LlamaFormats.h"
#include "anec/Arrays/StoredAs.h"
#include "anec/Train/Diags.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace llvm;

static constexpr size_t headerSize = 7 * 4;

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

/// Reads the header. Returns the reason why it is invalid, or an empty string.
static std::string readHeader(StringRef bytes, LlamaWeights &weights) {
  if (bytes.size() < headerSize)
    return "it ends within its header";
  int64_t fields[7];
  for (unsigned i = 0; i < 7; ++i)
    fields[i] = int32_t(support::endian::read32le(bytes.data() + 4 * i));
  // "ak42"
  if (fields[0] == 0x616b3432)
    return "it is of version " + std::to_string(fields[1]) +
           " of the format, and version 0 is what can be read";
  weights.tied = fields[5] > 0;
  fields[5] = std::abs(fields[5]);
  static constexpr StringLiteral names[] = {
      "dim",        "hidden_dim", "n_layers", "n_heads",
      "n_kv_heads", "vocab_size", "seq_len"};
  for (unsigned i = 0; i < 7; ++i)
    if (fields[i] <= 0 || fields[i] > (1 << 24))
      return "its " + names[i].str() + " is " + std::to_string(fields[i]);
  weights.dim = fields[0];
  weights.hidden = fields[1];
  weights.layers = fields[2];
  weights.heads = fields[3];
  weights.keyHeads = fields[4];
  weights.vocab = fields[5];
  weights.positions = fields[6];
  if (weights.dim % (2 * weights.heads) || weights.heads % weights.keyHeads)
    return "its " + std::to_string(weights.heads) + " heads and " +
           std::to_string(weights.keyHeads) + " of keys do not divide " +
           std::to_string(weights.dim) + " channels";
  weights.queryRows = weights.dim;
  weights.keyRows = weights.dim / weights.heads * weights.keyHeads;
  return "";
}

std::optional<LlamaWeights>
anec::readLlama2c(const MappedFile &file, StringRef path, Diagnostics &diags) {
  auto fail = [&](const std::string &reason) {
    diags.reportFile(path, diag::BadLlama2c, reason);
    return std::nullopt;
  };
  LlamaWeights weights;
  weights.facts = factsOfLlama2c();
  ArrayRef<uint8_t> bytes = bytesOf(*file);
  std::string wrong = readHeader(file->getBuffer(), weights);
  if (!wrong.empty())
    return fail(wrong);

  // No overflow: sizes and the number of layers are below 2^24.
  auto bytesFor = [&](LlamaRole role) {
    uint64_t count = 4;
    for (int64_t extent : weights.shapeOf(role))
      count *= uint64_t(extent);
    return count;
  };
  uint64_t tables =
      uint64_t(weights.positions) * (weights.dim / weights.heads) * 4;
  double wanted = headerSize;
  forEachLlamaArray(1, weights.tied, [&](LlamaRole role, int64_t) {
    wanted += double(bytesFor(role)) * (isOfLayer(role) ? weights.layers : 1);
  });
  // With a tied classifier nothing follows the tables, and some writers omit
  // them.
  bool hasTables = !weights.tied || double(bytes.size()) != wanted;
  if (double(bytes.size()) != wanted + (hasTables ? double(tables) : 0)) {
    // The sizes of a hostile header add up to more than an integer holds.
    std::string all = formatv("{0:F0}", wanted + double(tables));
    return fail("it has " + std::to_string(bytes.size()) +
                " bytes, and its header asks for " + all);
  }

  uint64_t at = headerSize;
  forEachLlamaArray(weights.layers, weights.tied, [&](LlamaRole role, int64_t) {
    if (role == LlamaRole::Classifier)
      at += tables;
    uint64_t size = bytesFor(role);
    weights.arrays[unsigned(role)].push_back(
        Constant::view({DType::FP32, weights.shapeOf(role)}, DType::FP32,
                       bytes.slice(at, size), file));
    at += size;
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
