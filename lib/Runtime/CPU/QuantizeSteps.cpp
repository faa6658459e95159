//===- QuantizeSteps.cpp - floats to bytes and back -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// quantize and dequantize on their own. A pair without zero points, which
/// nothing else reads, is part of a tile (FusedStep.cpp).
///
//===----------------------------------------------------------------------===//

#include "AxisView.h"
#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Quantization.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The scales and zero points of the runs of an array: consecutive elements
/// with the same ones.
struct Runs {
  size_t elements = 0, length = 1, extent = 1;
  const float *scales = nullptr;
  const int32_t *zeroPoints = nullptr;           ///< null: 0
  bool hasScales = false, hasZeroPoints = false; ///< for each of `extent`

  float scale(size_t run) const { return scales[hasScales ? run % extent : 0]; }
  int32_t zeroPoint(size_t run) const {
    return zeroPoints ? zeroPoints[hasZeroPoints ? run % extent : 0] : 0;
  }
};

} // namespace

static Runs runsOf(const Op &op, StepContext &ctx) {
  const Value *scale = op.operand(param::scale),
              *zeroPoint = op.operand(param::zeroPoint);
  const TensorType &type = op.result()->type;
  Runs runs;
  runs.scales = ctx.storage.floats(scale);
  runs.hasScales = !scale->type.isScalar();
  if (zeroPoint) {
    runs.zeroPoints =
        reinterpret_cast<const int32_t *>(ctx.storage.words(zeroPoint));
    runs.hasZeroPoints = !zeroPoint->type.isScalar();
  }
  runs.elements = runs.length = size_t(type.numElements());
  if (runs.hasScales || runs.hasZeroPoints) {
    AxisView view = *viewAxes(type.shape, op.get(param::axis));
    runs.extent = view.axis;
    runs.length = view.inner;
  }
  return runs;
}

/// x / scale to the nearest integer, ties to even, plus the zero point, limited
/// to [low, high]; 0 for NaN.
static int32_t toByte(float x, float scale, int32_t zeroPoint, int32_t low,
                      int32_t high) {
  // Below 2^22, adding 1.5 * 2^23 leaves no bits for fractions.
  constexpr float magic = 0x1.8p23f, most = 1024;
  float quotient = x / scale;
  bool isNumber = quotient == quotient;
  float number = isNumber ? std::clamp(quotient, -most, most) : 0.0f;
  return std::clamp(
      int32_t(number + magic - magic) + (isNumber ? zeroPoint : 0), low, high);
}

/// Calls `part(run, begin, end)` for the elements of each run in a part of the
/// array, and then `whole(begin, end)` for the part.
template <typename Part, typename Whole>
static StepFn eachRun(const Runs &runs, Executor &pool, Part part,
                      Whole whole) {
  constexpr size_t grain = 8192;
  return [=, &pool] {
    pool.parallelRanges(
        runs.elements, grain, [&](size_t begin, size_t end, unsigned) {
          for (size_t at = begin, next = 0; at < end; at = next) {
            size_t run = at / runs.length;
            next = std::min(end, (run + 1) * runs.length);
            part(run, at, next);
          }
          whole(begin, end);
        });
  };
}

static StepFn makeQuantize(const Op &op, StepContext &ctx) {
  Runs runs = runsOf(op, ctx);
  const float *in = ctx.storage.floats(op.operand(param::input));
  auto *out = reinterpret_cast<int32_t *>(ctx.storage.words(op.result()));
  auto low = int32_t(lowest(op.result()->type.dtype)),
       high = int32_t(highest(op.result()->type.dtype));
  auto quantizePart = [=](size_t run, size_t begin, size_t end) {
    float scale = runs.scale(run);
    int32_t zeroPoint = runs.zeroPoint(run);
    for (size_t i = begin; i < end; ++i)
      out[i] = toByte(in[i], scale, zeroPoint, low, high);
  };
  return eachRun(runs, ctx.pool, quantizePart, [](size_t, size_t) {});
}

static StepFn makeDequantize(const Op &op, StepContext &ctx) {
  Runs runs = runsOf(op, ctx);
  const auto *in = reinterpret_cast<const int32_t *>(
      ctx.storage.words(op.operand(param::input)));
  float *out = ctx.storage.floats(op.result());
  bool isHalf = ctx.rounding(op.result()) == Rounding::FP16;
  auto dequantizePart = [=](size_t run, size_t begin, size_t end) {
    float scale = runs.scale(run);
    int32_t zeroPoint = runs.zeroPoint(run);
    for (size_t i = begin; i < end; ++i)
      out[i] = float(in[i] - zeroPoint) * scale;
  };
  return eachRun(runs, ctx.pool, dequantizePart, [=](size_t begin, size_t end) {
    if (isHalf)
      roundToHalf(end - begin, out + begin, out + begin);
  });
}

static constexpr StepRow quantizeStepsTable[] = {
    {&ops::Dequantize, makeDequantize},
    {&ops::Quantize, makeQuantize},
};

llvm::ArrayRef<StepRow> cpu::quantizeSteps() { return quantizeStepsTable; }
