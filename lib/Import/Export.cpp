//===- Export.cpp - weights back in a folder of Hugging Face's -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExportedWeights.h"
#include "TextModel.h"
#include "lib/Import/Diags.h"
#include "lib/Import/Import.h"
#include "lib/Support/AtomicFile.h"

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

bool anec::exportModel(StringRef weights, StringRef names,
                       const ModelFolderOptions &options, StringRef folder,
                       Diagnostics &diags) {
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
  if (!addModelArrays(files, folder, *planned, {{"format", "pt"}},
                      options.shardSize, diags))
    return false;
  OutputFile *text = files.add(folder, "config.json");
  if (!text)
    return false;
  *text << configFor(map->config, *planned).str() << '\n';
  return addTextFiles(files, folder, options, *config, diags) && files.commit();
}
