//===- Inference.h - types that Core ML infers ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_INFERENCE_H
#define ANEC_LIB_COREML_INFERENCE_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"

namespace anec::coreml {

/// Whether Core ML infers the declared types of all values of the function, and
/// takes their ranks. Reports those that it does not: the package would be
/// refused when it is loaded.
[[nodiscard]] bool checkInference(const Function &function, Diagnostics &diags);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_INFERENCE_H
