//===- SampleStep.cpp - reading images at any points ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// All channels of an image are read at the same points. Their pixels and
/// weights are found once for a block of points, in fp64 as in the reference,
/// and then used for one channel after another.
///
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Sample.h"
#include "lib/Ops/SamplePoints.h"
#include "lib/Runtime/Elements.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

namespace {

constexpr size_t blockPoints = 256;

/// The pixels around each point of a block. One that does not count has the
/// weight 0, since it may be infinite or NaN.
struct Corners {
  static constexpr size_t most = 4;
  size_t count = 0; ///< of a point
  uint32_t pixels[most][blockPoints];
  double weights[most][blockPoints];
  double constants[blockPoints]; ///< what is outside, with its weights
};

struct Sampling {
  size_t images, channels, points; ///< points of an image
  int64_t height, width;
  const float *x;
  DType pointType;
  const uint32_t *coordinates;
  float *out;
  Rounding rounding;
  CoordinatesMode mode;
  bool alignsCorners, isNearest;
  Outside outside;

  size_t blocks() const { return (points + blockPoints - 1) / blockPoints; }

  void addCorner(Corners &corners, size_t corner, size_t point, int64_t column,
                 int64_t row, double weight) const {
    corners.pixels[corner][point] = 0;
    corners.weights[corner][point] = 0;
    if (weight == 0)
      return;
    auto atColumn = outside.resolve(column, width),
         atRow = outside.resolve(row, height);
    if (!atColumn || !atRow) {
      corners.constants[point] += weight * outside.value;
      return;
    }
    corners.pixels[corner][point] = uint32_t(*atRow * width + *atColumn);
    corners.weights[corner][point] = weight;
  }

  /// The corners of point `point` of a block, which is at (x, y).
  void addPoint(Corners &corners, size_t point, double x, double y) const {
    // The nearest point is a constant of -0 as it is, and not a sum with 0.
    corners.constants[point] = isNearest ? -0.0 : 0.0;
    if (isNearest)
      return addCorner(corners, 0, point, int64_t(std::nearbyint(x)),
                       int64_t(std::nearbyint(y)), 1);
    auto left = int64_t(std::floor(x)), top = int64_t(std::floor(y));
    double right = x - double(left), below = y - double(top);
    addCorner(corners, 0, point, left, top, (1 - right) * (1 - below));
    addCorner(corners, 1, point, left + 1, top, right * (1 - below));
    addCorner(corners, 2, point, left, top + 1, (1 - right) * below);
    addCorner(corners, 3, point, left + 1, top + 1, right * below);
  }

  void run(size_t block) const {
    size_t image = block / blocks(), first = block % blocks() * blockPoints;
    size_t count = std::min(blockPoints, points - first);
    double places[2 * blockPoints];
    loadDoubles(pointType, coordinates + 2 * (image * points + first),
                {places, 2 * count});
    Corners corners;
    corners.count = isNearest ? 1 : Corners::most;
    for (size_t i = 0; i < count; ++i)
      addPoint(corners, i,
               positionOf(places[2 * i], width, mode, alignsCorners),
               positionOf(places[2 * i + 1], height, mode, alignsCorners));
    for (size_t channel = 0; channel < channels; ++channel) {
      size_t plane = image * channels + channel;
      float *to = out + plane * points + first;
      read(corners, count, x + plane * size_t(height * width), to);
      if (rounding == Rounding::FP16)
        roundToHalf(count, to, to);
    }
  }

  static void read(const Corners &corners, size_t count, const float *plane,
                   float *to) {
    if (corners.count == 1) {
      for (size_t i = 0; i < count; ++i)
        to[i] = corners.weights[0][i] == 0 ? float(corners.constants[i])
                                           : plane[corners.pixels[0][i]];
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      double sum = corners.constants[i];
      for (size_t corner = 0; corner < corners.count; ++corner) {
        double weight = corners.weights[corner][i];
        double part = weight * double(plane[corners.pixels[corner][i]]);
        sum += weight == 0 ? 0 : part;
      }
      to[i] = float(sum);
    }
  }
};

} // namespace

static StepFn makeResample(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(param::x),
              *points = op.operand(param::coordinates);
  const Shape &in = x->type.shape, &out = op.result()->type.shape;
  if (x->type.numElements() == 0 || op.result()->type.numElements() == 0)
    return {};
  Sampling sampling{
      .images = size_t(in[0]),
      .channels = size_t(in[1]),
      .points = size_t(out[2] * out[3]),
      .height = in[2],
      .width = in[3],
      .x = ctx.storage.floats(x),
      .pointType = points->type.dtype,
      .coordinates = ctx.storage.words(points),
      .out = ctx.storage.floats(op.result()),
      .rounding = ctx.rounding(op.result()),
      .mode = op.get(param::coordinatesMode),
      .alignsCorners = op.get(param::alignCorners),
      .isNearest = op.get(param::interpolation) == Interpolation::Nearest,
      .outside = {op.get(param::paddingMode), op.get(param::paddingValue)}};
  size_t grain = std::max<size_t>(1, 8192 / (blockPoints * sampling.channels));
  return [sampling, grain, &pool = ctx.pool] {
    pool.parallelRanges(sampling.images * sampling.blocks(), grain,
                        [&](size_t begin, size_t end, unsigned) {
                          for (size_t block = begin; block < end; ++block)
                            sampling.run(block);
                        });
  };
}

static constexpr StepRow sampleStepsTable[] = {{&ops::Resample, makeResample}};

llvm::ArrayRef<StepRow> cpu::sampleSteps() { return sampleStepsTable; }
