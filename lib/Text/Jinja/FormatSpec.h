//===- FormatSpec.h - how a value is formatted ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_FORMATSPEC_H
#define ANEC_LIB_TEXT_JINJA_FORMATSPEC_H

#include "Evaluator.h"

namespace anec::jinja {

/// What both kinds of format say of a field.
struct FormatSpec {
  static constexpr int64_t widest = 100'000, finest = 300;
  std::string fill = " ";
  char align = 0; ///< `<`, `>`, `^`, or `=` for behind the sign
  char sign = '-';
  bool isAlternate = false;
  char grouping = 0;
  int64_t width = 0, precision = -1;
  char type = 0;

  /// `text` with what makes it as wide as it should be.
  std::string padded(llvm::StringRef text, char usual) const;
  std::string integer(const Whole &number) const;
  std::string real(double number) const;
};

/// The number at the beginning of `text`, which is removed; at most `most`, or
/// nothing if it is larger. 0 if there is none.
std::optional<int64_t> takeNumber(llvm::StringRef &text, int64_t most);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_FORMATSPEC_H
