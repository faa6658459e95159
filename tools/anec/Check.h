//===- Check.h - anec check -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_CHECK_H
#define ANEC_TOOLS_ANEC_CHECK_H

#include <optional>

namespace anec {

/// Keeps the flags of other commands out of the help of `check`.
void hideFlagsInCheck();

/// Runs `anec check` when the command line, which has been read, says so: its
/// exit code.
std::optional<int> runCheckCommand();

} // namespace anec

#endif // ANEC_TOOLS_ANEC_CHECK_H
