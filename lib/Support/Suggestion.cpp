//===- Suggestion.cpp - suggestions for misspelled names ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Suggestion.h"

using namespace anec;

void Suggestion::consider(llvm::StringRef candidate) {
  unsigned d = misspelt.edit_distance(candidate, true, distance);
  if (d < distance || (d == distance && d > 0 && best.empty())) {
    best = candidate;
    distance = d;
  }
}

void Suggestion::note(Diagnostics::Report report, SourceRange range) const {
  if (!best.empty())
    report.note(range, diag::DidYouMean, best);
}
