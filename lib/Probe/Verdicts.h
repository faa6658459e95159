//===- Verdicts.h - what became of programs and rules -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_VERDICTS_H
#define ANEC_LIB_PROBE_VERDICTS_H

#include "anec/Support/Words.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// What became of a program, as the process that runs it says. The first six
/// are verdicts on a trial. `ran` and `loaded` have no results to compare;
/// `timed`, `not-timed` and `failed` are of a pair of programs.
ANEC_ENUM(ProgramOutcome, (Right, "right"), (Wrong, "wrong"),
          (Refused, "refused"), (Crashed, "crashed"), (TimedOut, "timed-out"),
          (NotTried, "not-tried"), (Ran, "ran"), (Loaded, "loaded"),
          (Timed, "timed"), (NotTimed, "not-timed"), (Failed, "failed"))

constexpr size_t trialVerdicts = 6;

/// What is known of a rule on this machine.
ANEC_ENUM(RuleVerdict, (Holds, "holds"), (Slower, "slower"),
          (DoesNotHold, "does-not-hold"), (NotSeen, "not-seen"),
          (NotSlower, "not-slower"), (Unclear, "unclear"),
          (NotTimed, "not-timed"), (NotProbed, "not-probed"),
          (Skipped, "skipped"))

/// The value at a key of an entry; nothing without one.
template <Worded Enum>
std::optional<Enum> wordAt(const llvm::json::Object &entry,
                           llvm::StringRef key) {
  std::optional<llvm::StringRef> text = entry.getString(key);
  return text ? parseWord<Enum>(*text) : std::nullopt;
}

/// The verdict on a trial.
inline std::optional<ProgramOutcome>
trialVerdict(const llvm::json::Object &entry) {
  return wordAt<ProgramOutcome>(entry, "verdict");
}

} // namespace anec

#endif // ANEC_LIB_PROBE_VERDICTS_H
