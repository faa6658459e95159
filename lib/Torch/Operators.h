//===- Operators.h - the operators of PyTorch -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_OPERATORS_H
#define ANEC_LIB_TORCH_OPERATORS_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace anec {

/// What becomes of an operator of PyTorch.
struct TorchOperator {
  llvm::StringRef name; ///< `aten.add.Tensor`
  bool isRead = false;
  /// What is not read of it, or why it is not read; may be empty.
  llvm::StringRef remark;
};

/// All that are known, by name.
std::vector<TorchOperator> torchOperators();

} // namespace anec

#endif // ANEC_LIB_TORCH_OPERATORS_H
