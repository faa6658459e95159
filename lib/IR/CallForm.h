//===- CallForm.h - how the textual form writes calls -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_CALLFORM_H
#define ANEC_LIB_IR_CALLFORM_H

#include "anec/IR/OpDef.h"

namespace anec {

/// Whether the constant `name` stands elsewhere than between the braces: the
/// callee before the operands, the types of the results behind the colon.
inline bool isWrittenApart(const OpDef &def, llvm::StringRef name) {
  return def.has(trait::Call) && (name == "callee" || name == "results");
}

} // namespace anec

#endif // ANEC_LIB_IR_CALLFORM_H
