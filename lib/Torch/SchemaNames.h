//===- SchemaNames.h - the operators with a schema --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_SCHEMANAMES_H
#define ANEC_LIB_TORCH_SCHEMANAMES_H

#include <algorithm>
#include <string_view>

namespace anec::torch {

/// Sorted.
inline constexpr std::string_view schemaNames[] = {
#define SCHEMA(OP, PARAMETERS) OP,
#include "Schemas.def"
};

/// Whether the parameters of an operator are known. Functions of Python and
/// control flow have none.
constexpr bool hasSchema(std::string_view op) {
  bool isDeclared = op.starts_with("aten.") || op.starts_with("torchvision.") ||
                    op.starts_with("quantized_decomposed.");
  return !isDeclared ||
         std::binary_search(std::begin(schemaNames), std::end(schemaNames), op);
}

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_SCHEMANAMES_H
