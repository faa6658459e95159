//===- ModelCache.h - imported models, compiled once ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Imports a language model that others have trained, and compiles it to a
/// package that decodes texts, at most once: packages are kept in a folder, the
/// cache, under a key of the model's files.
///
///   auto ready = anec::readyModel("Qwen3-0.6B", {cache}, diags);
///   if (ready)
///     TrainedModelSource source{.package = ready->package, ...};
///
/// Several processes can use one cache. An entry is three files and a folder
/// next to each other, each of which appears when it is complete:
/// NAME-KEY.tdsl, NAME-KEY.names.json, NAME-KEY.words and NAME-KEY.anepkg.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_MODELCACHE_H
#define ANEC_LIB_IMPORT_MODELCACHE_H

#include "anec/Passes/Adapters.h"
#include "anec/Support/Diagnostics.h"
#include "llvm/Support/Chrono.h"
#include <string>
#include <vector>

namespace anec {

/// Whether `path` is a folder in Hugging Face's layout, a GGUF file, or a
/// checkpoint of llama2.c, which importModel reads.
bool canImport(llvm::StringRef path);

struct ModelCacheOptions {
  std::string folder; ///< of the cache, which is created
  /// What distinguishes this compiler from others, whose packages it does not
  /// take.
  std::string compiler = "";
  /// Positions of a text. 0: those of the model, but at most `mostContext`.
  int64_t context = 0;
  int64_t mostContext = 4096;
  /// With adapters, the package trains them and has no weights of its own.
  /// Without, it decodes.
  std::optional<AdapterOptions> adapters = {};
  /// Weights that were unpacked from integers are stored as these again, by
  /// Quantization::isExact: nothing can replace them then, and engines refuse
  /// groups.
  bool keepsIntegers = false;
  /// Packages that were not used longest are removed above so many bytes,
  /// unless they were used lately.
  uint64_t mostBytes = uint64_t(20) << 30;
};

struct ReadyModel {
  std::string package;   ///< has weights and decodes, or trains adapters
  std::string program;   ///< the .tdsl that it is compiled from
  std::string mapping;   ///< of the names of its weights; see WeightOptions
  std::string tokenizer; ///< as openTokenizer takes it; empty without one
};

/// The place of the package of `path`, and whether it is there.
struct CachePlace {
  std::string stem; ///< the paths of the entry without their endings
  bool isReady = false;
};
/// Returns nothing, with the reason reported, when a file cannot be read.
[[nodiscard]] std::optional<CachePlace>
findInCache(llvm::StringRef path, const ModelCacheOptions &options,
            Diagnostics &diags);

/// Returns nothing, with the reason reported, when the model cannot be imported
/// or compiled, or the cache not be written.
[[nodiscard]] std::optional<ReadyModel>
readyModel(llvm::StringRef path, const ModelCacheOptions &options,
           Diagnostics &diags);

struct CachedModel {
  std::string name; ///< NAME-KEY
  uint64_t bytes = 0;
  llvm::sys::TimePoint<> used; ///< the last time
  /// Whether its package is there; another process may be compiling it.
  bool isReady = false;
  /// Whether it was used within the last hour, so that another process may
  /// still read it, or be making it.
  bool wasUsedLately() const {
    return used >= std::chrono::system_clock::now() - std::chrono::hours(1);
  }
};
/// The entries of a cache, those used last first; none if there is no cache.
std::vector<CachedModel> modelsInCache(llvm::StringRef folder);
/// Removes entries of the cache. Returns false, with the reason reported, when
/// one stays because something else is in it.
[[nodiscard]] bool removeFromCache(llvm::StringRef folder,
                                   llvm::ArrayRef<CachedModel> models,
                                   Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_IMPORT_MODELCACHE_H
