//===- Numbers.h - compile-time arithmetic ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Numbers known at compile time: `config` values and expressions of them.
/// Integers are exact; an expression with a decimal is a decimal.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_NUMBERS_H
#define ANEC_LIB_FRONTEND_NUMBERS_H

#include "anec/Support/Diagnostics.h"
#include "anec/Support/Words.h"
#include <optional>

namespace anec::frontend {

struct Number {
  enum Kind { Int, Float };

  bool isInteger = true;
  int64_t integer = 0;
  double decimal = 0;

  static Number ofInteger(int64_t value) { return {true, value, 0}; }
  static Number ofDecimal(double value) { return {false, 0, value}; }
  double asDouble() const { return isInteger ? double(integer) : decimal; }
  /// In source spelling; a decimal is recognizable as one.
  std::string str() const;
};

ANEC_ENUM(Arithmetic, (Add, "+"), (Sub, "-"), (Mul, "*"), (Div, "/"),
          (Power, "**"))

/// `lhs op rhs`. Reports an error at `range`
/// when the result is not a number or an integer division is not exact.
[[nodiscard]] std::optional<Number> combine(Arithmetic op, const Number &lhs,
                                            const Number &rhs,
                                            SourceRange range,
                                            Diagnostics &diags);

/// `lhs / rhs` rounded toward minus infinity; `rhs` is not 0, and the quotient
/// fits.
int64_t floorQuotient(int64_t lhs, int64_t rhs);

/// The number that a name of the language stands for, `inf` or `nan`; nothing
/// for others.
std::optional<Number> namedNumber(llvm::StringRef name);

/// Parses the value of `--define name=`.
std::optional<Number> parseNumber(llvm::StringRef text);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_NUMBERS_H
