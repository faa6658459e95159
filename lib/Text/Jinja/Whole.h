//===- Whole.h - integers of any size ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Python's int, up to a bound. Values have one only beyond 64 bits.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_WHOLE_H
#define ANEC_LIB_TEXT_JINJA_WHOLE_H

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringRef.h"
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace anec::jinja {

struct Whole {
  /// More than the 4,300 digits that Python reads and writes.
  static constexpr unsigned mostBits = 16'384;
  static constexpr size_t mostDigits = 4'300;

  bool isNegative = false;
  llvm::APInt size{64, 0};

  static Whole of(int64_t number);
  /// A finite number without its fraction.
  static Whole of(double number);
  /// Of digits that are below `base`. Nothing if there are more than Python
  /// reads.
  static std::optional<Whole> of(llvm::StringRef digits, unsigned base);

  unsigned bits() const { return size.getActiveBits(); }
  bool isZero() const { return size.isZero(); }
  bool isTooLarge() const { return bits() > mostBits; }
  /// Whether it has more digits than Python prints.
  bool isTooLong() const;
  /// What it costs to make digits, in units of Budget.
  size_t workOfDigits() const {
    size_t count = bits();
    return count <= 64 ? 1 : 3 * count + count * count / 1500;
  }
  std::optional<int64_t> asInteger() const;
  /// The nearest; infinite if it is too large.
  double asDouble() const;
  /// Without a sign, in base 2, 8, 10 or 16.
  std::string digits(unsigned base) const;
  /// As Python prints it; nothing if it does not print so many digits.
  std::optional<std::string> text() const;
};

Whole operator-(Whole value);
Whole operator+(const Whole &lhs, const Whole &rhs);
Whole operator*(const Whole &lhs, const Whole &rhs);
/// The quotient, rounded down, and the remainder, which has the sign of `rhs`.
std::pair<Whole, Whole> divide(const Whole &lhs, const Whole &rhs);
/// The nearest to the quotient; infinite if it is too large, and nothing if it
/// is too small to be normal.
std::optional<double> ratio(const Whole &lhs, const Whole &rhs);
/// Nothing if the result is too large. The exponent is not negative.
std::optional<Whole> power(Whole base, const Whole &exponent);
std::strong_ordering operator<=>(const Whole &lhs, const Whole &rhs);
std::partial_ordering operator<=>(const Whole &lhs, double rhs);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_WHOLE_H
