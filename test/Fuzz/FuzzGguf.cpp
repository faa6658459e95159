//===- FuzzGguf.cpp - any bytes as a model in one file --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, a GGUF file or a checkpoint of llama2.c that is read
/// has values and arrays that can be read to their last element; a program that
/// is imported from it has a weight for each of its names, and can be parsed;
/// and the weights of a Llama can be read as those.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/Arrays/ArraySource.h"
#include "anec/Formats/Source.h"
#include "anec/Text/Tokenizer.h"
#include "lib/Arrays/Gguf.h"
#include "lib/Import/Import.h"
#include "lib/Import/LlamaWeights.h"

using namespace anec;

static void touchMetadata(const GgufFile &file) {
  for (const auto &[key, value] : file.metadata) {
    if (value.text().empty() && !value.bytes.empty())
      std::abort();
    (void)value.getNumber();
    (void)value.getBool();
    if (auto strings = value.getStrings())
      if (strings->size() != value.count)
        std::abort();
    if (auto elements = value.getElements())
      for (const GgufValue &element : *elements)
        (void)element.getNumber();
  }
}

/// Reads all elements, unless they are more than a test has time for: packed
/// ones can be a hundred times as large as the file.
static void touchArrays(const ArraySource &arrays) {
  static constexpr int64_t most = 1 << 22;
  int64_t total = 0;
  for (llvm::StringRef name : arrays.names()) {
    const StoredArray &array = *arrays.find(name);
    total += array.type().numElements();
    if (total > most)
      return;
    (void)array.get()->asDoubles();
    if (isFloat(array.type().dtype))
      (void)array.get(DType::FP16)->asDoubles();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MappedFile file = llvm::MemoryBuffer::getMemBufferCopy(
      {reinterpret_cast<const char *>(data), size});
  if (isGguf(file)) {
    Diagnostics diags;
    std::optional<GgufFile> contents = readGguf(file, "fuzz.gguf", diags);
    expectOneOf(contents.has_value(), diags);
    if (contents)
      touchMetadata(*contents);
    Diagnostics converting;
    expectOneOf(readLlamaWeights(fileOfBytes("fuzz.gguf", {data, size}),
                                 WeightFormat::Gguf, {}, converting)
                    .has_value(),
                converting);
  }
  Diagnostics diags;
  std::optional<ArraySource> arrays =
      ArraySource::read(file, "fuzz.bin", diags);
  expectOneOf(arrays.has_value(), diags);
  if (arrays)
    touchArrays(*arrays);

  Diagnostics importing;
  std::string program = fuzzFolder().file("model.tdsl");
  bool isImported = importModel(fileOfBytes("fuzz.bin", {data, size}), program,
                                {}, importing);
  expectOneOf(isImported, importing);
  if (isImported) {
    Diagnostics reading;
    expectOneOf(readSourceFile(program, {}, reading) != nullptr, reading);
    if (reading.hasErrors())
      std::abort();
  }

  // A tokenizer that is written can be refused when it is read.
  Diagnostics words;
  ImportOptions options;
  options.tokenizer = fuzzFolder().file("words");
  if (importModel(fuzzFolder().file("fuzz.bin"), program, options, words)) {
    Diagnostics reading;
    std::unique_ptr<Tokenizer> tokenizer =
        openTokenizer(options.tokenizer, reading);
    expectOneOf(tokenizer != nullptr, reading);
    if (tokenizer)
      (void)tokenizer->encode("ab a b", reading);
  }
  return 0;
}
