//===- Canonical.h - one form for equal programs ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_CANONICAL_H
#define ANEC_MIL_CANONICAL_H

#include "anec/IR/IR.h"

namespace anec {

/// Takes out of `module` what does not count when programs are compared:
/// constants stand before their first use, equal ones once and unused ones not
/// at all; values are called by their position (`v0`, `v1`, ... and `c0`, `c1`,
/// ... for constants), but for parameters and results, whose names are the
/// program's interface; notes of who wrote it are gone.
void makeCanonical(Module &module);

} // namespace anec

#endif // ANEC_MIL_CANONICAL_H
