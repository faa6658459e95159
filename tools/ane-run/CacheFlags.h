//===- CacheFlags.h - flags of models that are imported ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_CACHEFLAGS_H
#define ANEC_TOOLS_ANE_RUN_CACHEFLAGS_H

#include "../NumberFlag.h"
#include "anec/Support/Diagnostics.h"
#include "lib/Generate/TrainedModel.h"
#include "lib/Import/ModelCache.h"
#include "lib/Support/TemporaryFolder.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// The folder that keeps packages of imported models: ANEC_CACHE, or the usual
/// place of the system.
std::string modelCacheFolder();

/// `word` as a shell reads it again.
std::string quoted(const std::string &word);

/// Imported models, compiled to the folder that keeps their packages, or to a
/// temporary one where that cannot be written.
class CachedModels {
public:
  /// The package of the model at `source`. Of `options`, the folder and the
  /// compiler are set here. `isVerbose` prints the commands that compile it.
  [[nodiscard]] std::optional<ReadyModel> ready(llvm::StringRef source,
                                                ModelCacheOptions options,
                                                bool isQuiet, bool isVerbose,
                                                Diagnostics &diags);

private:
  std::shared_ptr<TemporaryFolder> temporary;
};

/// How a folder or a file is imported and compiled before it is run.
struct CacheFlags {
  /// The error in the flags, if `path` is the model; empty when they are valid.
  std::string check(llvm::StringRef path) const;
  /// Where `source` names a model to import, makes it name a package of it.
  /// Returns false, with the reason reported, when there is none. `onProcessor`
  /// says that the CPU backend runs it, which takes all forms of weights.
  [[nodiscard]] bool prepare(TrainedModelSource &source, bool onProcessor,
                             bool isQuiet, Diagnostics &diags) const;

  WholeFlag<int64_t> context{
      "context", llvm::cl::value_desc("N"),
      llvm::cl::desc("Positions of a text, with a FOLDER or a GGUF file "
                     "(from 2 to 8192; default: those of the model, at most "
                     "4096)")};
  llvm::cl::opt<bool> verbose{
      "verbose",
      llvm::cl::desc("With a FOLDER or a GGUF file, print the commands that "
                     "compile it")};

private:
  mutable CachedModels models;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_CACHEFLAGS_H
