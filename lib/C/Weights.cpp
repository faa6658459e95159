//===- Weights.cpp - weights with adapters by the C API -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Outputs.h"
#include "lib/Package/MergeAdapters.h"
#include "lib/Support/Endings.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::c;

anec_status anec_merge_options_init(anec_merge_options *options,
                                    size_t struct_size) {
  return init(options, struct_size);
}

bool c::checkEnding(llvm::StringRef output,
                    llvm::ArrayRef<llvm::StringRef> files, Diagnostics &diags) {
  return closestEnding(output, files).empty() ||
         refuse("output", wrongEnding(output, files), diags);
}

ModelFolderOptions c::folderOf(const char *tokenizer, uint64_t shardSize) {
  ModelFolderOptions folder;
  folder.tokenizer = orEmpty(tokenizer).str();
  if (shardSize)
    folder.shardSize = shardSize;
  return folder;
}

anec_status anec_merge(const char *package, const char *adapter,
                       const char *output, const anec_merge_options *options,
                       anec_diagnostics *diags) try {
  Call call(diags);
  if (!package || !adapter || !output)
    return call.refuseNull(!package   ? "package"
                           : !adapter ? "adapter"
                                      : "output");
  std::optional<anec_merge_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  Diagnostics &own = call.diagnostics();
  constexpr llvm::StringRef files[] = {".gguf", ".safetensors"};
  if (!checkEnding(output, files, own))
    return call.end(false);
  if ((given->tokenizer || given->shard_size) &&
      llvm::is_contained(files, llvm::sys::path::extension(output)))
    return call.refuse(given->tokenizer ? "tokenizer" : "shard_size",
                       "it is for an output that is a folder");
  std::optional<ModelPackage> compiled =
      readPackage(package, own, PackageCheck::Presence);
  WeightOptions weights;
  weights.source = orEmpty(given->weights).str();
  weights.mapping = orEmpty(given->weight_map).str();
  weights.adapter = adapter;
  weights.program = package;
  return call.end(compiled &&
                  mergeAdapters(*compiled, weights, output,
                                folderOf(given->tokenizer, given->shard_size),
                                own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
