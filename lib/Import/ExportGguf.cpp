//===- ExportGguf.cpp - weights back in a GGUF file -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ExportedWeights.h"
#include "ImportedModel.h"
#include "lib/Arrays/GgufWriter.h"
#include "lib/Import/Diags.h"
#include "lib/Support/AtomicFile.h"

using namespace anec;
using namespace llvm;

bool anec::exportGguf(StringRef weights, StringRef names, StringRef like,
                      StringRef path, Diagnostics &diags) {
  std::optional<NamesFile> map = NamesFile::read(names, diags);
  MappedFile file = map ? mapFile(like, diags) : nullptr;
  if (!file)
    return false;
  ImportOptions options;
  options.ignoredKeys = map->ignoredKeys;
  std::optional<GgufFile> contents = readGguf(file, like, diags);
  std::optional<ImportedModel> model =
      contents ? readGgufModel(file, like, options, diags) : std::nullopt;
  if (!model)
    return false;
  for (const ImportedWeight &weight : model->weights)
    if (map->names.getString(weight.name) != StringRef(weight.array)) {
      map->reportBad("it is not of `" + like + "`, where `" + weight.name +
                         "` is `" + weight.array + "`",
                     diags);
      return false;
    }
  std::optional<ArraySource> arrays = ArraySource::open(weights, diags);
  std::optional<std::vector<PlannedArray>> trained =
      arrays ? planArrays(model->decoder, model->weights,
                          "`" + like.str() + "`", *map, *arrays, diags)
             : std::nullopt;
  if (!trained)
    return false;
  AtomicFiles files(diags);
  OutputFile *out = files.add(path);
  if (!out)
    return false;
  writeGgufLike(*out, std::move(*contents), *trained);
  return files.commit();
}
