//===- ProbedTarget.h - --target=FILE.json ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_PROBEDTARGET_H
#define ANEC_TOOLS_ANEC_PROBEDTARGET_H

#include "anec/Support/Diagnostics.h"
#include <optional>

namespace anec {

/// What `ane-run probe` saw of a machine: the target that its chip is, and the
/// rules that do not hold on it, as `--assume` takes them.
struct ProbedTarget {
  std::string target;
  std::vector<std::string> assumptions;
};
/// Nothing, with the reason reported, when `path` is no such file. Warns when
/// it is not all there, or of another macOS than `macOS`, or than this machine
/// has when that is empty.
std::optional<ProbedTarget> readProbedTarget(llvm::StringRef path,
                                             llvm::StringRef macOS,
                                             Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_PROBEDTARGET_H
