//===- Chip.cpp - how a chip's engine computes ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Chip.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Support/Half.h"
#include <array>
#include <cmath>
#include <limits>

using namespace anec;
using namespace anec::cpu;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

static constexpr Chip m1 = {Chip::Ties::Even, Chip::Accumulator::HalfThenSingle,
                            Chip::Vanishing::Subnormal, Chip::Beyond::Saturate,
                            /*limitsWidthSlices=*/true};
static constexpr Chip m2 = {Chip::Ties::Away, Chip::Accumulator::Fixed,
                            Chip::Vanishing::HalfUnit,
                            Chip::Beyond::InfinityRounded,
                            /*limitsWidthSlices=*/true};
static constexpr Chip m3 = {Chip::Ties::Away, Chip::Accumulator::Fixed,
                            Chip::Vanishing::Subnormal, Chip::Beyond::Zero,
                            /*limitsWidthSlices=*/false};
static constexpr Chip m4 = {Chip::Ties::Away, Chip::Accumulator::Fixed,
                            Chip::Vanishing::ExponentSum,
                            Chip::Beyond::Infinity,
                            /*limitsWidthSlices=*/false};

const Chip *cpu::emulatedChip(Numerics numerics) {
  switch (numerics) {
  case Numerics::FP32:
  case Numerics::FP16:
    return nullptr;
  case Numerics::M1:
    return &m1;
  case Numerics::M2:
    return &m2;
  case Numerics::M3:
    return &m3;
  case Numerics::M4:
    return &m4;
  }
  return nullptr;
}

/// Rounds to the nearest fp16, halves away from zero.
static double roundAway(double value) {
  if (value == 0)
    return value;
  int exponent = std::max(std::ilogb(value), -14);
  double unit = std::ldexp(1.0, exponent - 10);
  double rounded = std::round(value / unit) * unit;
  return std::fabs(rounded) > halfMax ? std::copysign(infinity, value)
                                      : rounded;
}

double Chip::toHalf(double value) const {
  if (std::isnan(value))
    return infinity;
  if (std::isinf(value))
    return value;
  return ties == Ties::Even ? roundToHalf(value) : roundAway(value);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {

/// 33 values at equal distances from `from` to `to`.
class Points {
public:
  Points(double from, double to, double (*exact)(double))
      : from(from), step((to - from) / 32) {
    for (unsigned i = 0; i <= 32; ++i)
      values[i] = exact(from + i * step);
  }
  /// Interpolates linearly between the two points around `x`, which is in the
  /// range.
  double operator()(double x) const {
    double at = (x - from) / step;
    unsigned i = std::min(31u, unsigned(at));
    return values[i] + (at - i) * (values[i + 1] - values[i]);
  }
  double &operator[](unsigned i) { return values[i]; }

private:
  double from, step;
  std::array<double, 33> values;
};

} // namespace

static double exactSigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double exactSilu(double x) { return x * exactSigmoid(x); }
static double exactGelu(double x) {
  return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
}

static double tableSigmoid(double x) {
  static const Points points(-8, 8, exactSigmoid);
  return x <= -8 ? 0 : x >= 8 ? 1 : points(x);
}

static double tableTanh(double x) {
  static const Points points(0, 4, [](double y) { return std::tanh(y); });
  double magnitude = std::fabs(x);
  return std::copysign(magnitude >= 4 ? 1 : points(magnitude), x);
}

static double tableErf(double x) {
  static const Points points(0, 2, [](double y) { return std::erf(y); });
  double magnitude = std::fabs(x);
  return std::copysign(magnitude > 2 ? 1 : points(magnitude), x);
}

static double tableSilu(double x) {
  static const Points points(-8, 8, exactSilu);
  return x <= -8 ? 0 : x >= 8 ? x : points(x);
}

/// All modes share one table, whose point at 0 is inexact.
static double tableGelu(double x) {
  static const Points points = [] {
    Points made(-4, 4, exactGelu);
    made[16] = -0.000754;
    return made;
  }();
  return x <= -4 ? 0 : x >= 4 ? x : points(x);
}

/// 2^t as a power of two times the table of 2^(i/32). The engine rounds `t` to
/// fp16, which causes most of the error.
static double tableExp2(double x) {
  static const Points points(0, 1, [](double y) { return std::exp2(y); });
  double t = roundToHalf(x);
  if (std::isinf(t))
    return t > 0 ? infinity : 0;
  double whole = std::floor(t);
  return std::ldexp(points(t - whole), int(whole));
}

double cpu::tableExp(double x) { return tableExp2(x * 1.4426950408889634); }

std::optional<Table> cpu::activationTable(const Op &op) {
  static constexpr std::pair<const OpDef *, Table> tables[] = {
      {&ops::Sigmoid, tableSigmoid}, {&ops::Tanh, tableTanh},
      {&ops::Erf, tableErf},         {&ops::Silu, tableSilu},
      {&ops::Gelu, tableGelu},       {&ops::Exp, tableExp},
      {&ops::Exp2, tableExp2},
  };
  for (const auto &[def, table] : tables)
    if (op.is(*def))
      return table;
  return std::nullopt;
}
