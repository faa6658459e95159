//===- NumberText.h - numbers in texts --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H
#define ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace anec::jinja {

struct ParsedInteger {
  bool isNumber = false, isTooLarge = false;
  int64_t number = 0;
};
/// Python's int(text, base).
ParsedInteger integerOf(llvm::StringRef text, int64_t base);
/// Python's float(text).
std::optional<double> floatOf(llvm::StringRef text);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H
