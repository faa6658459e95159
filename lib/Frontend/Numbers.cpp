//===- Numbers.cpp - compile-time arithmetic ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include "lib/Frontend/Diags.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace anec;
using namespace anec::frontend;

std::string Number::str() const {
  if (isInteger)
    return fmt::format("{}", integer);
  std::string text = fmt::format("{}", decimal);
  if (llvm::StringRef(text).find_first_of(".en") == llvm::StringRef::npos)
    text += ".0";
  return text;
}

int64_t frontend::floorQuotient(int64_t lhs, int64_t rhs) {
  return lhs / rhs - (lhs % rhs != 0 && (lhs < 0) != (rhs < 0));
}

/// base ^ exponent; nothing when it does not fit.
static std::optional<int64_t> power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  // Beyond 63 steps, only -1, 0 and 1 still fit: their powers alternate.
  if (exponent > 64)
    exponent = 64 + exponent % 2;
  for (; exponent > 0; --exponent)
    if (llvm::MulOverflow(result, base, result))
      return std::nullopt;
  return result;
}

static std::optional<Number> combineIntegers(Arithmetic op, int64_t lhs,
                                             int64_t rhs, SourceRange range,
                                             Diagnostics &diags) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
  case Arithmetic::Add:
    overflow = llvm::AddOverflow(lhs, rhs, result);
    break;
  case Arithmetic::Sub:
    overflow = llvm::SubOverflow(lhs, rhs, result);
    break;
  case Arithmetic::Mul:
    overflow = llvm::MulOverflow(lhs, rhs, result);
    break;
  case Arithmetic::Power: {
    if (rhs < 0) {
      diags.report(range, diag::InexactPower, lhs, rhs);
      return std::nullopt;
    }
    std::optional<int64_t> raised = power(lhs, rhs);
    overflow = !raised;
    result = raised.value_or(0);
    break;
  }
  case Arithmetic::Div:
    if (rhs == 0) {
      diags.report(range, diag::DivisionByZero, std::to_string(lhs));
      return std::nullopt;
    }
    overflow = lhs == INT64_MIN && rhs == -1;
    if (!overflow && lhs % rhs != 0) {
      diags.report(range, diag::InexactDivision, lhs, rhs);
      return std::nullopt;
    }
    result = overflow ? 0 : lhs / rhs;
    break;
  }
  if (!overflow)
    return Number::ofInteger(result);
  diags.report(range, diag::IntegerOverflow, lhs, spelling(op), rhs);
  return std::nullopt;
}

static double combineDecimals(Arithmetic op, double lhs, double rhs) {
  switch (op) {
  case Arithmetic::Add:
    return lhs + rhs;
  case Arithmetic::Sub:
    return lhs - rhs;
  case Arithmetic::Mul:
    return lhs * rhs;
  case Arithmetic::Div:
    return lhs / rhs;
  case Arithmetic::Power:
    return std::pow(lhs, rhs);
  }
  llvm_unreachable("an unknown operator");
}

std::optional<Number> frontend::combine(Arithmetic op, const Number &lhs,
                                        const Number &rhs, SourceRange range,
                                        Diagnostics &diags) {
  if (lhs.isInteger && rhs.isInteger)
    return combineIntegers(op, lhs.integer, rhs.integer, range, diags);
  double a = lhs.asDouble(), b = rhs.asDouble();
  if (op == Arithmetic::Div && b == 0) {
    diags.report(range, diag::DivisionByZero, lhs.str());
    return std::nullopt;
  }
  double result = combineDecimals(op, a, b);
  // What is computed of `inf` and `nan` need not be finite.
  if (std::isfinite(result) || !std::isfinite(a) || !std::isfinite(b))
    return Number::ofDecimal(result);
  diags.report(range, diag::NumberOutOfRange);
  return std::nullopt;
}

std::optional<Number> frontend::namedNumber(llvm::StringRef name) {
  using Limits = std::numeric_limits<double>;
  if (name == "inf")
    return Number::ofDecimal(Limits::infinity());
  if (name == "nan")
    return Number::ofDecimal(Limits::quiet_NaN());
  return std::nullopt;
}

std::optional<Number> frontend::parseNumber(llvm::StringRef text) {
  text = text.trim();
  int64_t integer = 0;
  if (!text.getAsInteger(10, integer))
    return Number::ofInteger(integer);
  // Spellings that the language does not have (`inf`, `0x1p3`) are not numbers
  // here, either.
  double decimal = 0;
  if (text.find_first_not_of("0123456789.+-eE") == llvm::StringRef::npos &&
      text.size() <= 400 && !text.getAsDouble(decimal) &&
      std::isfinite(decimal))
    return Number::ofDecimal(decimal);
  return std::nullopt;
}
