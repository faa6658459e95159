//===- OpNames.h - the names of ops in the language -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_OPNAMES_H
#define ANEC_LIB_FRONTEND_OPNAMES_H

#include "lib/IR/OpDef.h"

namespace anec::frontend {

/// The op that a program calls `name`; null when there is none.
const OpDef *findCallable(const OpTable &ops, llvm::StringRef name);
/// What a program calls `op`: a name that is its own. Ops have their MIL names
/// with a few exceptions.
llvm::StringRef nameInLanguage(const OpDef &op);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_OPNAMES_H
