//===- RopeAngles.cpp - the angles of rotary embedding --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/RopeAngles.h"
#include "lib/Ops/Params/Rope.h"
#include <algorithm>
#include <cmath>

using namespace anec;

static constexpr double turn = 2 * 3.14159265358979323846;

namespace {

/// The constants of scaling.
struct Scaling {
  double theta, factor, slow, fast;
  int64_t rotary, original, positions;

  /// How often a pair turns within the original positions.
  double turns(double step) const { return double(original) * step / turn; }
  /// Where the pairs with fewer turns than this begin, counted in pairs.
  double pairOf(double turns) const {
    return double(rotary) * std::log(double(original) / (turns * turn)) /
           (2 * std::log(theta));
  }

  double dynamicTheta() const;
  double llama3(double step) const;
  double yarn(double step, int64_t pair) const;
};

} // namespace

/// A larger theta, so that the slowest pair turns at the last position as far
/// as it did at the last original one.
double Scaling::dynamicTheta() const {
  if (positions <= original || rotary <= 2)
    return theta;
  double longer = factor * double(positions) / double(original) - (factor - 1);
  return theta * std::pow(longer, double(rotary) / double(rotary - 2));
}

/// Between slow and fast pairs, by the number of turns.
double Scaling::llama3(double step) const {
  double kept = std::clamp((turns(step) - slow) / (fast - slow), 0.0, 1.0);
  return step * (kept + (1 - kept) / factor);
}

/// Between slow and fast pairs, by the number of the pair.
double Scaling::yarn(double step, int64_t pair) const {
  double low = std::max(std::floor(pairOf(fast)), 0.0);
  double high = std::min(std::ceil(pairOf(slow)), double(rotary - 1));
  if (low == high)
    high += 0.001;
  double scaled = std::clamp((double(pair) - low) / (high - low), 0.0, 1.0);
  return step * (1 - scaled + scaled / factor);
}

template <typename Context>
void RopeAngles::read(const Context &ctx, int64_t rotated, int64_t length) {
  rotary = rotated;
  isInterleaved = ctx.get(param::style) == RopeStyle::Interleaved;
  magnitude = ctx.get(param::magnitude);
  Scaling scaling = {ctx.get(param::theta),
                     ctx.get(param::factor),
                     ctx.get(param::slowTurns),
                     ctx.get(param::fastTurns),
                     rotary,
                     ctx.get(param::originalPositions),
                     ctx.get(param::positions)};
  if (scaling.positions == 0)
    scaling.positions = length;
  RopeScalingKind kind = ctx.get(param::scaling);
  const Constant *factors = nullptr;
  if (kind == RopeScalingKind::LongRope)
    factors = ctx.constant(scaling.positions > scaling.original
                               ? param::longFactors
                               : param::shortFactors);
  double theta =
      kind == RopeScalingKind::Dynamic ? scaling.dynamicTheta() : scaling.theta;
  for (int64_t pair = 0; pair < rotary / 2; ++pair) {
    double step = std::pow(theta, -2.0 * double(pair) / double(rotary));
    switch (kind) {
    case RopeScalingKind::None:
    case RopeScalingKind::Dynamic:
      break;
    case RopeScalingKind::Linear:
      step /= scaling.factor;
      break;
    case RopeScalingKind::Llama3:
      step = scaling.llama3(step);
      break;
    case RopeScalingKind::Yarn:
      step = scaling.yarn(step, pair);
      break;
    case RopeScalingKind::LongRope:
      if (factors)
        step /= factors->doubleAt(pair);
      break;
    }
    steps.push_back(ctx.get(param::inverse) ? -step : step);
  }
}

/// How many of the channels of `shape` a `rope` rotates.
template <typename Context>
static int64_t rotatedChannels(const Context &ctx,
                               llvm::ArrayRef<int64_t> shape) {
  int64_t rotary = ctx.get(param::rotary);
  return rotary < 0 ? shape[shape.size() - 2] : rotary;
}

RopeAngles::RopeAngles(const Op &op) {
  llvm::ArrayRef<int64_t> shape = op.operand(0u)->type.shape;
  read(op, rotatedChannels(op, shape), shape.back());
}

RopeAngles::RopeAngles(const EvalContext &ctx) {
  llvm::ArrayRef<int64_t> shape = ctx.in[0]->type.shape;
  read(ctx, rotatedChannels(ctx, shape), shape.back());
}

RopeAngles RopeAngles::ofTable(const EvalContext &ctx) {
  RopeAngles angles;
  angles.read(ctx, ctx.get(param::width), ctx.get(param::count));
  return angles;
}

double RopeAngles::cosine(int64_t pair, int64_t position) const {
  return magnitude * std::cos(double(position) * steps[pair]);
}

double RopeAngles::sine(int64_t pair, int64_t position) const {
  return magnitude * std::sin(double(position) * steps[pair]);
}
