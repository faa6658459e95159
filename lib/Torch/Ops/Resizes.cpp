//===- Resizes.cpp - interpolation ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Onnx/Ops/ResizeAxis.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Rows/Resize.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;
using onnx::Coordinates, onnx::PositionRounding, onnx::ResizeKind;

namespace {
/// How a resize finds the elements that it reads.
struct Way {
  onnx::ResizeKind kind = onnx::ResizeKind::Linear;
  bool isExact = false; ///< nearest to the centers of pixels
  bool antialias = false;
  bool aligns = false; ///< the corners
};
} // namespace

/// The weights of the kernel of a resize with antialiasing, which covers what
/// each element of a smaller result stands for: [count, extent].
static std::vector<double> smoothWeights(int64_t extent, int64_t count,
                                         double ratio, bool isCubic) {
  // As PyTorch computes them; its cubic has another parameter here.
  double wide = std::fmax(ratio, 1);
  double support = (isCubic ? 2 : 1) * wide;
  std::vector<double> all(size_t(count * extent));
  for (int64_t i = 0; i != count; ++i) {
    double center = ratio * (double(i) + 0.5);
    auto first = std::max<int64_t>(int64_t(center - support + 0.5), 0);
    auto last = std::min<int64_t>(int64_t(center + support + 0.5), extent);
    double sum = 0;
    for (int64_t at = first; at < last; ++at) {
      double t = std::fabs((double(at) - center + 0.5) / wide), weight = 0;
      constexpr double a = -0.5;
      if (!isCubic)
        weight = std::fmax(0, 1 - t);
      else if (t < 1)
        weight = ((a + 2) * t - (a + 3)) * t * t + 1;
      else if (t < 2)
        weight = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
      all[size_t(i * extent + at)] = weight;
      sum += weight;
    }
    for (int64_t at = first; at < last && sum != 0; ++at)
      all[size_t(i * extent + at)] /= sum;
  }
  return all;
}

/// Multiplies the axis by a matrix of weights, [count, extent].
static Val weighted(Node &n, Val x, int64_t axis, int64_t count,
                    llvm::ArrayRef<double> weights) {
  Emitter &e = n.e;
  Shape perm;
  for (int64_t i = 0; i != x.rank(); ++i)
    perm.push_back(i);
  std::swap(perm[size_t(axis)], perm.back());
  Val turned = e.transpose(x, perm);
  Val matrix = e.constant(
      Constant::fromDoubles({x.dtype(), {count, x.dim(axis)}}, weights));
  return e.transpose(e.matmul(turned, matrix, false, true), perm);
}

/// The matrix that resizes an axis, [count, extent]; empty after an error. The
/// scale follows from the extents unless it is given.
static std::vector<double> weightsAlong(Node &n, const Way &way, int64_t extent,
                                        int64_t count, double scale) {
  if (count < 1 || extent < 1 || !n.e.affords({count, extent}) ||
      !n.e.takeSteps(count * extent)) {
    n.fail("its result is too large");
    return {};
  }
  if (!(scale > 0)) {
    n.fail("its scale is not positive");
    return {};
  }
  if (way.antialias) {
    double ratio = !way.aligns ? 1 / scale
                   : count > 1 ? double(extent - 1) / double(count - 1)
                               : 0;
    return smoothWeights(extent, count, ratio, way.kind == ResizeKind::Cubic);
  }
  onnx::ResizeMode mode{.kind = way.kind,
                        .coordinates =
                            way.kind != ResizeKind::Nearest
                                ? (way.aligns ? Coordinates::AlignCorners
                                              : Coordinates::HalfPixel)
                            : way.isExact ? Coordinates::HalfPixel
                                          : Coordinates::Asymmetric,
                        .rounding = way.isExact ? PositionRounding::PreferCeil
                                                : PositionRounding::Floor};
  onnx::ResizeAxis along{.extent = extent, .count = count, .scale = scale};
  if (way.aligns)
    along.scale = double(count) / double(extent);
  return along.weights(mode);
}

static std::vector<double> givenScales(Node &n) {
  std::vector<double> scales;
  if (n.has("scale_factors"))
    scales = n.numbers("scale_factors");
  for (StringRef name : {"scales", "scales_d", "scales_h", "scales_w"})
    if (n.has(name))
      scales.push_back(n.number(name));
  return scales;
}

static void resizeAll(Node &n, const Way &way) {
  Emitter &e = n.e;
  Val x = n.in(n.has("input") ? "input" : "self");
  Shape sizes = n.ints("output_size");
  std::vector<double> scales = givenScales(n);
  if (n.failed() || !x)
    return;
  if (sizes.empty())
    for (size_t i = 0; i != scales.size(); ++i)
      sizes.push_back(
          int64_t(std::floor(double(x.shape()[i + 2]) * scales[i])));
  if (int64_t(sizes.size()) + 2 != x.rank())
    return n.fail("it has no size for each axis");
  bool byScales = scales.size() == sizes.size();
  for (auto [i, count] : llvm::enumerate(sizes)) {
    int64_t axis = int64_t(i) + 2, extent = x.dim(axis);
    double scale = byScales ? scales[i] : double(count) / double(extent);
    if (count == extent && scale == 1)
      continue;
    std::vector<double> weights = weightsAlong(n, way, extent, count, scale);
    if (weights.empty())
      return;
    // Elements that are read alone are gathered.
    Shape single;
    for (int64_t row = 0; row != count; ++row)
      for (int64_t at = 0; at != extent; ++at)
        if (weights[size_t(row * extent + at)] == 1)
          single.push_back(at);
    x = int64_t(single.size()) == count ? e.gather(x, e.list(single), axis)
                                        : weighted(n, x, axis, count, weights);
    if (!x)
      return;
  }
  n.out(x);
}

/// The gradient of the input: the matrix of each axis, transposed.
static void resizeBackward(Node &n, const Way &way) {
  Val dy = n.in("grad_output");
  Shape input = n.ints("input_size");
  std::vector<double> scales = givenScales(n);
  n.ignore("output_size"); // the gradient's shape
  if (n.failed() || !dy)
    return;
  if (int64_t(input.size()) != dy.rank() || dy.rank() < 3)
    return n.fail("it has no size for each axis");
  bool byScales = scales.size() + 2 == input.size();
  for (size_t axis = 2; axis != input.size(); ++axis) {
    int64_t count = dy.dim(int64_t(axis)), extent = input[axis];
    double scale = byScales ? scales[axis - 2] : double(count) / double(extent);
    if (count == extent && scale == 1)
      continue;
    std::vector<double> weights = weightsAlong(n, way, extent, count, scale);
    if (weights.empty())
      return;
    std::vector<double> transposed(weights.size());
    for (int64_t row = 0; row != count; ++row)
      for (int64_t at = 0; at != extent; ++at)
        transposed[size_t(at * count + row)] =
            weights[size_t(row * extent + at)];
    dy = weighted(n, dy, int64_t(axis), extent, transposed);
    if (!dy)
      return;
  }
  n.out(dy);
}

template <bool IsExact>
static void nearest(Node &n) {
  resizeAll(n, {.kind = ResizeKind::Nearest, .isExact = IsExact});
}

template <bool IsExact>
static void nearestBackward(Node &n) {
  resizeBackward(n, {.kind = ResizeKind::Nearest, .isExact = IsExact});
}

/// MIL's resize of images, where it reads the same positions.
static bool resizeImages(Node &n, bool aligns) {
  Val x = n.in(n.has("input") ? "input" : "self");
  Shape sizes = n.ints("output_size");
  if (n.failed() || !x || x.rank() != 4)
    return false;
  bool byScales = n.has("scale_factors") || n.has("scales_h");
  if (sizes.empty() && n.has("scale_factors")) {
    std::vector<double> scales = n.numbers("scale_factors");
    for (size_t i = 0; i != scales.size() && i != 2; ++i) {
      double size = double(x.shape()[i + 2]) * scales[i];
      if (size != std::floor(size))
        return false;
      sizes.push_back(int64_t(size));
    }
    byScales = false;
  }
  if (sizes.size() != 2 || byScales || sizes[0] < 2 || sizes[1] < 2)
    return false;
  n.out(
      n.e.make(ops::ResizeBilinear, {x},
               {{param::targetSizeHeight, sizes[0]},
                {param::targetSizeWidth, sizes[1]},
                {param::samplingMode, aligns ? SamplingMode::StrictAlignCorners
                                             : SamplingMode::UnalignCorners}}));
  return true;
}

static void resizeLinear(Node &n) {
  bool aligns = n.flag("align_corners");
  if (!resizeImages(n, aligns))
    resizeAll(n, {.kind = ResizeKind::Linear, .aligns = aligns});
}

static void cubic(Node &n) {
  resizeAll(n, {.kind = ResizeKind::Cubic, .aligns = n.flag("align_corners")});
}

static void smoothLinear(Node &n) {
  resizeAll(n, {.kind = ResizeKind::Linear,
                .antialias = true,
                .aligns = n.flag("align_corners")});
}

static void smoothCubic(Node &n) {
  resizeAll(n, {.kind = ResizeKind::Cubic,
                .antialias = true,
                .aligns = n.flag("align_corners")});
}

static void linearBackward(Node &n) {
  resizeBackward(
      n, {.kind = ResizeKind::Linear, .aligns = n.flag("align_corners")});
}

static void cubicBackward(Node &n) {
  resizeBackward(
      n, {.kind = ResizeKind::Cubic, .aligns = n.flag("align_corners")});
}

static void smoothLinearBackward(Node &n) {
  resizeBackward(n, {.kind = ResizeKind::Linear,
                     .antialias = true,
                     .aligns = n.flag("align_corners")});
}

static void smoothCubicBackward(Node &n) {
  resizeBackward(n, {.kind = ResizeKind::Cubic,
                     .antialias = true,
                     .aligns = n.flag("align_corners")});
}

//===----------------------------------------------------------------------===//
// Channels as pixels
//===----------------------------------------------------------------------===//

/// [..., channels * factor^2, rows, columns] as [..., channels, rows * factor,
/// columns * factor].
static void pixelShuffle(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t factor = n.integer("upscale_factor");
  constexpr int64_t most = 4096;
  if (n.failed() || x.rank() < 3 || factor < 1 || factor > most ||
      x.dim(-3) % (factor * factor) != 0)
    return n.fail("the channels are not a multiple of the factor");
  Shape shape(x.shape().begin(), x.shape().end() - 3);
  int64_t batch = 1;
  for (int64_t extent : shape)
    batch *= extent;
  int64_t channels = x.dim(-3) / (factor * factor), rows = x.dim(-2),
          columns = x.dim(-1);
  Val parts = e.reshape(x, {batch * channels, factor, factor, rows, columns});
  Val moved = e.transpose(parts, {0, 3, 1, 4, 2});
  llvm::append_range(shape, llvm::ArrayRef<int64_t>{channels, rows * factor,
                                                    columns * factor});
  n.out(e.reshape(moved, shape));
}

static void pixelUnshuffle(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t factor = n.integer("downscale_factor");
  if (n.failed() || x.rank() < 3 || factor < 1 || x.dim(-2) % factor != 0 ||
      x.dim(-1) % factor != 0)
    return n.fail("the plane is not a multiple of the factor");
  Shape shape(x.shape().begin(), x.shape().end() - 3);
  int64_t batch = 1;
  for (int64_t extent : shape)
    batch *= extent;
  int64_t channels = x.dim(-3), rows = x.dim(-2) / factor,
          columns = x.dim(-1) / factor;
  Val parts = e.reshape(x, {batch * channels, rows, factor, columns, factor});
  Val moved = e.transpose(parts, {0, 2, 4, 1, 3});
  llvm::append_range(shape, llvm::ArrayRef<int64_t>{channels * factor * factor,
                                                    rows, columns});
  n.out(e.reshape(moved, shape));
}

static void channelShuffle(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t groups = n.integer("groups");
  if (n.failed() || x.rank() < 3 || groups < 1 || x.dim(1) % groups != 0 ||
      x.size() == 0)
    return n.fail("the channels are not a multiple of the groups");
  int64_t each = x.dim(1) / groups;
  Val parts =
      e.reshape(x, {x.dim(0), groups, each, x.size() / (x.dim(0) * x.dim(1))});
  n.out(e.reshape(e.transpose(parts, {0, 2, 1, 3}), x.shape()));
}

static constexpr OpRow resizeTable[] = {
    {"aten._upsample_bicubic2d_aa.default", smoothCubic},
    {"aten._upsample_bicubic2d_aa.vec", smoothCubic},
    {"aten._upsample_bicubic2d_aa_backward.default", smoothCubicBackward},
    {"aten._upsample_bilinear2d_aa.default", smoothLinear},
    {"aten._upsample_bilinear2d_aa.vec", smoothLinear},
    {"aten._upsample_bilinear2d_aa_backward.default", smoothLinearBackward},
    {"aten._upsample_nearest_exact1d.vec", nearest<true>},
    {"aten._upsample_nearest_exact1d_backward.default", nearestBackward<true>},
    {"aten._upsample_nearest_exact2d.default", nearest<true>},
    {"aten._upsample_nearest_exact2d.vec", nearest<true>},
    {"aten._upsample_nearest_exact2d_backward.default", nearestBackward<true>},
    {"aten._upsample_nearest_exact3d.vec", nearest<true>},
    {"aten._upsample_nearest_exact3d_backward.default", nearestBackward<true>},
    {"aten.channel_shuffle.default", channelShuffle},
    {"aten.pixel_shuffle.default", pixelShuffle},
    {"aten.pixel_unshuffle.default", pixelUnshuffle},
    {"aten.upsample_bicubic2d.default", cubic},
    {"aten.upsample_bicubic2d.vec", cubic},
    {"aten.upsample_bicubic2d_backward.default", cubicBackward},
    {"aten.upsample_bilinear2d.default", resizeLinear},
    {"aten.upsample_bilinear2d.vec", resizeLinear},
    {"aten.upsample_bilinear2d_backward.default", linearBackward},
    {"aten.upsample_linear1d.default", resizeLinear},
    {"aten.upsample_linear1d.vec", resizeLinear},
    {"aten.upsample_linear1d_backward.default", linearBackward},
    {"aten.upsample_nearest1d.vec", nearest<false>},
    {"aten.upsample_nearest1d_backward.default", nearestBackward<false>},
    {"aten.upsample_nearest2d.default", nearest<false>},
    {"aten.upsample_nearest2d.vec", nearest<false>},
    {"aten.upsample_nearest2d_backward.default", nearestBackward<false>},
    {"aten.upsample_nearest3d.vec", nearest<false>},
    {"aten.upsample_nearest3d_backward.default", nearestBackward<false>},
    {"aten.upsample_trilinear3d.vec", resizeLinear},
    {"aten.upsample_trilinear3d_backward.default", linearBackward},
};

llvm::ArrayRef<OpRow> torch::resizeRows() { return resizeTable; }
