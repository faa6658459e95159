//===- OperationNames.h - ops as Core ML's compiler names them --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_OPERATIONNAMES_H
#define ANEC_LIB_COREML_OPERATIONNAMES_H

#include "anec/IR/IR.h"

namespace anec::coreml {

/// The name of an op in the histogram of a compiled model, such as
/// `Ios17.sliceByIndex`: with the opset of the form that a function of `opset`
/// (`ios17` is 17) gets, if the op has several. `def` is null for an op that
/// the IR lacks.
std::string histogramName(llvm::StringRef name, const OpDef *def,
                          unsigned opset);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_OPERATIONNAMES_H
