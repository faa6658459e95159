//===- ProbedTarget.h - a target as a probe found it ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_PROBEDTARGET_H
#define ANEC_PROBE_PROBEDTARGET_H

#include "anec/Support/Diagnostics.h"
#include <optional>

namespace anec {

/// The target of a probed machine, and the rules that do not hold on it, as
/// `--assume` takes them.
struct ProbedTarget {
  std::string target;
  std::vector<std::string> assumptions;
};
/// Reads the report of a probe. Nothing, with the reason reported, when `path`
/// is none. Warns when the report is not complete, or of another macOS than
/// `macOS`, where empty stands for the one of this machine.
[[nodiscard]] std::optional<ProbedTarget>
readProbedTarget(llvm::StringRef path, llvm::StringRef macOS,
                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_PROBE_PROBEDTARGET_H
