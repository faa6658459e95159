//===- Diff.h - anec diff LEFT RIGHT ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_DIFF_H
#define ANEC_TOOLS_ANEC_DIFF_H

#include <optional>

namespace anec {

/// Keeps the flags of other commands out of the help of `diff`.
void hideFlagsInDiff();

/// Runs `anec diff` when the command line, which has been read, says so: its
/// exit code.
std::optional<int> runDiffCommand();

} // namespace anec

#endif // ANEC_TOOLS_ANEC_DIFF_H
