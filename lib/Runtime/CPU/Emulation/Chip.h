//===- Chip.h - how a chip's engine computes --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The published arithmetic of the engines, as data. None of it is documented
/// by the vendor; docs/use/numerics.md names the sources and says what is
/// assumed where they are silent.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_EMULATION_CHIP_H
#define ANEC_LIB_RUNTIME_CPU_EMULATION_CHIP_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include <optional>

namespace anec::cpu {

struct Chip {
  /// How a number halfway between two fp16 values is rounded.
  enum class Ties : uint8_t { Even, Away } ties;
  /// How products are summed.
  enum class Accumulator : uint8_t {
    /// 32-bit fixed point with 16 binary places: each product is rounded to
    /// 2^-16, halves away from zero.
    Fixed,
    /// Four products at a time in fp16, one after the other, then in fp32.
    HalfThenSingle,
  } accumulator;
  /// Which products are treated as zero.
  enum class Vanishing : uint8_t {
    /// Those of operands whose exponents add up to -17 or less, where a
    /// subnormal counts as -14.
    ExponentSum,
    /// Those smaller than the smallest normal fp16, 2^-14.
    Subnormal,
    /// Those that fixed point rounds to zero, below 2^-17.
    HalfUnit,
  } vanishing;
  /// The result after a partial sum of 2^15 or more.
  enum class Beyond : uint8_t {
    Infinity, ///< infinity, independent of later products
    /// The same, also for a result that fp16 rounds to 2^15, from 32760 on.
    InfinityRounded,
    Zero,     ///< zero, independent of later products
    Saturate, ///< the sum continues from 2^15
  } beyond;
  /// Slices of the last axis that do not begin at 0 are limited to 4094.
  bool limitsWidthSlices;

  /// `value` rounded to fp16, with ties as above. Values beyond 65504 and NaN
  /// become infinity; -0 stays.
  double toHalf(double value) const;
};

/// The chip that `numerics` emulates; null for none.
const Chip *emulatedChip(Numerics numerics);

/// An activation as the engine computes it: linear interpolation between 33
/// points, the same on all chips. Returns nothing for other ops.
using Table = double (*)(double x);
std::optional<Table> activationTable(const Op &op);
double tableExp(double x);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_EMULATION_CHIP_H
