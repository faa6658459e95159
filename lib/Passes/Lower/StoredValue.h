//===- StoredValue.h - arrays of the program --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LOWER_STOREDVALUE_H
#define ANEC_LIB_PASSES_LOWER_STOREDVALUE_H

#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Shape.h"

namespace anec {

/// Whether the value is an array of the program: a weight or constant, or one
/// in another layout, which becomes a record of its own and costs nothing.
inline bool isStored(const Value &value) {
  const Op *op = value.definingOp();
  while (op && (op->is(ops::Reshape) || op->is(ops::Transpose)))
    op = op->operand(0u)->definingOp();
  return op && op->def().has(trait::Stored);
}

} // namespace anec

#endif // ANEC_LIB_PASSES_LOWER_STOREDVALUE_H
