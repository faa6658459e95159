//===- Trials.h - programs that show hazards of the engine ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_TRIALS_H
#define ANEC_PROBE_TRIALS_H

#include "ProbeSetting.h"
#include "llvm/ADT/ArrayRef.h"

namespace anec {

/// Something that is known to go wrong on engines.
struct Hazard {
  llvm::StringLiteral id;
  llvm::StringLiteral summary; ///< what goes wrong, in one line
  /// Who saw it, and where; empty for what no source reports.
  llvm::StringLiteral source = "";
};

/// What is done with the program of a trial.
enum class TrialKind : uint8_t {
  Once,      ///< it runs once, and is timed
  AfterIdle, ///< it runs again after the engine had time to go to sleep
  Many,      ///< it runs until runs could become slower
  Training,  ///< it is a model, trained for some steps
};

/// A program, and how it is run, that meets a hazard as real programs do.
struct Trial {
  llvm::StringLiteral name;
  llvm::StringLiteral hazard;
  /// The trial that has to be right, by the same path, for a failure of this
  /// one to show the hazard; empty for none.
  llvm::StringLiteral baseline = "";
  /// The rule about the hazard, which the text, or the one before it, breaks;
  /// empty for none. It has a rewrite, so that denying it changes what anec
  /// makes of such a program.
  llvm::StringLiteral rule = "";
  TrialKind kind = TrialKind::Once;
  /// The trial whose program this one runs; empty for its own.
  llvm::StringLiteral program = "";
  /// The trial whose program runs before, in the same process; empty for none.
  llvm::StringLiteral before = "";
  ProbeSetting setting = {.relative = 0.02};
};

/// A file NAME.LANGUAGE of lib/Probe/TrialPrograms, compiled into the program.
struct TrialProgram {
  const char *name;
  /// `mil`: it is run as it is; `tdsl`: it is compiled for the machine.
  const char *language;
  const char *text;

  bool isSource() const { return llvm::StringRef(language) != "mil"; }
};

/// In the order of trials.
llvm::ArrayRef<Hazard> allHazards();
/// From harmless to demanding.
llvm::ArrayRef<Trial> allTrials();
/// Null when there is none.
const Trial *findTrial(llvm::StringRef name);
const TrialProgram &programOf(const Trial &trial);

/// Without one of these, a path is not tried any further.
inline constexpr llvm::StringLiteral basicTrials[] = {"add", "conv",
                                                      "feed-forward"};
/// The seconds without a run after which an engine goes to sleep, and one more.
inline constexpr unsigned idleSeconds = 6;

} // namespace anec

#endif // ANEC_PROBE_TRIALS_H
