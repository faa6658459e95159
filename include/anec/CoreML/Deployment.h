//===- Deployment.h - systems that Core ML packages are for -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_COREML_DEPLOYMENT_H
#define ANEC_COREML_DEPLOYMENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

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

} // namespace anec

#endif // ANEC_COREML_DEPLOYMENT_H
