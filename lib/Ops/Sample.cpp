//===- Sample.cpp - sampling of images at any points ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// resample, affine and crop_resize: each output pixel samples an image at a
/// point (x, y) between its pixels or outside of it.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Sample.h"
#include "Infer.h"
#include "SamplePoints.h"
#include "Sampling.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Positions.h"
#include <cmath>

namespace anec {

/// The four numbers of a box: its center and its size, or two corners.
ANEC_ENUM(BoxCoordinateMode,
          (CenterSizeHeightFirst, "CENTER_SIZE_HEIGHT_FIRST"),
          (CenterSizeWidthFirst, "CENTER_SIZE_WIDTH_FIRST"),
          (CornersHeightFirst, "CORNERS_HEIGHT_FIRST"),
          (CornersWidthFirst, "CORNERS_WIDTH_FIRST"))

namespace param {
ANEC_MODE(boxCoordinateMode, "box_coordinate_mode", BoxCoordinateMode)
ANEC_PARAM(boxIndices, "box_indices", Value)
ANEC_PARAM(normalizedCoordinates, "normalized_coordinates", Bool)
ANEC_PARAM(outputHeight, "output_height", Int)
ANEC_PARAM(outputWidth, "output_width", Int)
ANEC_PARAM(padValue, "pad_value", Float)
ANEC_PARAM(spatialScale, "spatial_scale", Float)
ANEC_PARAM(targetHeight, "target_height", Int)
ANEC_PARAM(targetWidth, "target_width", Int)
ANEC_PARAM(transformMatrix, "transform_matrix", Value)
} // namespace param
} // namespace anec

using namespace anec;

//===----------------------------------------------------------------------===//
// Reading at a point
//===----------------------------------------------------------------------===//

namespace {

/// One channel of one image.
struct Plane {
  const double *data;
  int64_t height, width;
  Outside outside;

  double pixel(int64_t x, int64_t y) const {
    auto column = outside.resolve(x, width), row = outside.resolve(y, height);
    return column && row ? data[*row * width + *column] : outside.value;
  }
  double nearest(double x, double y) const {
    return pixel(int64_t(std::nearbyint(x)), int64_t(std::nearbyint(y)));
  }
  double bilinear(double x, double y) const {
    int64_t left = int64_t(std::floor(x)), top = int64_t(std::floor(y));
    double right = x - double(left), below = y - double(top);
    // A pixel with weight 0 can be infinite.
    auto part = [&](int64_t column, int64_t row, double weight) {
      return weight == 0 ? 0 : weight * pixel(column, row);
    };
    return part(left, top, (1 - right) * (1 - below)) +
           part(left + 1, top, right * (1 - below)) +
           part(left, top + 1, (1 - right) * below) +
           part(left + 1, top + 1, right * below);
  }
};

} // namespace

/// Channel `c` of image `n` of x [images, channels, height, width].
static Plane planeOf(const RefTensor &x, int64_t n, int64_t c,
                     Outside outside) {
  const Shape &shape = x.type.shape;
  return {&x.data[(n * shape[1] + c) * shape[2] * shape[3]], shape[2], shape[3],
          outside};
}

//===----------------------------------------------------------------------===//
// resample
//===----------------------------------------------------------------------===//

static constexpr DTypeSet coordinateTypes = {
    DType::FP16,  DType::FP32,  DType::Int8,  DType::Int16,
    DType::Int32, DType::UInt8, DType::UInt16};

static bool inferResample(InferContext &ctx) {
  if (!checkRank(ctx, 0, 4, 4) || !checkRank(ctx, 1, 4, 4)) // C1
    return false;
  TensorType type = ctx.type(0);
  const Shape &points = ctx.type(1).shape;
  if (!checkShape(ctx, 1, {type.shape[0], points[1], points[2], 2}) || // C2
      !checkMode(ctx, param::interpolation) ||                         // C3
      !checkMode(ctx, param::paddingMode) ||                           // C4
      !checkMode(ctx, param::coordinatesMode))                         // C5
    return false;
  type.shape[2] = points[1];
  type.shape[3] = points[2];
  return ctx.result(type);
}

static Outside outsideOf(const EvalContext &ctx) {
  return {ctx.get(param::paddingMode), ctx.get(param::paddingValue)};
}

static void evalResample(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &points = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  const Shape &shape = out.type.shape;
  Outside outside = outsideOf(ctx);
  CoordinatesMode mode = ctx.get(param::coordinatesMode);
  bool align = ctx.get(param::alignCorners);
  bool nearest = ctx.get(param::interpolation) == Interpolation::Nearest;
  int64_t pixels = shape[2] * shape[3];
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c) {
      Plane plane = planeOf(x, n, c, outside);
      for (int64_t i = 0; i < pixels; ++i) {
        const double *point = &points.data[(n * pixels + i) * 2];
        double column = positionOf(point[0], plane.width, mode, align);
        double row = positionOf(point[1], plane.height, mode, align);
        out.data[(n * shape[1] + c) * pixels + i] =
            nearest ? plane.nearest(column, row) : plane.bilinear(column, row);
      }
    }
}

static int64_t flopsSample(const Op &op) {
  return saturatingProduct({8, op.result()->type.numElements()});
}

constinit const OpDef ops::Resample = {
    .name = "resample",
    .summary =
        "Resamples the images `x` at the points (x, y) of `coordinates`.",
    .family = "resize",
    .params = {value(param::x, floats, 'T',
                     "[images, channels, height, width]"),
               value(param::coordinates, coordinateTypes, 'U',
                     "[images, rows, columns, 2]"),
               mode(param::interpolation), mode(param::paddingMode),
               number(param::paddingValue), mode(param::coordinatesMode),
               boolean(param::alignCorners, "",
                       "whether normalized coordinates range between the "
                       "centers of the corner pixels, instead of their edges")},
    .traits = trait::Mil,
    .constraints = {"`x` and `coordinates` have rank 4",
                    "`coordinates` has pairs for each image",
                    oneOf<"`sampling_mode` is ", Interpolation>,
                    oneOf<"`padding_mode` is ", PaddingMode>,
                    oneOf<"`coordinates_mode` is ", CoordinatesMode>},
    .infer = inferResample,
    .eval = evalResample,
    .flops = flopsSample,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// affine
//===----------------------------------------------------------------------===//

static bool inferAffine(InferContext &ctx) {
  if (!checkRank(ctx, 0, 4, 4) || !checkRank(ctx, 1, 2, 2)) // C1
    return false;
  TensorType type = ctx.type(0);
  int64_t matrices = ctx.type(1).shape[0] == 1 ? 1 : type.shape[0];
  if (!checkShape(ctx, 1, {matrices, 6}) ||                               // C2
      !checkRange(ctx, param::outputHeight, 1) ||                         // C3
      !checkRange(ctx, param::outputWidth, 1) ||                          // C3
      !checkMode(ctx, param::interpolation, {Interpolation::Bilinear}) || // C4
      !checkMode(ctx, param::paddingMode, {PaddingMode::Constant}) ||     // C4
      !checkMode(ctx, param::coordinatesMode,
                 {CoordinatesMode::NormalizedMinusOneToOne})) // C4
    return false;
  if (ctx.constant(param::paddingValue)->asDouble() != 0) // C4
    return failNumber(ctx, param::paddingValue, "0");
  if (!ctx.get(param::alignCorners)) // C4
    return ctx.fail(
        diag::ParameterChoice(ctx.opName(), "align_corners", "false", "true"));
  type.shape[2] = ctx.get(param::outputHeight);
  type.shape[3] = ctx.get(param::outputWidth);
  return ctx.result(type);
}

/// Element `i` of `count` equally spaced numbers from -1 to 1; 0 for a count of
/// 1.
static double gridPoint(int64_t i, int64_t count) {
  return count == 1 ? 0 : 2 * double(i) / double(count - 1) - 1;
}

static void evalAffine(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &matrices = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  const Shape &shape = out.type.shape;
  double *to = out.data.data();
  for (int64_t n = 0; n < shape[0]; ++n) {
    const double *m = &matrices.data[matrices.type.shape[0] == 1 ? 0 : 6 * n];
    for (int64_t c = 0; c < shape[1]; ++c) {
      Plane plane = planeOf(x, n, c, {});
      for (int64_t row = 0; row < shape[2]; ++row)
        for (int64_t column = 0; column < shape[3]; ++column) {
          double u = gridPoint(column, shape[3]), v = gridPoint(row, shape[2]);
          auto position = [&](const double *factors, int64_t extent) {
            return positionOf(factors[0] * u + factors[1] * v + factors[2],
                              extent, CoordinatesMode::NormalizedMinusOneToOne,
                              true);
          };
          *to++ = plane.bilinear(position(m, plane.width),
                                 position(m + 3, plane.height));
        }
    }
  }
}

constinit const OpDef ops::Affine = {
    .name = "affine",
    .summary = "Resamples the images `x` by the affine map `transform_matrix` "
               "= (a0, a1, a2, b0, b1, b2): pixel (u, v) of the result is read "
               "at (a0 u + a1 v + a2, b0 u + b1 v + b2). Coordinates are -1 to "
               "1; outside pixels are zero.",
    .family = "resize",
    .params = {value(param::x, floats, 'T',
                     "[images, channels, height, width]"),
               value(param::transformMatrix, floats, 'T', "[images or 1, 6]"),
               integer(param::outputHeight), integer(param::outputWidth),
               mode(param::interpolation), mode(param::paddingMode),
               number(param::paddingValue), mode(param::coordinatesMode),
               boolean(param::alignCorners)},
    .traits = trait::Mil,
    .constraints = {"`x` has rank 4, and `transform_matrix` rank 2",
                    "there is one matrix, or one matrix per image",
                    "sizes are at least 1",
                    "the modes are the only ones that MIL defines: bilinear, "
                    "constant, 0, normalized_minus_one_to_one, true"},
    .infer = inferAffine,
    .eval = evalAffine,
    .flops = flopsSample,
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// crop_resize
//===----------------------------------------------------------------------===//

/// Before ios17, boxes are `roi` [boxes, 1, 4 or 5, 1, 1]. With 5 elements, the
/// first is the number of the image; with 4, the box applies to all images.
static bool inferRoi(InferContext &ctx, Shape &shape) {
  if (!checkRank(ctx, 1, 5, 5)) // C3
    return false;
  const Shape &roi = ctx.type(1).shape;
  bool numbered = roi[2] == 5;
  if (ctx.hasOperand(3) ||                                      // C2
      !checkShape(ctx, 1, {roi[0], 1, numbered ? 5 : 4, 1, 1})) // C3
    return ctx.hasOperand(3) &&
           ctx.fail(diag::EitherParameter(ctx.opName(), "roi", "box_indices"));
  const Shape &x = ctx.type(0).shape;
  shape = {roi[0], numbered ? 1 : x[0], x[1]};
  return true;
}

static bool inferBoxes(InferContext &ctx, Shape &shape) {
  if (!checkRank(ctx, 2, 2, 2)) // C3
    return false;
  int64_t boxes = ctx.type(2).shape[0];
  if (!checkShape(ctx, 2, {boxes, 4}) || // C3
      !checkShape(ctx, 3, boxes))        // C4
    return false;
  const Shape &x = ctx.type(0).shape;
  if (!ctx.hasOperand(3) && boxes > x[0]) // C4
    return ctx.fail(diag::MissingOperand(ctx.opName(), "box_indices"));
  shape = {boxes, x[1]};
  return true;
}

static bool inferCropResize(InferContext &ctx) {
  if (!checkRank(ctx, 0, 4, 4)) // C1
    return false;
  if (ctx.hasOperand(1) == ctx.hasOperand(2)) // C2
    return ctx.fail(diag::EitherParameter(ctx.opName(), "roi", "boxes"));
  Shape shape;
  if (!(ctx.hasOperand(1) ? inferRoi(ctx, shape) : inferBoxes(ctx, shape)) ||
      !checkRange(ctx, param::targetHeight, 1) ||  // C5
      !checkRange(ctx, param::targetWidth, 1) ||   // C5
      !checkMode(ctx, param::boxCoordinateMode) || // C6
      !checkMode(ctx, param::samplingMode))        // C7
    return false;
  shape.append({ctx.get(param::targetHeight), ctx.get(param::targetWidth)});
  return ctx.result({ctx.type(0).dtype, shape});
}

namespace {
/// One axis of a box: its first and last position.
struct Side {
  double first, last;

  /// The position of output element `i` of `count`.
  double point(SamplingMode mode, int64_t i, int64_t count) const {
    return boundPoint(first + samplingPoint(mode, i, last - first + 1, count));
  }
};

/// Whether a box begins with its height, and not its width.
bool isHeightFirst(BoxCoordinateMode mode) {
  switch (mode) {
  case BoxCoordinateMode::CenterSizeHeightFirst:
  case BoxCoordinateMode::CornersHeightFirst:
    return true;
  case BoxCoordinateMode::CenterSizeWidthFirst:
  case BoxCoordinateMode::CornersWidthFirst:
    return false;
  }
  llvm_unreachable("an unknown mode");
}

bool isCenterAndSize(BoxCoordinateMode mode) {
  switch (mode) {
  case BoxCoordinateMode::CenterSizeHeightFirst:
  case BoxCoordinateMode::CenterSizeWidthFirst:
    return true;
  case BoxCoordinateMode::CornersHeightFirst:
  case BoxCoordinateMode::CornersWidthFirst:
    return false;
  }
  llvm_unreachable("an unknown mode");
}

struct Box {
  Side height, width;

  /// Reads a box from four numbers, as the op's parameters define.
  Box(const EvalContext &ctx, const double *numbers) {
    BoxCoordinateMode mode = ctx.get(param::boxCoordinateMode);
    bool heightFirst = isHeightFirst(mode), center = isCenterAndSize(mode);
    const Shape &x = ctx.in[0]->type.shape;
    auto side = [&](unsigned number, int64_t extent) -> Side {
      double scale = ctx.get(param::spatialScale);
      if (ctx.get(param::normalizedCoordinates))
        scale *= double(extent - 1);
      double a = numbers[number] * scale, b = numbers[number + 2] * scale;
      return center ? Side{a - b / 2, a + b / 2} : Side{a, b};
    };
    height = side(heightFirst ? 0 : 1, x[2]);
    width = side(heightFirst ? 1 : 0, x[3]);
  }
};
} // namespace

/// Writes all channels of image `n` inside the box to `to`, with `pad_value`
/// for points outside of the image. Returns the end of the written elements.
static double *cropImage(const EvalContext &ctx, const Box &box, int64_t n,
                         double *to) {
  const RefTensor &x = *ctx.in[0];
  SamplingMode mode = ctx.get(param::samplingMode);
  int64_t height = ctx.get(param::targetHeight),
          width = ctx.get(param::targetWidth);
  double pad = ctx.get(param::padValue);
  for (int64_t c = 0; c < x.type.shape[1]; ++c) {
    Plane plane = planeOf(x, n, c, {PaddingMode::Constant, pad});
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < width; ++column) {
        double v = box.height.point(mode, row, height);
        double u = box.width.point(mode, column, width);
        bool inside = v >= 0 && v <= double(plane.height - 1) && u >= 0 &&
                      u <= double(plane.width - 1);
        *to++ = inside ? plane.bilinear(u, v) : pad;
      }
  }
  return to;
}

static void evalCropResize(EvalContext &ctx) {
  int64_t images = ctx.in[0]->type.shape[0];
  double *to = ctx.out[0].data.data();
  auto image = [&](double number) {
    return std::clamp<int64_t>(int64_t(number), 0, images - 1);
  };
  if (const RefTensor *boxes = operandOrNull(ctx, 2)) {
    const RefTensor *numbers = operandOrNull(ctx, 3);
    for (int64_t i = 0; i < boxes->type.shape[0]; ++i)
      to = cropImage(ctx, Box(ctx, &boxes->data[4 * i]),
                     image(numbers ? numbers->data[i] : double(i)), to);
    return;
  }
  const RefTensor &roi = *ctx.in[1];
  int64_t length = roi.type.shape[2];
  for (int64_t i = 0; i < roi.type.shape[0]; ++i) {
    const double *numbers = &roi.data[i * length];
    if (length == 5) {
      to = cropImage(ctx, Box(ctx, numbers + 1), image(numbers[0]), to);
      continue;
    }
    for (int64_t n = 0; n < images; ++n)
      to = cropImage(ctx, Box(ctx, numbers), n, to);
  }
}

constinit const OpDef ops::CropResize = {
    .name = "crop_resize",
    .summary = "Crops boxes from the images `x` and resizes them by linear "
               "interpolation at the points given by `sampling_mode`. Boxes "
               "are `roi` up to ios16; from ios17 on, they are `boxes` in the "
               "images `box_indices`.",
    .family = "resize",
    .params =
        {value(param::x, floats, 'T', "[images, channels, height, width]"),
         optionalValue(param::roi, floats, 'T',
                       "[boxes, 1, 4, 1, 1], or [boxes, 1, 5, 1, 1] with the "
                       "image index first"),
         since(17, optionalValue(param::boxes,
                                 {DType::FP16, DType::FP32, DType::UInt16}, 0,
                                 "[boxes, 4]")),
         since(17,
               optionalValue(param::boxIndices, {DType::Int32, DType::UInt16},
                             0, "[boxes]; 0, 1, ... when absent")),
         integer(param::targetHeight, "1"), integer(param::targetWidth, "1"),
         boolean(param::normalizedCoordinates, "false",
                 "whether coordinates are 0 to 1 instead of pixels"),
         number(param::spatialScale, "1", 0, {DType::FP32}),
         mode(param::boxCoordinateMode, BoxCoordinateMode::CornersHeightFirst),
         mode(param::samplingMode, SamplingMode::Default),
         since(16, number(param::padValue, "0"))},
    .traits = trait::Mil,
    .constraints = {"`x` has rank 4",
                    "either `roi` or `boxes` is given, and `box_indices` only "
                    "with `boxes`",
                    "boxes have four numbers; `roi` can have five",
                    "there are as many `box_indices` as boxes; without them, "
                    "there are at least as many images as boxes",
                    "sizes are at least 1",
                    oneOf<"`box_coordinate_mode` is ", BoxCoordinateMode>,
                    oneOf<"`sampling_mode` is ", SamplingMode>},
    .infer = inferCropResize,
    .eval = evalCropResize,
    .flops = flopsSample,
    .positions = {positions::combined},
};
