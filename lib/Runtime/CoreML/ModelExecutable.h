//===- ModelExecutable.h - a model with arrays of its own -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H
#define ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H

#include "../Apple/ArrayExecutable.h"
#include "LoadedModel.h"

namespace anec::coreml {

class ModelExecutable : public ArrayExecutable {
public:
  /// Returns null, with the reason reported, when the model makes no states.
  [[nodiscard]] static std::unique_ptr<ModelExecutable>
  make(std::shared_ptr<LoadedModel> model, const WrittenPackage &package,
       uint64_t constantBytes, Diagnostics &diags);

  [[nodiscard]] bool setState(unsigned index, llvm::ArrayRef<uint8_t> elements,
                              Diagnostics &diags) override;
  [[nodiscard]] bool getState(unsigned index,
                              llvm::MutableArrayRef<uint8_t> elements,
                              Diagnostics &diags) override;

protected:
  [[nodiscard]] bool compute(llvm::ArrayRef<HostArray> inputs,
                             llvm::MutableArrayRef<HostArray> outputs,
                             Diagnostics &diags) override;
  void reportUnwritten(llvm::StringRef output,
                       Diagnostics &diags) const override;

private:
  using ArrayExecutable::ArrayExecutable;

  // Destroyed in reverse order: the state before its model.
  std::shared_ptr<LoadedModel> model;
  Retained<id<MlState>> state;
};

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H
