//===- Suggestion.h - suggestions for misspelled names ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_SUGGESTION_H
#define ANEC_LIB_SUPPORT_SUGGESTION_H

#include "anec/Support/Diagnostics.h"
#include <string>

namespace anec {

/// Finds the candidate closest to a misspelled name, if any is close: by the
/// letters that differ, of which two that are swapped count as one, or else the
/// shortest that has the name as one of its words, `fuse-kernels` for `fuse`.
class Suggestion {
public:
  explicit Suggestion(llvm::StringRef misspelt)
      : misspelt(misspelt), distance((misspelt.size() + 1) / 3) {}
  void consider(llvm::StringRef candidate);
  /// The closest candidate; empty when none is close.
  llvm::StringRef found() const { return best.empty() ? longer : best; }
  /// Adds the note `did you mean` if there is something to suggest.
  void note(Diagnostics::Report report, SourceRange range) const;

private:
  llvm::StringRef misspelt, best, longer;
  unsigned distance;
};

/// `; did you mean `meant`?`; empty where nothing is meant.
std::string didYouMean(llvm::StringRef meant);
inline std::string didYouMean(const Suggestion &suggestion) {
  return didYouMean(suggestion.found());
}

} // namespace anec

#endif // ANEC_LIB_SUPPORT_SUGGESTION_H
