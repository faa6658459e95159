//===- StopTexts.h - texts that end a generated text ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_GENERATE_STOPTEXTS_H
#define ANEC_LIB_GENERATE_STOPTEXTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace anec {

/// Finds the first of some texts in a text that arrives in pieces, and holds
/// back what may be the beginning of one.
class StopTexts {
public:
  StopTexts() = default;
  /// `texts` must not be empty texts.
  explicit StopTexts(llvm::ArrayRef<std::string> texts)
      : texts(texts.begin(), texts.end()) {}

  /// The part of the text that is certain to be before any stop text after
  /// `piece`. Nothing follows once a stop text has been found.
  std::string next(llvm::StringRef piece);
  /// What was held back, when the text ends without a stop text.
  std::string finish();
  /// The stop text that was found; empty for none.
  llvm::StringRef found() const { return match; }

private:
  std::vector<std::string> texts;
  std::string held, match;
};

} // namespace anec

#endif // ANEC_LIB_GENERATE_STOPTEXTS_H
