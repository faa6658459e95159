//===- DType.cpp - element types ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/DType.h"
#include <cassert>
#include <cmath>

using namespace anec;

double anec::highest(DType dtype) {
  const DTypeFacts &row = facts(dtype);
  if (!row.isFloat()) {
    assert(isInteger(dtype) && "a number");
    return std::ldexp(1.0, int(row.bits) - isSigned(dtype)) - 1;
  }
  // The largest mantissa of the largest exponent of finite numbers. Without
  // infinity that is the top exponent, whose largest mantissa is NaN.
  bool finite = row.family == DTypeFacts::FiniteFloat;
  double step = std::ldexp(1.0, -int(row.mantissaBits()));
  return std::ldexp(2.0 - (finite ? 2 : 1) * step, row.exponentBias() + finite);
}

double anec::lowest(DType dtype) {
  if (isFloat(dtype))
    return -highest(dtype);
  return isSigned(dtype) ? -std::ldexp(1.0, int(bitWidth(dtype)) - 1) : 0.0;
}

double anec::smallestNormal(DType dtype) {
  assert(isFloat(dtype) && "a float type");
  return std::ldexp(1.0, 1 - facts(dtype).exponentBias());
}

std::string DTypeSet::str() const {
  std::string text;
  for (const DTypeFacts &row : dtypeTable) {
    if (!contains(row.dtype))
      continue;
    if (!text.empty())
      text += ", ";
    text += row.spelling;
  }
  return text;
}
