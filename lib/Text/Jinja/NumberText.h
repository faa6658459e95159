//===- NumberText.h - numbers in texts --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H
#define ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H

#include "Whole.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace anec::jinja {

/// Python's int(text, base); nothing if that is an error.
std::optional<Whole> integerOf(llvm::StringRef text, int64_t base);
/// Python's float(text).
std::optional<double> floatOf(llvm::StringRef text);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_NUMBERTEXT_H
