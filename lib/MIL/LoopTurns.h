//===- LoopTurns.h - how far loops are unrolled -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_LOOPTURNS_H
#define ANEC_LIB_MIL_LOOPTURNS_H

#include <cstddef>

namespace anec::mil {

/// Unrolled loops get slow to compile beyond this number of statements.
inline constexpr size_t mostUnrolled = 200000;
inline constexpr size_t mostIterations = 10000;

} // namespace anec::mil

#endif // ANEC_LIB_MIL_LOOPTURNS_H
