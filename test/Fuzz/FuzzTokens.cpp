//===- FuzzTokens.cpp - any bytes as a tokenizer or llama2.c's weights ----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, a tokenizer that opens encodes and decodes, and
/// weights that are read can be read to their last element. The first byte
/// chooses the reader.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/Text/Tokenizer.h"
#include "lib/Import/LlamaWeights.h"

using namespace anec;

static void fuzzTokenizer(llvm::StringRef name, llvm::ArrayRef<uint8_t> bytes) {
  Diagnostics diags;
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(fileOfBytes(name, bytes), diags);
  expectOneOf(bool(tokenizer), diags);
  if (!tokenizer)
    return;
  std::optional<std::vector<int32_t>> ids = tokenizer->encode(
      llvm::StringRef("One two, \xe2\x82\xac three\n\xff\0\x01"), diags);
  expectOneOf(ids.has_value(), diags);
  if (!ids)
    return;
  for (int32_t id : *ids)
    if (id < 0 || uint32_t(id) >= tokenizer->vocabulary())
      std::abort();
  ids->push_back(int32_t(tokenizer->vocabulary()) - 1);
  (void)tokenizer->decode(*ids, /*showMarkers=*/true);
}

static void fuzzWeights(llvm::ArrayRef<uint8_t> bytes) {
  Diagnostics diags;
  std::optional<LlamaWeights> weights = readLlamaWeights(
      fileOfBytes("weights.bin", bytes), WeightFormat::Llama2c, {}, diags);
  expectOneOf(weights.has_value(), diags);
  if (!weights)
    return;
  for (const StoredArray &array : weights->arrays)
    (void)array.get()->asDoubles();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  llvm::ArrayRef<uint8_t> bytes(data + 1, size - 1);
  switch (data[0] % 5) {
  case 0:
    fuzzTokenizer("tokenizer.bin", bytes);
    break;
  case 1:
    fuzzTokenizer("tokenizer.model", bytes);
    break;
  case 2: // by its content
    fuzzTokenizer("tokenizer", bytes);
    break;
  case 3:
    fuzzWeights(bytes);
    break;
  case 4:
    fuzzTokenizer("tokenizer.json", bytes);
    break;
  }
  return 0;
}
