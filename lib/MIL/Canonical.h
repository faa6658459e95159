//===- Canonical.h - canonical form of programs -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_CANONICAL_H
#define ANEC_LIB_MIL_CANONICAL_H

#include "anec/IR/IR.h"

namespace anec {

/// Removes from `module` what is irrelevant when programs are compared:
/// constants are moved before their first use, equal ones merged and unused
/// ones removed; values are named by position (`v0`, `v1`, ... and `c0`, `c1`,
/// ... for constants), except parameters and results, whose names are the
/// program's interface; the build info is removed.
void makeCanonical(Module &module);

/// Rounds derived constants (lib/IR/DerivedConstant.h) to their types, so that
/// no entry of `buildInfo` has their numbers.
void roundDerivedConstants(Function &function);

} // namespace anec

#endif // ANEC_LIB_MIL_CANONICAL_H
