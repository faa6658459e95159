//===- Export.cpp - weights back in a folder of Hugging Face's -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExportedWeights.h"
#include "TextModel.h"
#include "anec/Import/Diags.h"
#include "anec/Import/Import.h"
#include "anec/Support/AtomicFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

/// config.json as it was imported, but for the element type.
static ConfigText configFor(ConfigText config, ArrayRef<PlannedArray> arrays) {
  static constexpr std::pair<DType, StringLiteral> spellings[] = {
      {DType::FP32, "float32"},
      {DType::FP16, "float16"},
      {DType::BF16, "bfloat16"}};
  for (StringRef key : {"torch_dtype", "dtype"})
    for (const auto &[dtype, spelled] : spellings)
      if (arrays.front().type.dtype == dtype)
        config.set(key, spelled);
  return config;
}

static bool copyTokenizer(StringRef from, StringRef to, AtomicFiles &files,
                          Diagnostics &diags) {
  static constexpr StringLiteral names[] = {"tokenizer.json",
                                            "tokenizer_config.json",
                                            "tokenizer.model",
                                            "vocab.json",
                                            "merges.txt",
                                            "added_tokens.json",
                                            "special_tokens_map.json",
                                            "chat_template.jinja",
                                            "chat_template.json",
                                            "generation_config.json"};
  bool isAny = false;
  for (StringRef name : names) {
    SmallString<128> path(from);
    sys::path::append(path, name);
    if (!sys::fs::exists(path))
      continue;
    MappedFile file = mapFile(path, diags);
    OutputFile *copy = file ? files.add(to, name) : nullptr;
    if (!copy)
      return false;
    *copy << file->getBuffer();
    isAny = true;
  }
  if (!isAny)
    diags.reportFile(from, diag::NoTokenizerFiles);
  return isAny;
}

bool anec::exportModel(StringRef weights, StringRef names, StringRef tokenizer,
                       StringRef folder, Diagnostics &diags) {
  std::optional<NamesFile> map = NamesFile::read(names, diags);
  if (!map)
    return false;
  const json::Object *config = map->names.getObject("config");
  if (!config) {
    map->reportBad("it has no object `config`, as the maps of models from "
                   "Hugging Face's folders have; the weights of a GGUF file go "
                   "to another one with `--like=FILE.gguf`",
                   diags);
    return false;
  }
  Decoder decoder;
  if (!readDecoder(*config, names, map->ignoredKeys, decoder, diags))
    return false;
  std::optional<ArraySource> arrays = ArraySource::open(weights, diags);
  std::optional<std::vector<ImportedWeight>> known =
      arrays ? weightsIn(*map, decoder, diags) : std::nullopt;
  if (known)
    for (ImportedWeight &weight : *known)
      weight.array = nameInTextModel(weight.array);
  std::optional<std::vector<PlannedArray>> planned =
      known ? planArrays(decoder, *known, "`config.json`", *map, *arrays, diags)
            : std::nullopt;
  if (!planned)
    return false;

  AtomicFiles files(diags);
  OutputFile *out = files.add(folder, "model.safetensors");
  OutputFile *text = out ? files.add(folder, "config.json") : nullptr;
  if (!text)
    return false;
  bool isWritten = writeSafetensors(*out, *planned, {{"format", "pt"}});
  assert(isWritten && "floats have codes");
  (void)isWritten;
  *text << configFor(map->config, *planned).str() << '\n';
  if (!tokenizer.empty() && !copyTokenizer(tokenizer, folder, files, diags))
    return false;
  return files.commit();
}
