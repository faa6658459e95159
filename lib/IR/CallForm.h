//===- CallForm.h - how the textual form writes calls -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_CALLFORM_H
#define ANEC_LIB_IR_CALLFORM_H

#include "lib/IR/Blocks.h"
#include "lib/IR/ParamNames.h"

namespace anec {

/// Whether the constant in `slot` is written outside the braces: the callee
/// before the operands, the types of the results after the colon, and blocks
/// after the types.
inline bool isWrittenApart(const OpDef &def, unsigned slot) {
  if (blocksSlot(def) == int(slot))
    return true;
  return def.has(trait::Call) &&
         (slot == unsigned(def.constantSlot(param::callee)) ||
          slot == unsigned(def.constantSlot(param::results)));
}

} // namespace anec

#endif // ANEC_LIB_IR_CALLFORM_H
