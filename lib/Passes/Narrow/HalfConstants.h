//===- HalfConstants.h - constants that fp16 holds --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_HALFCONSTANTS_H
#define ANEC_LIB_PASSES_NARROW_HALFCONSTANTS_H

#include "WeightRows.h"
#include "lib/IR/OpDef.h"
#include <cmath>

namespace anec {

/// The largest number of fp16, and the smallest of full precision.
constexpr double largestHalf = 65504, smallestHalf = 0x1p-14;
/// Ordinary numbers, up to 16, times this are held by fp16.
constexpr double largestFactor = 4096;
/// Whether `number` lies between the first two, of either sign.
inline bool isNormalHalf(double number) {
  double magnitude = std::abs(number);
  return magnitude >= smallestHalf && magnitude <= largestHalf;
}

/// What a constant is in an op, which decides how near fp16 must be to it.
enum class ConstantUse : uint8_t {
  /// Multiplied, or passed on: its relative error is the result's.
  Factor,
  /// Added to a value of fp16, whose own spacing near 0 is that of constants.
  Addend,
  /// Keeps a value off 0, which is divided by, or of which a root or a
  /// logarithm is taken.
  Guard,
  /// Limits a value, or is compared with one: numbers beyond fp16 do what its
  /// largest number does.
  Bound,
};
/// The use of an operand, and of a constant parameter.
ConstantUse useOfOperand(const Op &op, unsigned slot);
ConstantUse useOfParameter(const Op &op, const ParamDef &param);

/// What fp16 does to a constant.
struct HalfLoss {
  enum class Kind : uint8_t {
    None,
    Large, ///< an element is finite and beyond fp16
    Small, ///< elements are too near 0 for a small relative error
  };
  Kind kind = Kind::None;
  double element = 0; ///< one that is lost
  double half = 0;    ///< what it becomes
  explicit operator bool() const { return kind != Kind::None; }
};
HalfLoss lossInHalf(const Constant &constant, ConstantUse use);

/// `constant`, of floats, in fp16. Elements beyond it become its largest
/// number; with `limit`, all finite elements are limited to that magnitude.
/// `rows` keep their sums.
ConstantRef inHalf(const Constant &constant,
                   std::optional<double> limit = std::nullopt,
                   std::optional<WeightRows> rows = std::nullopt);

/// `number` for messages: `1e+09`.
std::string briefNumber(double number);

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_HALFCONSTANTS_H
