//===- Number.cpp - number literals ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Number.h"
#include "lib/IR/Elements.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <bit>
#include <cmath>
#include <limits>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// No number needs more characters, and converting long ones is slow.
static constexpr size_t maxLength = 1024;

/// `1.5p-17` of `0x1.5p-17`.
static std::optional<double> parseHexFloat(StringRef text, DType dtype) {
  uint64_t mantissa = 0;
  int64_t exponent = 0;
  bool digits = false, point = false, lost = false;
  for (; !text.empty(); text = text.drop_front()) {
    if (text[0] == '.' && !point) {
      point = true;
      continue;
    }
    unsigned digit = hexDigitValue(text[0]);
    if (digit == ~0u)
      break;
    digits = true;
    if (mantissa >> 60) {
      lost |= digit != 0;
      exponent += point ? 0 : 4;
      continue;
    }
    mantissa = mantissa << 4 | digit;
    exponent -= point ? 4 : 0;
  }
  if (!digits)
    return std::nullopt;
  if (text.consume_front_insensitive("p")) {
    int64_t written;
    text.consume_front("+");
    if (text.getAsInteger(10, written))
      return std::nullopt;
    exponent += std::clamp<int64_t>(written, -100'000, 100'000);
  } else if (!text.empty()) {
    return std::nullopt;
  }
  // Narrower types round again: rounding to odd first keeps that exact.
  unsigned extra = dtype == DType::FP64 || mantissa == 0
                       ? 0
                       : std::max(0, 11 - std::countl_zero(mantissa));
  lost |= (mantissa & ((uint64_t(1) << extra) - 1)) != 0;
  mantissa = mantissa >> extra | lost;
  int scale = int(std::clamp<int64_t>(exponent + extra, -10'000, 10'000));
  return std::ldexp(double(mantissa), scale);
}

static const fltSemantics &semantics(DType dtype) {
  switch (dtype) {
  case DType::FP16:
    return APFloat::IEEEhalf();
  case DType::BF16:
    return APFloat::BFloat();
  case DType::FP32:
    return APFloat::IEEEsingle();
  default:
    return APFloat::IEEEdouble();
  }
}

/// Parses digits with a point and an exponent, when they are few enough that
/// one double operation yields the value rounded once; returns nothing
/// otherwise.
static std::optional<double> parseShortDecimal(StringRef text, DType dtype) {
  uint64_t digits = 0;
  int count = 0, exponent = 0;
  bool point = false;
  for (; !text.empty() && (isDigit(text[0]) || text[0] == '.');
       text = text.drop_front()) {
    if (text[0] == '.') {
      if (std::exchange(point, true))
        return std::nullopt;
      continue;
    }
    if (++count > 15)
      return std::nullopt;
    digits = digits * 10 + (text[0] - '0');
    exponent -= point;
  }
  int written = 0;
  if (text.consume_front_insensitive("e")) {
    text.consume_front("+");
    if (text.getAsInteger(10, written))
      return std::nullopt;
    text = "";
  }
  if (count == 0 || !text.empty() || std::abs(written) > 100)
    return std::nullopt;
  exponent += written;
  static constexpr double powers[] = {
      1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (std::abs(exponent) > 22)
    return std::nullopt;
  double value = exponent < 0 ? double(digits) / powers[-exponent]
                              : double(digits) * powers[exponent];
  // A value halfway between two narrower floats may be the result of rounding.
  if (exponent != 0 && dtype != DType::FP64 &&
      (std::bit_cast<uint64_t>(value) & 0xfffffff) == 0)
    return std::nullopt;
  return value;
}

std::optional<double> mil::parseFloat(StringRef text, DType dtype) {
  if (text.size() > maxLength)
    return std::nullopt;
  StringRef magnitude = text;
  bool negative = magnitude.consume_front("-");
  if (!negative)
    magnitude.consume_front("+");
  double value;
  if (magnitude == "inf") {
    value = std::numeric_limits<double>::infinity();
  } else if (magnitude == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude.consume_front_insensitive("0x")) {
    std::optional<double> parsed = parseHexFloat(magnitude, dtype);
    if (!parsed)
      return std::nullopt;
    value = roundToDType(*parsed, dtype);
  } else if (std::optional<double> parsed =
                 parseShortDecimal(magnitude, dtype)) {
    value = roundToDType(*parsed, dtype);
  } else {
    // APFloat accepts more than numbers.
    if (magnitude.find_first_not_of("0123456789.eE+-") != StringRef::npos)
      return std::nullopt;
    APFloat exact(semantics(dtype));
    Expected<APFloat::opStatus> status =
        exact.convertFromString(magnitude, APFloat::rmNearestTiesToEven);
    if (!status) {
      consumeError(status.takeError());
      return std::nullopt;
    }
    bool losesInfo;
    exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    value = exact.convertToDouble();
  }
  return negative ? -value : value;
}

IntegerVerdict mil::parseInteger(StringRef text, DType dtype, uint64_t &bits) {
  bool negative = text.consume_front("-");
  if (!negative)
    text.consume_front("+");
  if (text.empty() || text.size() > maxLength ||
      text.find_first_not_of("0123456789") != StringRef::npos)
    return IntegerVerdict::NoInteger;
  uint64_t magnitude;
  if (text.getAsInteger(10, magnitude))
    return IntegerVerdict::OutOfRange;
  if (!fitsInto(dtype, negative, magnitude))
    return IntegerVerdict::OutOfRange;
  bits = negative ? -magnitude : magnitude;
  return IntegerVerdict::Fits;
}
