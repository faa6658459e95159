//===- Generate.h - ane-run generate ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_GENERATE_H
#define ANEC_TOOLS_ANE_RUN_GENERATE_H

#include <optional>

namespace anec {

/// Keeps the flags of other commands out of the help of `generate`.
void hideFlagsInGenerate();

/// Runs `ane-run generate` when the command line, which has been read, says
/// so: its exit code.
std::optional<int> runGenerateCommand();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_GENERATE_H
