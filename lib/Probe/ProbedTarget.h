//===- ProbedTarget.h - a target as a probe found it ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_PROBEDTARGET_H
#define ANEC_LIB_PROBE_PROBEDTARGET_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace anec {

/// The target of a probed machine, and the rules that do not hold on it, in the
/// form of `--assume`.
struct ProbedTarget {
  std::string target;
  std::vector<std::string> assumptions;
  /// The microseconds of a program that does almost nothing, where that was
  /// measured.
  std::optional<double> floor = std::nullopt;
};
/// Reads the report of a probe. Returns nothing, with the reason reported, when
/// `path` is not a report. Warns when the report is incomplete, or of another
/// version of macOS than `macOS`; nothing is compared with an empty one.
[[nodiscard]] std::optional<ProbedTarget>
readProbedTarget(llvm::StringRef path, llvm::StringRef macOS,
                 Diagnostics &diags);

/// What is assumed of the target: `given`, and what was found of other rules.
std::vector<std::string> assumptionsOf(const ProbedTarget &target,
                                       llvm::ArrayRef<std::string> given);

} // namespace anec

#endif // ANEC_LIB_PROBE_PROBEDTARGET_H
