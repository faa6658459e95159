//===- DerivedConstant.cpp - numbers that anec derives --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/DerivedConstant.h"
#include "lib/IR/Elements.h"
#include <array>
#include <cmath>

using namespace anec;

/// Types that computing in fp32 is more precise than.
static bool isNarrow(DType dtype) {
  return isFloat(dtype) && bitWidth(dtype) < bitWidth(DType::FP32);
}

ConstantRef anec::derivedConstant(TensorType type,
                                  llvm::ArrayRef<double> numbers) {
  DType dtype = type.dtype;
  if (numbers.size() != 1 || !isNarrow(dtype) ||
      !std::isfinite(numbers.front()) ||
      roundToDType(numbers.front(), dtype) == numbers.front())
    return Constant::fromDoubles(std::move(type), numbers);
  auto bytes = std::make_shared<std::array<uint8_t, sizeof(double)>>();
  storeDoubles(DType::FP64, numbers, bytes->data());
  return Constant::view(std::move(type), DType::FP64, *bytes, bytes);
}

std::optional<double> anec::derivedNumber(const Constant &constant) {
  if (constant.storedDType() != DType::FP64 || !isNarrow(constant.dtype()) ||
      constant.numElements() != 1)
    return std::nullopt;
  return loadElement(DType::FP64, constant.bytes().data(), 0);
}

ConstantRef anec::roundedConstant(const Constant &constant) {
  if (!derivedNumber(constant))
    return &constant;
  return Constant::fromDoubles(constant.type(), constant.asDoubles());
}

std::vector<double> anec::exactElements(const Constant &constant) {
  if (std::optional<double> number = derivedNumber(constant))
    return {*number};
  return constant.asDoubles();
}

void anec::copyExactToFloats(const Constant &constant, float *out) {
  if (std::optional<double> number = derivedNumber(constant))
    *out = float(*number);
  else
    constant.copyToFloats(out);
}
