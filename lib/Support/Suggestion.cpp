//===- Suggestion.cpp - suggestions for misspelled names ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Suggestion.h"
#include "lib/Support/Diags.h"
#include <algorithm>

using namespace anec;

/// Whether the names differ in two neighbouring letters that are swapped.
static bool isSwapped(llvm::StringRef lhs, llvm::StringRef rhs) {
  if (lhs.size() != rhs.size())
    return false;
  auto [at, other] = std::mismatch(lhs.begin(), lhs.end(), rhs.begin());
  return lhs.end() - at >= 2 && at[0] == other[1] && at[1] == other[0] &&
         std::equal(at + 2, lhs.end(), other + 2);
}

/// Whether `words`, with `-` or `_` between them, have `name` among them.
static bool hasWords(llvm::StringRef words, llvm::StringRef name) {
  auto ends = [](llvm::StringRef text, size_t at) {
    return at == text.size() || text[at] == '-' || text[at] == '_';
  };
  for (size_t at = 0; (at = words.find(name, at)) != llvm::StringRef::npos;
       ++at)
    if ((at == 0 || ends(words, at - 1)) && ends(words, at + name.size()))
      return true;
  return false;
}

void Suggestion::consider(llvm::StringRef candidate) {
  constexpr size_t shortestWord = 3;
  if (misspelt.size() >= shortestWord && candidate != misspelt &&
      hasWords(candidate, misspelt) &&
      (longer.empty() || candidate.size() < longer.size()))
    longer = candidate;
  // Another letter in a name of two is another name: `m9` is not `m1`.
  bool replaces = misspelt.size() > 2;
  unsigned d = isSwapped(misspelt, candidate)
                   ? 1
                   : misspelt.edit_distance(candidate, replaces, distance);
  if (d < distance || (d == distance && d > 0 && best.empty())) {
    best = candidate;
    distance = d;
  }
}

void Suggestion::note(Diagnostics::Report report, SourceRange range) const {
  if (!found().empty())
    report.note(range, diag::DidYouMean, found());
}

std::string anec::didYouMean(llvm::StringRef meant) {
  return meant.empty() ? "" : ("; did you mean `" + meant + "`?").str();
}
