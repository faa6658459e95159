//===- ModelExecutable.h - a model with arrays of its own -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H
#define ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H

#include "LoadedModel.h"

namespace anec::coreml {

class ModelExecutable : public Executable {
public:
  /// Returns null, with the reason reported, when the model makes no states.
  [[nodiscard]] static std::unique_ptr<ModelExecutable>
  make(std::shared_ptr<LoadedModel> model, const WrittenPackage &package,
       uint64_t constantBytes, Diagnostics &diags);

  bool writeInput(unsigned port, const Region &region, const float *elements,
                  Diagnostics &diags) override;
  bool readOutput(unsigned port, const Region &region, float *elements,
                  Diagnostics &diags) override;
  bool execute(Diagnostics &diags) override;
  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &diags) override;
  bool setState(unsigned index, llvm::ArrayRef<uint8_t> elements,
                Diagnostics &diags) override;
  bool getState(unsigned index, llvm::MutableArrayRef<uint8_t> elements,
                Diagnostics &diags) override;
  uint64_t constantBytes() const override { return weightBytes; }
  /// The bytes of inputs and outputs; Core ML's other memory is not known.
  uint64_t activationBytes() const override;

private:
  ModelExecutable() = default;

  // Destroyed in reverse order: the state before its model.
  std::shared_ptr<LoadedModel> model;
  Retained<id<MlState>> state;
  std::vector<HostArray> inputArrays, outputArrays;
  uint64_t weightBytes = 0;
};

} // namespace anec::coreml

#endif // ANEC_LIB_RUNTIME_COREML_MODELEXECUTABLE_H
