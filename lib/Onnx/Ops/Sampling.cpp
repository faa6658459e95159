//===- Sampling.cpp - images read at computed points ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Sampling.h"
#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Sample.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::onnx;

/// Reads images [N, C, H, W] at points [N, rows, columns, 2].
static Val resample(Emitter &e, Val images, Val points,
                    Interpolation interpolation, PaddingMode padding,
                    CoordinatesMode coordinates, bool alignCorners = true) {
  return e.make(ops::Resample, {images, points},
                {{param::interpolation, interpolation},
                 {param::paddingMode, padding},
                 {param::paddingValue, Constant::scalar(images.dtype(), 0)},
                 {param::coordinatesMode, coordinates},
                 {param::alignCorners, alignCorners}});
}

//===----------------------------------------------------------------------===//
// GridSample
//===----------------------------------------------------------------------===//

/// Positions in pixels of coordinates from -1 to 1.
static Val pixelsOf(Emitter &e, Val coordinates, int64_t extent,
                    bool alignCorners) {
  double size = double(extent);
  return alignCorners ? e.mul(e.add(coordinates, 1), (size - 1) / 2)
                      : e.add(e.mul(e.add(coordinates, 1), size / 2), -0.5);
}

/// The weights of the four pixels around a position, by Keys' cubic.
static Vals cubicWeights(Emitter &e, Val t) {
  constexpr double a = -0.75;
  auto polynomial = [&](Val x, double c3, double c2, double c1, double c0) {
    Val sum = e.add(e.mul(x, c3), c2);
    sum = e.add(e.mul(sum, x), c1);
    return e.add(e.mul(sum, x), c0);
  };
  Val rest = e.add(e.mul(t, -1), 1);
  return {polynomial(e.add(t, 1), a, -5 * a, 8 * a, -4 * a),
          polynomial(t, a + 2, -(a + 3), 0, 1),
          polynomial(rest, a + 2, -(a + 3), 0, 1),
          polynomial(e.add(rest, 1), a, -5 * a, 8 * a, -4 * a)};
}

static Val sampleCubic(Emitter &e, Val x, Val grid, PaddingMode padding,
                       bool alignCorners) {
  Val column = pixelsOf(e, e.slice(grid, -1, 0, 1), x.dim(3), alignCorners);
  Val row = pixelsOf(e, e.slice(grid, -1, 1, 2), x.dim(2), alignCorners);
  Val left = e.unary(ops::Floor, column), top = e.unary(ops::Floor, row);
  Vals across = cubicWeights(e, e.sub(column, left));
  Vals down = cubicWeights(e, e.sub(row, top));
  // Weights have a channel as their second axis.
  Shape planes = {grid.dim(0), 1, grid.dim(1), grid.dim(2)};
  Val sum;
  for (int64_t j = 0; j != 4; ++j)
    for (int64_t i = 0; i != 4; ++i) {
      Val points =
          e.concat({e.add(left, double(i - 1)), e.add(top, double(j - 1))}, -1);
      Val pixels = resample(e, x, points, Interpolation::Nearest, padding,
                            CoordinatesMode::Unnormalized);
      Val weight = e.reshape(e.mul(across[size_t(i)], down[size_t(j)]), planes);
      Val part = e.mul(pixels, weight);
      sum = sum ? e.add(sum, part) : part;
    }
  return sum;
}

static void readGridSample(Node &n) {
  Val x = n.in(0), grid = n.in(1);
  if (!x || !grid)
    return;
  if (x.rank() != 4 || grid.rank() != 4)
    return n.refuse("an input that is not [images, channels, height, width]");
  if (grid.dim(0) != x.dim(0) || grid.dim(3) != 2)
    return n.fail("the grid must be [images, rows, columns, 2]");
  bool align = n.attr("align_corners", 0) != 0;
  StringRef mode = n.attrText("mode", "linear");
  StringRef outside = n.attrText("padding_mode", "zeros");
  auto padding = llvm::StringSwitch<std::optional<PaddingMode>>(outside)
                     .Case("zeros", PaddingMode::Constant)
                     .Case("border", PaddingMode::Border)
                     .Case("reflection", align ? PaddingMode::Reflection
                                               : PaddingMode::Symmetric)
                     .Default(std::nullopt);
  if (!padding)
    return n.fail("`padding_mode` must be `zeros`, `border` or `reflection`");
  if (mode == "bicubic" || mode == "cubic")
    return n.out(sampleCubic(n.e, x, grid, *padding, align));
  bool nearest = mode == "nearest";
  if (!nearest && mode != "bilinear" && mode != "linear")
    return n.fail("`mode` must be `linear`, `nearest` or `cubic`");
  n.out(resample(n.e, x, grid,
                 nearest ? Interpolation::Nearest : Interpolation::Bilinear,
                 *padding, CoordinatesMode::NormalizedMinusOneToOne, align));
}

/// Points of an image of `size` under maps theta [N, 2, 3].
static void readAffineGrid(Node &n) {
  Val theta = n.in(0);
  Shape size = n.ints(1);
  bool align = n.attr("align_corners", 0) != 0;
  if (!theta || n.failed())
    return;
  if (size.size() != 4 || theta.rank() != 3 || theta.dim(1) != 2 ||
      theta.dim(2) != 3)
    return n.refuse("maps that are not [images, 2, 3]");
  int64_t rows = size[2], columns = size[3];
  if (rows < 1 || columns < 1)
    return n.fail("the grid has no points");
  if (!n.affords({rows, columns, 3}))
    return;
  auto place = [&](int64_t i, int64_t count) {
    if (align)
      return count == 1 ? 0.0 : 2 * double(i) / double(count - 1) - 1;
    return (2 * double(i) + 1) / double(count) - 1;
  };
  std::vector<double> points;
  for (int64_t i = 0; i != rows; ++i)
    for (int64_t j = 0; j != columns; ++j) {
      points.push_back(place(j, columns));
      points.push_back(place(i, rows));
      points.push_back(1);
    }
  Val base = n.e.constant(
      Constant::fromDoubles({theta.dtype(), {1, rows * columns, 3}}, points));
  n.out(n.e.reshape(n.e.matmul(base, theta, false, true),
                    {theta.dim(0), rows, columns, 2}));
}

//===----------------------------------------------------------------------===//
// RoiAlign
//===----------------------------------------------------------------------===//

namespace {
/// The points that are read along one axis of boxes: [boxes, points].
struct Points {
  Val at, isInside;
};
} // namespace

/// `count` bins of `samples` points each between `begin` and `end`, [boxes, 1].
static Points pointsBetween(Emitter &e, Val begin, Val end, int64_t count,
                            int64_t samples, int64_t extent, bool atLeastOne) {
  std::vector<double> parts;
  for (int64_t i = 0; i != count * samples; ++i)
    parts.push_back((double(i) + 0.5) / double(count * samples));
  DType dtype = begin.dtype();
  Val length = e.sub(end, begin);
  if (atLeastOne)
    length = e.binary(ops::Maximum, length, e.scalar(dtype, 1));
  Val part =
      e.constant(Constant::fromDoubles({dtype, {1, count * samples}}, parts));
  Val at = e.add(begin, e.mul(length, part));
  Val inside =
      e.make(ops::LogicalAnd,
             {e.make(ops::GreaterEqual, {at, e.scalar(dtype, -1)}),
              e.make(ops::LessEqual, {at, e.scalar(dtype, double(extent))})});
  Val low = e.binary(ops::Maximum, at, e.scalar(dtype, 0));
  return {e.binary(ops::Minimum, low, e.scalar(dtype, double(extent - 1))),
          e.cast(inside, dtype)};
}

/// Points [boxes, rows, columns, 2].
static Val meet(Emitter &e, Val across, Val down) {
  int64_t boxes = across.dim(0), rows = down.dim(1), columns = across.dim(1);
  Shape shape = {boxes, rows, columns, 1};
  return e.concat(
      {e.broadcast(e.reshape(across, {boxes, 1, columns, 1}), shape),
       e.broadcast(e.reshape(down, {boxes, rows, 1, 1}), shape)},
      -1);
}

/// The largest of the four pixels around each point times its weight: ONNX
/// takes the maximum before pixels are added.
static Val largestCorner(Emitter &e, Val images, Val across, Val down) {
  Val left = e.unary(ops::Floor, across), top = e.unary(ops::Floor, down);
  Val right = e.sub(across, left), below = e.sub(down, top);
  int64_t boxes = across.dim(0), rows = down.dim(1), columns = across.dim(1);
  Val largest;
  for (int j = 0; j != 2; ++j)
    for (int i = 0; i != 2; ++i) {
      Val atX = e.add(left, i), atY = e.add(top, j);
      Val pixels =
          resample(e, images, meet(e, atX, atY), Interpolation::Nearest,
                   PaddingMode::Border, CoordinatesMode::Unnormalized);
      Val x = i ? right : e.add(e.mul(right, -1), 1);
      Val y = j ? below : e.add(e.mul(below, -1), 1);
      Val part = e.mul(pixels, e.reshape(x, {boxes, 1, 1, columns}));
      part = e.mul(part, e.reshape(y, {boxes, 1, rows, 1}));
      largest = largest ? e.binary(ops::Maximum, largest, part) : part;
    }
  return largest;
}

namespace {
/// What the samples of a pixel of the output become.
ANEC_ENUM(RoiMode, (Mean, "avg"), (Max, "max"))
} // namespace

static void readRoiAlign(Node &n) {
  Val x = n.in(0), boxes = n.in(1), images = n.in(2);
  if (!x || !boxes || !images)
    return;
  if (x.rank() != 4 || boxes.rank() != 2 || boxes.dim(1) != 4 ||
      images.rank() != 1 || images.dim(0) != boxes.dim(0))
    return n.fail("inputs must be [images, channels, height, width], [boxes, "
                  "4] and [boxes]");
  int64_t rows = n.attr("output_height", 1),
          columns = n.attr("output_width", 1);
  int64_t samples = n.attr("sampling_ratio", 0);
  if (rows < 1 || columns < 1 || rows > 4096 || columns > 4096)
    return n.fail("the output must be 1 to 4096 pixels wide and high");
  if (samples < 1 || samples > 64)
    return n.refuse(
        "a `sampling_ratio` that is not 1 to 64, by which the number "
        "of points depends on values");
  auto mode = parseWord<RoiMode>(n.attrText("mode", spelling(RoiMode::Mean)));
  if (!mode)
    return n.fail("`mode` must be `avg` or `max`");
  bool isMax = mode == RoiMode::Max;
  StringRef how =
      n.attrText("coordinate_transformation_mode",
                 n.opset() < 16 ? "output_half_pixel" : "half_pixel");
  bool half = how == "half_pixel";
  if (!half && how != "output_half_pixel")
    return n.fail("`coordinate_transformation_mode` must be `half_pixel` or "
                  "`output_half_pixel`");

  Emitter &e = n.e;
  Val scaled = e.mul(boxes, n.attrNumber("spatial_scale", 1));
  if (half)
    scaled = e.add(scaled, -0.5);
  auto side = [&](int64_t i) { return e.slice(scaled, 1, i, i + 1); };
  Val left = side(0), top = side(1), right = side(2), bottom = side(3);
  Points across =
      pointsBetween(e, left, right, columns, samples, x.dim(3), !half);
  Points down = pointsBetween(e, top, bottom, rows, samples, x.dim(2), !half);
  Val chosen = e.gather(x, images, 0);
  Val read = isMax ? largestCorner(e, chosen, across.at, down.at)
                   : resample(e, chosen, meet(e, across.at, down.at),
                              Interpolation::Bilinear, PaddingMode::Border,
                              CoordinatesMode::Unnormalized);
  int64_t count = boxes.dim(0);
  read =
      e.mul(read, e.reshape(across.isInside, {count, 1, 1, columns * samples}));
  read = e.mul(read, e.reshape(down.isInside, {count, 1, rows * samples, 1}));
  int64_t window[] = {samples, samples};
  n.out(e.make(isMax ? ops::MaxPool : ops::AvgPool, {read},
               {{param::kernelSizes, window},
                {param::strides, window},
                {param::padType, PadType::Valid}}));
}

static constexpr OpRow samplingTable[] = {
    {.name = "AffineGrid",
     .read = readAffineGrid,
     .since = 20,
     .limits = "in two dimensions; `size` must be known"},
    {.name = "GridSample",
     .read = readGridSample,
     .since = 16,
     .limits = "in two dimensions"},
    {.name = "RoiAlign",
     .read = readRoiAlign,
     .since = 10,
     .limits = "`sampling_ratio` must be at least 1"},
};

llvm::ArrayRef<OpRow> onnx::samplingRows() { return samplingTable; }
