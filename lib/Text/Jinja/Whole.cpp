//===- Whole.cpp - integers of any size -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Whole.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <cfloat>
#include <cmath>

using namespace anec::jinja;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Whole Whole::of(int64_t number) {
  bool isNegative = number < 0;
  return {isNegative,
          APInt(64, isNegative ? 0 - uint64_t(number) : uint64_t(number))};
}

Whole Whole::of(double number) {
  int exponent = 0;
  double fraction = std::frexp(std::abs(number), &exponent);
  if (exponent <= 0)
    return {};
  // 53 bits, of which the last are a fraction if the exponent is small.
  APInt size(unsigned(exponent) + 53, uint64_t(std::ldexp(fraction, 53)));
  size <<= unsigned(exponent);
  size.lshrInPlace(53);
  return {number < 0, std::move(size)};
}

std::optional<Whole> Whole::of(StringRef digits, unsigned base) {
  digits = digits.ltrim('0');
  unsigned bitsOfDigit = Log2_32_Ceil(base);
  if (!isPowerOf2_32(base) && digits.size() > mostDigits)
    return std::nullopt;
  if (digits.size() > mostBits) // and none of them is needed
    return Whole{false, APInt::getOneBitSet(mostBits + 1, mostBits)};
  APInt size(unsigned(digits.size()) * bitsOfDigit + 64, 0);
  for (char digit : digits) {
    size *= base;
    size += isDigit(digit) ? uint64_t(digit - '0')
                           : uint64_t(toLower(digit) - 'a' + 10);
  }
  return Whole{false, std::move(size)};
}

std::optional<int64_t> Whole::asInteger() const {
  if (bits() > 64)
    return std::nullopt;
  uint64_t number = size.getZExtValue();
  if (number > uint64_t(INT64_MAX) + isNegative)
    return std::nullopt;
  return int64_t(isNegative ? 0 - number : number);
}

double Whole::asDouble() const {
  APFloat number(APFloat::IEEEdouble());
  number.convertFromAPInt(size, /*IsSigned=*/false,
                          APFloat::rmNearestTiesToEven);
  double made = number.convertToDouble();
  return isNegative ? -made : made;
}

bool Whole::isTooLong() const {
  // 10 ** 4300 has 14,285 bits.
  return bits() > 14'285 ||
         (bits() == 14'285 && digits(10).size() > mostDigits);
}

std::string Whole::digits(unsigned base) const {
  if (base == 10 && bits() <= 64)
    return utostr(size.getZExtValue());
  SmallString<64> made;
  size.toString(made, base, /*Signed=*/false);
  return made.str().lower();
}

std::optional<std::string> Whole::text() const {
  std::string made = digits(10);
  if (made.size() > mostDigits)
    return std::nullopt;
  return isNegative ? "-" + made : made;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Whole anec::jinja::operator-(Whole value) {
  value.isNegative = !value.isNegative && !value.isZero();
  return value;
}

Whole anec::jinja::operator+(const Whole &lhs, const Whole &rhs) {
  unsigned width = std::max({lhs.bits(), rhs.bits(), 63u}) + 1;
  APInt left = lhs.size.zextOrTrunc(width), right = rhs.size.zextOrTrunc(width);
  if (lhs.isNegative == rhs.isNegative)
    return {lhs.isNegative, left + right};
  if (left == right)
    return {};
  return left.ugt(right) ? Whole{lhs.isNegative, left - right}
                         : Whole{rhs.isNegative, right - left};
}

Whole anec::jinja::operator*(const Whole &lhs, const Whole &rhs) {
  unsigned width = std::max(lhs.bits() + rhs.bits(), 64u);
  APInt size = lhs.size.zextOrTrunc(width) * rhs.size.zextOrTrunc(width);
  bool isNegative = lhs.isNegative != rhs.isNegative && !size.isZero();
  return {isNegative, std::move(size)};
}

std::pair<Whole, Whole> anec::jinja::divide(const Whole &lhs,
                                            const Whole &rhs) {
  unsigned width = std::max({lhs.bits(), rhs.bits(), 63u}) + 1;
  APInt divisor = rhs.size.zextOrTrunc(width);
  APInt quotient(width, 0), rest(width, 0);
  APInt::udivrem(lhs.size.zextOrTrunc(width), divisor, quotient, rest);
  bool isNegative = lhs.isNegative != rhs.isNegative;
  if (isNegative && !rest.isZero()) {
    ++quotient;
    rest = divisor - rest;
  }
  return {{isNegative && !quotient.isZero(), quotient},
          {rhs.isNegative && !rest.isZero(), rest}};
}

std::optional<double> anec::jinja::ratio(const Whole &lhs, const Whole &rhs) {
  if (lhs.isZero())
    return 0.0;
  // A quotient of 66 bits or more, and a last bit for the rest.
  int shift = 66 - int(lhs.bits()) + int(rhs.bits());
  unsigned width = std::max(lhs.bits(), rhs.bits()) + unsigned(std::abs(shift));
  APInt dividend = lhs.size.zextOrTrunc(width + 1);
  APInt divisor = rhs.size.zextOrTrunc(width + 1);
  (shift > 0 ? dividend : divisor) <<= unsigned(std::abs(shift));
  APInt quotient(width + 1, 0), rest(width + 1, 0);
  APInt::udivrem(dividend, divisor, quotient, rest);
  quotient <<= 1;
  if (!rest.isZero())
    quotient.setBit(0);
  double made =
      std::ldexp(Whole{false, std::move(quotient)}.asDouble(), -shift - 1);
  if (made < DBL_MIN)
    return std::nullopt;
  return lhs.isNegative != rhs.isNegative ? -made : made;
}

std::optional<Whole> anec::jinja::power(Whole base, const Whole &exponent) {
  if (base.bits() <= 1) {
    bool isEven = !exponent.size[0];
    if (isEven)
      base.isNegative = false;
    return exponent.isZero() ? Whole::of(int64_t(1)) : base;
  }
  std::optional<int64_t> count = exponent.asInteger();
  if (!count || *count > Whole::mostBits ||
      uint64_t(base.bits() - 1) * uint64_t(*count) > Whole::mostBits)
    return std::nullopt;
  Whole made = Whole::of(int64_t(1));
  for (; *count; *count >>= 1) {
    if (*count & 1)
      made = made * base;
    if (*count > 1)
      base = base * base;
  }
  return made;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

std::strong_ordering anec::jinja::operator<=>(const Whole &lhs,
                                              const Whole &rhs) {
  if (lhs.isNegative != rhs.isNegative)
    return rhs.isNegative <=> lhs.isNegative;
  std::strong_ordering order = lhs.bits() <=> rhs.bits();
  if (order == 0) {
    unsigned width = std::max(lhs.bits(), 64u);
    APInt left = lhs.size.zextOrTrunc(width);
    APInt right = rhs.size.zextOrTrunc(width);
    order = right.ult(left) <=> left.ult(right);
  }
  return lhs.isNegative ? 0 <=> order : order;
}

std::partial_ordering anec::jinja::operator<=>(const Whole &lhs, double rhs) {
  if (std::isnan(rhs))
    return std::partial_ordering::unordered;
  if (std::isinf(rhs))
    return 0.0 <=> rhs;
  std::strong_ordering order = lhs <=> Whole::of(rhs);
  return order != 0 ? std::partial_ordering(order) : std::trunc(rhs) <=> rhs;
}
