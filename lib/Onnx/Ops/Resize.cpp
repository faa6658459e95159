//===- Resize.cpp - images of other sizes ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Resize.h"
#include "../Families.h"
#include "AlongAxis.h"
#include "ResizeAxis.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Params/Sampling.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// One axis
//===----------------------------------------------------------------------===//

/// The index that each row of [count, extent] reads alone; empty if one reads
/// several.
static Shape singleIndices(llvm::ArrayRef<double> weights, int64_t extent) {
  Shape indices;
  for (; !weights.empty(); weights = weights.drop_front(extent)) {
    llvm::ArrayRef<double> row = weights.take_front(extent);
    const double *one = llvm::find(row, 1.0);
    if (one == row.end() || llvm::count(row, 0.0) != extent - 1)
      return {};
    indices.push_back(one - row.begin());
  }
  return indices;
}

static Val resizeAlong(Node &n, Val x, int64_t axis, const ResizeAxis &way,
                       const ResizeMode &mode) {
  std::vector<double> weights = way.weights(mode);
  if (Shape indices = singleIndices(weights, way.extent); !indices.empty())
    return n.e.gather(x, n.e.list(indices), axis);
  if (!n.affords({way.count, way.extent}))
    return {};
  return weighAlong(n.e, x, axis, weights);
}

//===----------------------------------------------------------------------===//
// All axes
//===----------------------------------------------------------------------===//

/// The sampling mode of `resize_bilinear` that reads the same positions, if
/// there is one.
static std::optional<SamplingMode>
samplingMode(const ResizeMode &mode, llvm::ArrayRef<ResizeAxis> ways) {
  if (mode.kind != ResizeKind::Linear || mode.excludeOutside)
    return std::nullopt;
  for (const ResizeAxis &way : ways)
    if ((mode.antialias && way.scale < 1) ||
        double(way.extent) * way.scale != double(way.count) || way.count < 2)
      return std::nullopt;
  switch (mode.coordinates) {
  case Coordinates::AlignCorners:
    return SamplingMode::StrictAlignCorners;
  case Coordinates::Asymmetric:
    return SamplingMode::Default;
  case Coordinates::HalfPixel:
  case Coordinates::PyTorchHalfPixel:
    return SamplingMode::UnalignCorners;
  case Coordinates::HalfPixelSymmetric:
  case Coordinates::CropAndResize:
  case Coordinates::HalfPixelForNearest:
    return std::nullopt;
  }
  llvm_unreachable("an unknown correspondence");
}

/// Whether each element is repeated, an axis by a number of its own.
static bool repeats(const ResizeMode &mode, llvm::ArrayRef<ResizeAxis> ways) {
  if (mode.kind != ResizeKind::Nearest)
    return false;
  for (const ResizeAxis &way : ways) {
    if (way.count % way.extent)
      return false;
    Shape indices = singleIndices(way.weights(mode), way.extent);
    for (size_t i = 0; i != indices.size(); ++i)
      if (indices[i] != int64_t(i) * way.extent / way.count)
        return false;
  }
  return true;
}

/// An op of MIL for the last two axes, if there is one; missing otherwise.
static Val resizeImages(Emitter &e, Val x, llvm::ArrayRef<ResizeAxis> ways,
                        const ResizeMode &mode) {
  if (x.rank() < 3 || x.rank() > 5)
    return {};
  for (const ResizeAxis &way : ways.drop_back(2))
    if (way.count != way.extent || way.scale != 1)
      return {};
  ways = ways.take_back(2);
  int64_t height = ways[0].count, width = ways[1].count;
  if (repeats(mode, ways))
    return e.make(
        ops::UpsampleNearestNeighbor, {x},
        {{param::scaleFactorHeight,
          Constant::scalar(DType::FP32, double(height / ways[0].extent))},
         {param::scaleFactorWidth,
          Constant::scalar(DType::FP32, double(width / ways[1].extent))}});
  std::optional<SamplingMode> sampling = samplingMode(mode, ways);
  if (!sampling)
    return {};
  return e.make(ops::ResizeBilinear, {x},
                {{param::targetSizeHeight, height},
                 {param::targetSizeWidth, width},
                 {param::samplingMode, *sampling}});
}

/// Replaces what tf_crop_and_resize reads outside of the input.
static Val replaceOutside(Emitter &e, Val x, llvm::ArrayRef<ResizeAxis> ways,
                          const ResizeMode &mode, double value) {
  for (const auto &[axis, way] : llvm::enumerate(ways)) {
    Shape shape(ways.size(), 1);
    shape[axis] = way.count;
    std::vector<double> outside;
    for (int64_t i = 0; i != way.count; ++i)
      outside.push_back(way.isOutside(mode, i));
    if (llvm::count(outside, 0) == way.count)
      continue;
    Val mask = e.constant(Constant::fromDoubles({DType::Bool, shape}, outside));
    x = e.select(mask, e.filled(x.dtype(), x.shape(), value), x);
  }
  return x;
}

static void resize(Node &n, Val x, llvm::ArrayRef<ResizeAxis> ways,
                   const ResizeMode &mode, double extrapolation = 0) {
  for (const ResizeAxis &way : ways) {
    if (way.count < 1 || way.extent < 1)
      return n.fail("the input or the result has no elements");
    if (way.count > int64_t(1) << 24 ||
        way.count * way.extent > int64_t(1) << 24 ||
        !n.e.takeSteps(way.count * way.extent))
      return n.refuse("the result is too large");
  }
  Emitter &e = n.e;
  DType dtype = x.dtype();
  if (mode.kind != ResizeKind::Nearest && Emitter::wideOf(x) == DType::Int32)
    x = e.cast(x, DType::FP32);
  bool isFloat = x.dtype() == DType::FP16 || x.dtype() == DType::FP32;
  Val result = isFloat ? resizeImages(e, x, ways, mode) : Val();
  if (!result) {
    result = x;
    for (const auto &[axis, way] : llvm::enumerate(ways))
      if (way.count != way.extent || way.scale != 1 ||
          mode.coordinates == Coordinates::CropAndResize)
        result = resizeAlong(n, result, int64_t(axis), way, mode);
  }
  if (n.failed())
    return;
  result = e.cast(result, dtype);
  n.out(replaceOutside(e, result, ways, mode, extrapolation));
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Ways from a scale for each axis; the node has failed if they do not match.
static std::vector<ResizeAxis> waysOf(Node &n, Val x,
                                      llvm::ArrayRef<double> scales) {
  std::vector<ResizeAxis> ways;
  if (int64_t(scales.size()) != x.rank()) {
    n.fail("there must be a scale for each axis of the input");
    return ways;
  }
  for (size_t i = 0; i != scales.size(); ++i) {
    if (!(scales[i] > 0 && scales[i] < 1e6)) {
      n.fail("scales must be greater than 0 and less than 1000000");
      return ways;
    }
    int64_t extent = x.shape()[i];
    ways.push_back({.extent = extent,
                    .count = int64_t(std::floor(double(extent) * scales[i])),
                    .scale = scales[i]});
  }
  return ways;
}

/// Reads an attribute into `value`; reports an unknown word. Empty text is the
/// word of what no attribute names.
template <Worded Enum>
static void readWord(Node &n, llvm::StringRef name, Enum fallback,
                     Enum &value) {
  StringRef text = n.attrText(name, spelling(fallback));
  std::optional<Enum> read = parseWord<Enum>(text);
  if (!read || text.empty())
    n.fail("`" + name + "` `" + text + "` is not known");
  else
    value = *read;
}

static void readKind(Node &n, bool isScaled, ResizeMode &mode) {
  StringRef text = n.attrText("mode", spelling(ResizeKind::Nearest));
  if (isScaled && text == "bilinear")
    text = spelling(ResizeKind::Linear);
  if (std::optional<ResizeKind> kind = parseWord<ResizeKind>(text))
    mode.kind = *kind;
  else
    n.fail("`mode` must be `nearest`, `linear` or `cubic`");
}

/// Up to version 10: scales alone, from the corner.
static void readScaled(Node &n, bool scalesAreAttribute) {
  Val x = n.in(0);
  if (!x)
    return;
  ResizeMode mode;
  readKind(n, /*isScaled=*/true, mode);
  if (n.failed())
    return;
  std::vector<double> scales =
      scalesAreAttribute ? n.attrNumbers("scales") : n.numbers(1);
  if (n.failed())
    return;
  // As ONNX's own case of version 10, and onnxruntime.
  if (mode.kind == ResizeKind::Nearest && n.opset() >= 10)
    mode.rounding = PositionRounding::CeilWhereSmaller;
  std::vector<ResizeAxis> ways = waysOf(n, x, scales);
  if (!n.failed())
    resize(n, x, ways, mode);
}

static void readUpsample(Node &n) { readScaled(n, n.opset() < 9); }

namespace {
/// Whether the sizes are exact, or bounds of a result in proportion.
ANEC_ENUM(AspectPolicy, (Stretch, "stretch"), (NotLarger, "not_larger"),
          (NotSmaller, "not_smaller"))
} // namespace

/// Ways from the sizes of `axes`, by the policy of the node.
static std::vector<ResizeAxis> waysToSizes(Node &n, Val x,
                                           llvm::ArrayRef<int64_t> axes,
                                           llvm::ArrayRef<int64_t> sizes) {
  std::vector<ResizeAxis> ways;
  for (int64_t extent : x.shape())
    ways.push_back({.extent = extent, .count = extent, .scale = 1});
  if (sizes.size() != axes.size()) {
    n.fail("there must be a size for each axis that is resized");
    return ways;
  }
  for (size_t i = 0; i != axes.size(); ++i) {
    ResizeAxis &way = ways[size_t(axes[i])];
    way.count = sizes[i];
    way.scale = double(way.count) / double(way.extent);
  }
  AspectPolicy policy = AspectPolicy::Stretch;
  if (!axes.empty())
    readWord(n, "keep_aspect_ratio_policy", policy, policy);
  if (policy == AspectPolicy::Stretch)
    return ways;
  bool isBound = policy == AspectPolicy::NotLarger;
  double scale = ways[size_t(axes.front())].scale;
  for (int64_t axis : axes)
    scale = isBound ? std::fmin(scale, ways[size_t(axis)].scale)
                    : std::fmax(scale, ways[size_t(axis)].scale);
  for (int64_t axis : axes) {
    ResizeAxis &way = ways[size_t(axis)];
    way.scale = scale;
    way.count = int64_t(std::floor(scale * double(way.extent) + 0.5));
  }
  return ways;
}

static void readResize(Node &n) {
  if (n.opset() < 11)
    return readScaled(n, false);
  Val x = n.in(0);
  if (!x)
    return;
  ResizeMode mode{.cubicA = n.attrNumber("cubic_coeff_a", -0.75),
                  .excludeOutside = n.attr("exclude_outside", 0) != 0,
                  .antialias = n.attr("antialias", 0) != 0};
  readKind(n, /*isScaled=*/false, mode);
  if (!n.failed())
    readWord(n, "coordinate_transformation_mode", Coordinates::HalfPixel,
             mode.coordinates);
  if (!n.failed())
    readWord(n, "nearest_mode", PositionRounding::PreferFloor, mode.rounding);
  if (n.failed())
    return;
  Shape axes;
  for (int64_t axis : n.attrInts("axes"))
    axes.push_back(n.normalized(axis, x.rank()));
  if (axes.empty())
    for (int64_t axis = 0; axis != x.rank(); ++axis)
      axes.push_back(axis);
  // An input without elements is one that is not there.
  bool bySizes = n.has(3) && n.raw(3).size() > 0;
  if (!bySizes && !n.has(2))
    return n.fail("`Resize` needs scales or sizes");
  if (n.failed())
    return;
  std::vector<ResizeAxis> ways;
  if (bySizes) {
    Shape sizes = n.ints(3);
    if (n.failed())
      return;
    ways = waysToSizes(n, x, axes, sizes);
  } else {
    std::vector<double> given = n.numbers(2), scales(size_t(x.rank()), 1);
    if (n.failed())
      return;
    if (given.size() != axes.size())
      return n.fail("there must be a scale for each axis that is resized");
    for (size_t i = 0; i != axes.size(); ++i)
      scales[size_t(axes[i])] = given[i];
    ways = waysOf(n, x, scales);
  }
  if (n.failed())
    return;
  if (mode.coordinates == Coordinates::CropAndResize) {
    std::vector<double> roi = n.numbers(1);
    if (n.failed())
      return;
    if (roi.size() != 2 * axes.size())
      return n.fail("`roi` must have two numbers for each axis");
    for (size_t i = 0; i != axes.size(); ++i) {
      ways[size_t(axes[i])].start = roi[i];
      ways[size_t(axes[i])].end = roi[axes.size() + i];
    }
  }
  resize(n, x, ways, mode, n.attrNumber("extrapolation_value", 0));
}

static constexpr OpRow resizeTable[] = {
    {.name = "Resize",
     .read = readResize,
     .since = 10,
     .limits = "scales, sizes and `roi` must be known"},
    {.name = "Upsample", .read = readUpsample, .since = 7},
};

llvm::ArrayRef<OpRow> onnx::resizeRows() { return resizeTable; }
