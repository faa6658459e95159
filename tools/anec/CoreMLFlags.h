//===- CoreMLFlags.h - the flags of Core ML packages ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COREMLFLAGS_H
#define ANEC_TOOLS_ANEC_COREMLFLAGS_H

#include "../ChoiceFlag.h"
#include "anec/API/Compile.h"

namespace anec {

struct CoreMLFlags {
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  /// Adds them to `options`. Returns false, with the reason reported, when the
  /// description cannot be read.
  [[nodiscard]] bool read(CoreMLOptions &options, Diagnostics &diags) const;

  llvm::cl::opt<std::string> deployment{
      "deployment", llvm::cl::value_desc("macosN|iosN"),
      llvm::cl::desc("The oldest systems that load a Core ML package, macos12 "
                     "to macos26 or ios15 to ios26 (default: those of the "
                     "program's opset)")};
  ChoiceFlag<DType> interface {
    "interface",
        llvm::cl::desc("Floats of the inputs and outputs of a Core ML package "
                       "(default: as in the program):"),
        llvm::cl::values(clEnumValN(DType::FP16, "fp16", "half precision"),
                         clEnumValN(DType::FP32, "fp32",
                                    "single precision, with casts"))
  };
  llvm::cl::opt<std::string> describe{
      "describe", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("What a Core ML package says of itself, and which of its "
                     "inputs are images and outputs class labels "
                     "(docs/formats/coreml.md)")};
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COREMLFLAGS_H
