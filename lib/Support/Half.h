//===- Half.h - 16-bit floats ----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Conversions between IEEE binary16 (and bfloat16) bit patterns and wider
/// floats. Narrowing rounds to nearest, ties to even, and overflows to
/// infinity; subnormals are kept; a NaN stays a (quiet) NaN.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_HALF_H
#define ANEC_LIB_SUPPORT_HALF_H

#include <cstddef>
#include <cstdint>

namespace anec {

/// The largest finite fp16, and the smallest magnitude that rounds to infinity.
constexpr double halfMax = 65504.0;
constexpr double halfOverflow = 65520.0;

uint16_t floatToHalf(float value);
/// Rounds once, directly from the double.
uint16_t doubleToHalf(double value);
float halfToFloat(uint16_t bits);

uint16_t floatToBFloat(float value);
float bfloatToFloat(uint16_t bits);

/// The nearest fp16 of `value`, as a double.
inline double roundToHalf(double value) {
  return halfToFloat(doubleToHalf(value));
}

/// How arrays are converted. Results are the same; tests use both.
enum class HalfInstructions : uint8_t {
  Best,    ///< the processor's conversion instructions
  Portable ///< bit arithmetic
};
/// Convert arrays at memory speed. The ranges must not overlap; `in` need not
/// be aligned.
void floatsToHalves(const float *in, uint16_t *out, size_t count,
                    HalfInstructions instructions = HalfInstructions::Best);
void halvesToFloats(const uint16_t *in, float *out, size_t count,
                    HalfInstructions instructions = HalfInstructions::Best);
/// Rounds each element once, directly from the double.
void doublesToHalves(const double *in, uint16_t *out, size_t count);
/// The number of finite elements of `in` that become infinite as fp16.
size_t countHalfOverflows(const float *in, size_t count);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_HALF_H
