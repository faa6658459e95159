//===- Signatures.h - the operators with a signature ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_SIGNATURES_H
#define ANEC_LIB_ONNX_SIGNATURES_H

#include <algorithm>
#include <string_view>

namespace anec::onnx {

// Sorted. A file of rows undefines the macro.
#define SIGNATURE(OP, ...) #OP,
inline constexpr std::string_view onnxNames[] = {
#include "Signatures.def"
};
#define SIGNATURE(OP, ...) #OP,
inline constexpr std::string_view microsoftNames[] = {
#include "Microsoft/Signatures.def"
};

/// Whether an operator is in one of the tables of signatures.
constexpr bool hasSignature(std::string_view op) {
  return std::binary_search(std::begin(onnxNames), std::end(onnxNames), op) ||
         std::binary_search(std::begin(microsoftNames),
                            std::end(microsoftNames), op);
}

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_SIGNATURES_H
