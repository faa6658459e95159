//===- Operators.h - the operators of ONNX ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPERATORS_H
#define ANEC_LIB_ONNX_OPERATORS_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace anec {

/// What becomes of an operator of ONNX.
struct OnnxOperator {
  llvm::StringRef name;
  /// Empty for ONNX's own.
  llvm::StringRef domain;
  bool isRead = false;
  /// The first version of the operator set that has it.
  int since = 1;
  /// What is not read of it, or why it is not read; may be empty.
  llvm::StringRef remark;
};

/// All that are known, by domain and name.
std::vector<OnnxOperator> onnxOperators();

} // namespace anec

#endif // ANEC_LIB_ONNX_OPERATORS_H
