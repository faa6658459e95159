//===- HalfConstants.cpp - constants that fp16 holds ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HalfConstants.h"
#include "lib/IR/Elements.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>
#include <cstdio>
#include <limits>

using namespace anec;

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

ConstantUse anec::useOfOperand(const Op &op, unsigned slot) {
  auto isSlot = [&](const ValueParam &param) {
    return op.def().valueSlot(param) == int(slot);
  };
  if (op.is(ops::Add) || op.is(ops::Sub) || isSlot(param::bias) ||
      isSlot(param::betaValue) || isSlot(param::mean))
    return ConstantUse::Addend;
  if (op.is(ops::Maximum) || op.is(ops::Minimum) || op.is(ops::Less) ||
      op.is(ops::LessEqual) || op.is(ops::Greater) ||
      op.is(ops::GreaterEqual) || op.is(ops::Equal) || op.is(ops::NotEqual))
    return ConstantUse::Bound;
  return ConstantUse::Factor;
}

ConstantUse anec::useOfParameter(const Op &op, const ParamDef &param) {
  if (param.offZero)
    return ConstantUse::Guard;
  if (op.is(ops::Clip) || op.is(ops::ClampedRelu) || op.is(ops::Threshold) ||
      op.is(ops::ThresholdedRelu))
    return ConstantUse::Bound;
  return ConstantUse::Factor;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// The error of a constant in fp16 relative to its largest element: that of a
/// number of full precision is 2^-11. A guard's is larger: 1e-6 is held.
static double tolerated(ConstantUse use) {
  return use == ConstantUse::Guard ? 0x1p-6 : 0x1p-9;
}

HalfLoss anec::lossInHalf(const Constant &constant, ConstantUse use) {
  std::vector<float> elements(size_t(constant.numElements()));
  constant.copyToFloats(elements.data());
  double largest = 0;
  for (float element : elements)
    if (double magnitude = std::abs(double(element));
        std::isfinite(element) && magnitude > largest)
      largest = magnitude;
  // What rounds to infinity.
  if (use == ConstantUse::Bound)
    return {};
  if (largest >= 65520)
    return {HalfLoss::Kind::Large, largest,
            std::numeric_limits<double>::infinity()};
  if (use == ConstantUse::Addend)
    return {};
  // Elements are compared with the largest: a weight that is nearly 0 among
  // others may become 0.
  double most = largest * tolerated(use);
  for (float element : elements) {
    double half = std::isfinite(element)
                      ? roundToDType(double(element), DType::FP16)
                      : double(element);
    if (std::abs(half - double(element)) > most)
      return {HalfLoss::Kind::Small, double(element), half};
  }
  return {};
}

ConstantRef anec::inHalf(const Constant &constant, std::optional<double> limit,
                         std::optional<WeightRows> rows) {
  std::vector<double> elements = constant.asDoubles();
  double most = limit.value_or(largestHalf);
  for (double &element : elements)
    if (std::isfinite(element) && std::abs(element) > most)
      element = std::copysign(most, element);
  if (rows)
    roundByRows(elements, *rows);
  return Constant::fromDoubles({DType::FP16, constant.type().shape}, elements);
}

std::string anec::briefNumber(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}
