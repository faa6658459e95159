//===- HazardVerdict.h - verdicts on hazards --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_HAZARDVERDICT_H
#define ANEC_LIB_PROBE_HAZARDVERDICT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace anec {

/// What the trials of a hazard say about it, by all paths.
struct HazardVerdict {
  llvm::StringRef hazard;
  llvm::StringRef summary, source; ///< what goes wrong, and who reported it
  /// `present`: a trial failed whose baseline is right by the same path;
  /// `not-seen`: all trials are right, which proves nothing for other shapes
  /// and values; `unclear`: anything else.
  llvm::StringLiteral verdict = "unclear";
  std::string why = ""; ///< why it is unclear; empty otherwise
  unsigned right = 0;   ///< the number of trials that are right
  unsigned tried = 0;   ///< the number with any other result, and of those
  std::vector<std::string> failed = {}; ///< PATH/TRIAL that show the hazard
};

/// Judges each hazard that `trials` has entries of, in the order of hazards.
/// `isOfEngine`: times count only on an engine.
std::vector<HazardVerdict>
judgeHazards(llvm::ArrayRef<llvm::json::Object> trials, bool isOfEngine);

/// The rules whose breach fails in a trial that shows its hazard.
std::vector<llvm::StringRef>
rulesSeen(llvm::ArrayRef<llvm::json::Object> trials);

/// Whether the program of a trial ran, with any results.
bool hasRun(const llvm::json::Object &trial);
/// How many times as long the last runs of a trial took as the first; 0 when
/// that was not measured.
double slowdownOf(const llvm::json::Object &trial);
/// The slowdown from which runs count as slower.
inline constexpr double slowerFrom = 1.15;

} // namespace anec

#endif // ANEC_LIB_PROBE_HAZARDVERDICT_H
