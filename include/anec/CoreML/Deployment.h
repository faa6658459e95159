//===- Deployment.h - systems that Core ML packages are for -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_COREML_DEPLOYMENT_H
#define ANEC_COREML_DEPLOYMENT_H

#include "anec/IR/DType.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace anec {

/// The oldest systems that load a package, and what it may have.
struct Deployment {
  llvm::StringLiteral macOS; ///< `macos13`
  llvm::StringLiteral iOS;   ///< `ios16`, also the opset in MIL text
  llvm::StringLiteral opset; ///< `CoreML6`, the opset in packages
  int specification;         ///< the version of the model's specification
};

/// In the order of their versions.
llvm::ArrayRef<Deployment> deployments();
/// The row called `macos13` or `ios16`; null when there is none.
const Deployment *findDeployment(llvm::StringRef name);
/// The row of an opset in MIL text.
const Deployment *deploymentOfOpset(llvm::StringRef opset);

/// The form that a program gets in a package.
struct CoreMLForm {
  /// The oldest systems that load the package; null for those of the newest
  /// opset of a function.
  const Deployment *deployment = nullptr;
  /// The type of floats of inputs and outputs, fp16 or fp32, with casts in the
  /// program; unset for their own, but fp32 for macos12.
  std::optional<DType> floats;
  /// A package or model that the module was read from, and of which at most
  /// weights have changed: where its inputs can have several shapes, they still
  /// can. Empty for the one shape that the program has.
  std::string shapesOf = "";
};

} // namespace anec

#endif // ANEC_COREML_DEPLOYMENT_H
