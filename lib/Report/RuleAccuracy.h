//===- RuleAccuracy.h - rules beside recorded verdicts ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Records of what the vendor's compiler accepted tell how far the rules can be
/// trusted: which accepted programs break a rule that is an error, and which
/// refused ones break none.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_RULEACCURACY_H
#define ANEC_LIB_REPORT_RULEACCURACY_H

#include "anec/Target/Check.h"

namespace anec {

/// A program, and whether the compiler accepted it for some targets.
struct RecordedVerdicts {
  std::string family; ///< a kind of program: `convolution`
  std::string text;   ///< MIL
  /// Why it was refused, as far as is known: `syntax: ...`.
  std::string reason;
  /// By the names of targets, of which some may be unknown.
  std::vector<std::pair<std::string, bool>> accepted;
  /// The tasks of the compiled program, by the names of targets.
  std::vector<std::pair<std::string, int64_t>> tasks;
};

/// Reads lines of JSON: `{"family": "pad", "mil": "program(1.3)...", "reason":
/// "", "accepted": {"m1": true}, "tasks": {"m1": 2}}`. Returns nothing, with
/// the reason reported at its line, when one is something else.
[[nodiscard]] std::optional<std::vector<RecordedVerdicts>>
readVerdicts(llvm::StringRef path, Diagnostics &diags);

/// Checks all programs, whose weight files can be missing, and compares with
/// their verdicts, as Markdown: by target, by family and by rule. Compares
/// numbers of tasks too, apart for programs of which the first byte of the
/// SHA-256 is odd: Tasks.cpp has nothing from them.
void printRuleAccuracy(llvm::ArrayRef<RecordedVerdicts> programs,
                       const Assumptions &assumptions, llvm::raw_ostream &out);

} // namespace anec

#endif // ANEC_LIB_REPORT_RULEACCURACY_H
