//===- ErrorMatcher.h - finding known errors in a line ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_ERRORMATCHER_H
#define ANEC_LIB_TARGET_ERRORMATCHER_H

#include "anec/Target/KnownError.h"
#include <memory>

namespace anec {

/// What a line says.
struct ErrorMatch {
  struct Found {
    const KnownError *error;
    size_t at; ///< where in the line it begins
  };
  /// In the order of the table, each once. Vague ones are included.
  std::vector<Found> found;
  /// Where the line begins to look like an error of the engine or of Core ML,
  /// known or not; nothing if it does not.
  std::optional<size_t> suspect;
  /// An NSError of the engine whose code no row has.
  bool hasUnknownCode = false;
};

/// Keeps the least vague of the errors of one line.
void dropVague(std::vector<const KnownError *> &errors);

/// Searches for the marks of all known errors at once: the time does not
/// depend on their number.
class ErrorMatcher {
public:
  ErrorMatcher();
  ~ErrorMatcher();

  /// Matches one line, in which runs of blanks are one blank. `isEngines`:
  /// the engine's framework has written it, even if it does not name it.
  ErrorMatch match(llvm::StringRef line, bool isEngines = false) const;

private:
  struct Automaton;
  std::unique_ptr<const Automaton> automaton;
};

} // namespace anec

#endif // ANEC_LIB_TARGET_ERRORMATCHER_H
