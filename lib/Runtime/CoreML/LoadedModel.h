//===- LoadedModel.h - a model that Core ML loaded --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_LOADEDMODEL_H
#define ANEC_LIB_RUNTIME_COREML_LOADEDMODEL_H

#include "../Apple/FrameworkError.h"
#include "../Apple/MultiArray.h"
#include "../Apple/Retained.h"
#include "CoreMLFramework.h"
#include "WrittenPackage.h"
#include <mutex>

namespace anec::coreml {

using namespace apple;

/// Reports that a call failed. There is no text to show a place in.
void reportFailure(Stage stage, const FrameworkError &error,
                   Diagnostics &diags);

/// A folder `.mlmodelc` that Core ML compiled a package to; removed with it.
class CompiledModel {
public:
  /// Returns nothing, with the reason reported, on failure.
  [[nodiscard]] static std::optional<CompiledModel>
  compile(llvm::StringRef package, Diagnostics &diags);
  CompiledModel(CompiledModel &&other) noexcept
      : path(std::exchange(other.path, "")) {}
  CompiledModel &operator=(CompiledModel &&) = delete;
  ~CompiledModel();

  NSURL *url() const;

private:
  explicit CompiledModel(std::string path) : path(std::move(path)) {}
  std::string path;
};

/// A model and the arrays that one run of it reads and writes. Executables with
/// equal programs share it.
class LoadedModel {
public:
  /// Returns null, with the reason reported, on failure, or when the model's
  /// description is not that of the package.
  [[nodiscard]] static std::shared_ptr<LoadedModel>
  load(const WrittenPackage &package, const CoreMLBackendOptions &options,
       Diagnostics &diags);

  /// Runs once, from `inputs` to `outputs`; `state` may be nil.
  [[nodiscard]] bool predict(llvm::ArrayRef<HostArray> inputs,
                             llvm::MutableArrayRef<HostArray> outputs,
                             id<MlState> state, Diagnostics &diags);
  /// Zeros for all states of the model; empty, with the reason reported, on
  /// failure.
  [[nodiscard]] Retained<id<MlState>> makeState(Diagnostics &diags);

private:
  LoadedModel(CompiledModel compiled, id<MlModel> model)
      : compiled(std::move(compiled)), model(model) {}

  CompiledModel compiled;
  Retained<id<MlModel>> model;
  std::mutex use; ///< held while the model runs
};

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_LOADEDMODEL_H
