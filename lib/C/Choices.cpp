//===- Choices.cpp - options of a few values ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

static std::string oneOf(llvm::ArrayRef<llvm::StringRef> known) {
  return "it is one of `" + llvm::join(known, "`, `") + "`, not ";
}

std::string c::wrongChoice(llvm::StringRef given,
                           llvm::ArrayRef<llvm::StringRef> known) {
  std::string text = oneOf(known) + "`" + given.str() + "`";
  std::string lower = given.lower();
  Suggestion suggestion(lower);
  for (llvm::StringRef name : known)
    suggestion.consider(name);
  llvm::StringRef meant = suggestion.found();
  if (llvm::is_contained(known, lower))
    meant = lower;
  return text + didYouMean(meant);
}

std::string c::wrongChoice(int given, llvm::ArrayRef<llvm::StringRef> known) {
  return oneOf(known) + std::to_string(given);
}
