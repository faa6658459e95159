//===- Resize.cpp - resizing of images --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that interpolate along each axis independently: each output position of
/// an axis reads one or two input positions with weights. Sampling at points
/// that depend on both axes is in Sample.cpp.
///
/// Where MIL is silent: nearest-neighbor positions are rounded down with the
/// DEFAULT sampling mode (and by ops without a mode), and to the nearest, half
/// up, with the others.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Resize.h"
#include "Infer.h"
#include "Sampling.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Positions.h"
#include <cmath>

namespace anec {

/// How `resize` reads between two elements.
ANEC_ENUM(InterpolationMode, (Linear, "LINEAR"),
          (NearestNeighbor, "NEAREST_NEIGHBOR"))

namespace param {
ANEC_PARAM(cropHeight, "crop_height", Ints)
ANEC_PARAM(cropWidth, "crop_width", Ints)
ANEC_PARAM(halfPixelCenters, "half_pixel_centers", Bool)
ANEC_MODE(interpolationMode, "interpolation_mode", InterpolationMode)
ANEC_PARAM(resizedDims, "resized_dims", Int)
} // namespace param
} // namespace anec

using namespace anec;

//===----------------------------------------------------------------------===//
// Sampling modes
//===----------------------------------------------------------------------===//

double anec::samplingPoint(SamplingMode mode, int64_t i, double inputs,
                           int64_t outputs) {
  double count = double(outputs), point = 0;
  switch (mode) {
  case SamplingMode::AlignCorners:
    point =
        outputs > 1 ? double(i) * (inputs - 1) / (count - 1) : (inputs - 1) / 2;
    break;
  case SamplingMode::Default:
    point = double(i) * inputs / count;
    break;
  case SamplingMode::OffsetCorners:
    point = (double(i) + 0.5) * std::fmax(1, inputs - 1) / count;
    break;
  case SamplingMode::StrictAlignCorners:
    point = outputs > 1 ? double(i) * (inputs - 1) / (count - 1) : 0;
    break;
  case SamplingMode::UnalignCorners:
    point = (double(i) + 0.5) * inputs / count - 0.5;
    break;
  }
  return std::fmin(std::fmax(point, 0), inputs - 1);
}

//===----------------------------------------------------------------------===//
// Interpolation along one axis
//===----------------------------------------------------------------------===//

namespace {
/// The source of an output position: the input positions below and above it,
/// and its fractional position between them.
struct Tap {
  int64_t below, above;
  double fraction;

  static Tap linear(double point, int64_t inputs) {
    int64_t below = std::min(int64_t(std::floor(point)), inputs - 1);
    return {below, std::min(below + 1, inputs - 1), point - double(below)};
  }
  static Tap nearest(double point, int64_t inputs) {
    int64_t at = std::clamp<int64_t>(int64_t(std::floor(point)), 0, inputs - 1);
    return {at, at, 0};
  }
};
} // namespace

/// Resamples `axis` of x at `taps`.
static RefTensor resizeAxis(const RefTensor &x, int64_t axis,
                            llvm::ArrayRef<Tap> taps) {
  AxisView view = viewAxis(x.type.shape, axis);
  RefTensor out{x.type, {}};
  out.type.shape[axis] = int64_t(taps.size());
  out.data.reserve(out.type.numElements());
  for (int64_t o = 0; o < view.outer; ++o)
    for (const Tap &tap : taps) {
      const double *below = &x.data[(o * view.extent + tap.below) * view.inner];
      const double *above = &x.data[(o * view.extent + tap.above) * view.inner];
      for (int64_t n = 0; n < view.inner; ++n)
        out.data.push_back(tap.fraction == 0 ? below[n]
                                             : below[n] * (1 - tap.fraction) +
                                                   above[n] * tap.fraction);
    }
  return out;
}

namespace {
/// The parameters of a resizing op: it resizes the axes from `firstAxis` on.
struct Resizing {
  unsigned firstAxis;
  SamplingMode mode;
  bool linear;

  std::vector<Tap> taps(int64_t inputs, int64_t outputs) const {
    std::vector<Tap> taps;
    for (int64_t i = 0; i < outputs; ++i) {
      double point = samplingPoint(mode, i, double(inputs), outputs);
      taps.push_back(linear ? Tap::linear(point, inputs)
                            : Tap::nearest(mode == SamplingMode::Default
                                               ? point
                                               : point + 0.5,
                                           inputs));
    }
    return taps;
  }
};
} // namespace

static void resizeAxes(EvalContext &ctx, const Resizing &how) {
  RefTensor image = *ctx.in[0];
  for (unsigned axis = how.firstAxis; axis < image.type.rank(); ++axis)
    image = resizeAxis(
        image, axis,
        how.taps(image.type.shape[axis], ctx.out[0].type.shape[axis]));
  ctx.out[0].data = std::move(image.data);
  settleIntegers(ctx.out[0]);
}

/// The taps of an axis form a matrix; dx is the product of its transpose and
/// dy.
static void gradientResizing(Gradient &g, const Resizing &how) {
  for (unsigned axis = how.firstAxis; axis < g.rank(0); ++axis)
    if (!g.canBake({g.shape(0)[axis], g.op.result()->type.shape[axis]}))
      return;
  g.give(0, [&] {
    Value *dx = g.dy();
    for (unsigned axis = how.firstAxis; axis < g.rank(0); ++axis) {
      int64_t inputs = g.shape(0)[axis], outputs = dx->type.shape[axis];
      std::vector<double> matrix(inputs * outputs);
      for (auto [i, tap] : llvm::enumerate(how.taps(inputs, outputs))) {
        matrix[i * inputs + tap.below] += 1 - tap.fraction;
        matrix[i * inputs + tap.above] += tap.fraction;
      }
      AxisView view = viewAxis(dx->type.shape, axis);
      Value *rows = g.reshape(dx, {view.outer, outputs, view.inner});
      Shape shape = dx->type.shape;
      shape[axis] = inputs;
      dx = g.reshape(
          g.matmul(g.array({outputs, inputs}, matrix), rows, true, false),
          shape);
    }
    return dx;
  });
}

// Kernel and gradient of a row. `How::of` makes the Resizing from an
// EvalContext or an Op.
template <typename How>
static void evalResizing(EvalContext &ctx) {
  resizeAxes(ctx, How::of(ctx, ctx.in[0]->type.rank()));
}
template <typename How>
static void gradientResizing(Gradient &g) {
  gradientResizing(g, How::of(g.op, g.rank(0)));
}

/// Four multiply-adds per result element, for two axes.
static int64_t flopsOfLinear(const Op &op) {
  return saturatingProduct({8, op.result()->type.numElements()});
}

//===----------------------------------------------------------------------===//
// resize_bilinear, resize_nearest_neighbor
//===----------------------------------------------------------------------===//

static bool inferResizeTo(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, UINT_MAX) ||              // C1
      !checkRange(ctx, param::targetSizeHeight, 1) || // C2
      !checkRange(ctx, param::targetSizeWidth, 1))    // C2
    return false;
  TensorType type = ctx.type(0);
  type.shape[type.rank() - 2] = ctx.get(param::targetSizeHeight);
  type.shape[type.rank() - 1] = ctx.get(param::targetSizeWidth);
  return ctx.result(type);
}

static bool inferResizeBilinear(InferContext &ctx) {
  return checkMode(ctx, param::samplingMode) && inferResizeTo(ctx); // C3
}

namespace {
struct Bilinear {
  template <typename Context>
  static Resizing of(const Context &ctx, unsigned rank) {
    return {rank - 2, ctx.get(param::samplingMode), /*linear=*/true};
  }
};
} // namespace

namespace {
struct Nearest {
  template <typename Context>
  static Resizing of(const Context &, unsigned rank) {
    return {rank - 2, SamplingMode::Default, /*linear=*/false};
  }
};
} // namespace

constinit const OpDef ops::ResizeBilinear = {
    .name = "resize_bilinear",
    .summary = "Resizes the last two axes of `x` by linear interpolation at "
               "the points given by `sampling_mode`.",
    .family = "resize",
    .params = {value(param::x), integer(param::targetSizeHeight, "1"),
               integer(param::targetSizeWidth, "1"),
               mode(param::samplingMode, SamplingMode::Default)},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of at least 3", "sizes are at least 1",
                    oneOf<"`sampling_mode` is ", SamplingMode>},
    .infer = inferResizeBilinear,
    .eval = evalResizing<Bilinear>,
    .flops = flopsOfLinear,
    .gradient = gradientResizing<Bilinear>,
    .positions = {positions::neighbors},
};

constinit const OpDef ops::ResizeNearestNeighbor = {
    .name = "resize_nearest_neighbor",
    .summary =
        "Resizes the last two axes of `x` by repeating or dropping elements.",
    .family = "resize",
    .params = {value(param::x), integer(param::targetSizeHeight),
               integer(param::targetSizeWidth)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`x` has a rank of at least 3", "sizes are at least 1"},
    .infer = inferResizeTo,
    .eval = evalResizing<Nearest>,
    .gradient = gradientResizing<Nearest>,
    .positions = {positions::neighbors},
};

//===----------------------------------------------------------------------===//
// upsample_bilinear, upsample_nearest_neighbor
//===----------------------------------------------------------------------===//

static bool inferUpsample(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, UINT_MAX)) // C1
    return false;
  TensorType type = ctx.type(0);
  for (auto [name, axis] :
       {std::pair(param::scaleFactorHeight, type.rank() - 2),
        std::pair(param::scaleFactorWidth, type.rank() - 1)}) {
    double size = std::floor(double(type.shape[axis]) * ctx.get(name));
    if (!(size >= 1 && size <= INT32_MAX)) // C2
      return failNumber(ctx, name, "what gives 1 to 2147483647 elements");
    type.shape[axis] = int64_t(size);
  }
  return ctx.result(type);
}

static bool inferUpsampleBilinear(InferContext &ctx) {
  if (ctx.constant(param::halfPixelCenters) && ctx.get(param::alignCorners) &&
      ctx.get(param::halfPixelCenters)) // C3
    return ctx.fail(diag::EitherParameter(ctx.opName(), "align_corners",
                                          "half_pixel_centers"));
  return inferUpsample(ctx);
}

/// When half_pixel_centers is absent, it is the opposite of align_corners.
namespace {
struct Upsampling {
  template <typename Context>
  static Resizing of(const Context &ctx, unsigned rank) {
    bool align = ctx.get(param::alignCorners);
    bool half = ctx.constant(param::halfPixelCenters)
                    ? ctx.get(param::halfPixelCenters)
                    : !align;
    return {rank - 2,
            align  ? SamplingMode::StrictAlignCorners
            : half ? SamplingMode::UnalignCorners
                   : SamplingMode::Default,
            /*linear=*/true};
  }
};
} // namespace

static constexpr DTypeSet scaleTypes = {DType::FP32, DType::Int32};

constinit const OpDef ops::UpsampleBilinear = {
    .name = "upsample_bilinear",
    .summary =
        "Scales the last two axes of `x` by linear interpolation, aligned to "
        "the corners or, with `half_pixel_centers`, to the edges of pixels.",
    .family = "resize",
    .params = {value(param::x),
               number(param::scaleFactorHeight, "1", 0, scaleTypes),
               number(param::scaleFactorWidth, "1", 0, scaleTypes),
               boolean(param::alignCorners, "true"),
               since(16,
                     optionalConstant(param::halfPixelCenters, {DType::Bool}))},
    .traits = trait::Mil,
    .constraints =
        {"`x` has a rank of at least 3", "at least one element is left",
         "`align_corners` and `half_pixel_centers` are not both true"},
    .infer = inferUpsampleBilinear,
    .eval = evalResizing<Upsampling>,
    .flops = flopsOfLinear,
    .gradient = gradientResizing<Upsampling>,
    .positions = {positions::neighbors},
};

constinit const OpDef ops::UpsampleNearestNeighbor = {
    .name = "upsample_nearest_neighbor",
    .summary = "Scales the last two axes of `x` by repeating elements.",
    .family = "resize",
    .params = {value(param::x),
               number(param::scaleFactorHeight, "1", 0, scaleTypes),
               number(param::scaleFactorWidth, "1", 0, scaleTypes)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`x` has a rank of at least 3",
                    "at least one element is left"},
    .infer = inferUpsample,
    .eval = evalResizing<Nearest>,
    .gradient = gradientResizing<Nearest>,
    .positions = {positions::neighbors},
};

//===----------------------------------------------------------------------===//
// resize
//===----------------------------------------------------------------------===//

static bool inferResize(InferContext &ctx) {
  TensorType type = ctx.type(0);
  Shape shape = ctx.get(param::shape);
  if (shape.size() > type.rank()) // C1
    return ctx.fail(
        diag::ParameterLength(ctx.opName(), "shape", shape.size(),
                              "at most " + std::to_string(type.rank())));
  if (!checkRange(ctx, param::shape, 0) ||                              // C2
      !checkRange(ctx, param::resizedDims, 0, int64_t(shape.size())) || // C3
      !checkMode(ctx, param::interpolationMode) ||                      // C4
      !checkMode(ctx, param::samplingMode))                             // C5
    return false;
  int64_t count = ctx.get(param::resizedDims);
  for (int64_t i = 1; i <= count; ++i)
    if (int64_t extent = shape[shape.size() - i])
      type.shape[type.rank() - i] = extent;
  return ctx.result(type);
}

namespace {
struct ToShape {
  template <typename Context>
  static Resizing of(const Context &ctx, unsigned rank) {
    return {rank - unsigned(ctx.get(param::resizedDims)),
            ctx.get(param::samplingMode),
            ctx.get(param::interpolationMode) == InterpolationMode::Linear};
  }
};
} // namespace

constinit const OpDef ops::Resize = {
    .name = "resize",
    .summary = "Resizes the last `resized_dims` axes of `x` to the last "
               "extents of `shape`. An extent of 0 keeps that of `x`.",
    .family = "resize",
    .params =
        {value(param::x, numbers),
         ParamDef{param::shape,
                  ParamKind::Constant,
                  {DType::Int16, DType::Int32, DType::UInt16, DType::UInt32},
                  0,
                  1},
         ParamDef{
             param::resizedDims, ParamKind::Constant, {DType::UInt32}, 0, 0},
         mode(param::interpolationMode, InterpolationMode::Linear),
         mode(param::samplingMode, SamplingMode::Default)},
    .traits = trait::Mil,
    .constraints = {"`shape` has at most as many elements as the rank of `x`",
                    "extents are at least 0",
                    "`resized_dims` is at most the length of `shape`",
                    oneOf<"`interpolation_mode` is ", InterpolationMode>,
                    oneOf<"`sampling_mode` is ", SamplingMode>},
    .infer = inferResize,
    .eval = evalResizing<ToShape>,
    .flops = flopsOfLinear,
    .gradient = gradientResizing<ToShape>,
    .positions = {positions::neighbors},
};

//===----------------------------------------------------------------------===//
// crop
//===----------------------------------------------------------------------===//

static bool inferCrop(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, UINT_MAX)) // C1
    return false;
  TensorType type = ctx.type(0);
  unsigned axis = type.rank() - 2;
  for (const IntsParam &name : {param::cropHeight, param::cropWidth}) {
    if (!checkLength(ctx, name, 2) || !checkRange(ctx, name, 0)) // C2
      return false;
    Shape crop = ctx.get(name);
    type.shape[axis] -= crop[0] + crop[1];
    if (type.shape[axis] < 1) // C3
      return ctx.fail(
          diag::CropTooLarge(ctx.opName(), ctx.describeOperand(0), axis), {0});
    ++axis;
  }
  return ctx.result(type);
}

static void evalCrop(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  Shape strides = rowMajorStrides(x.type.shape);
  int64_t first = ctx.get(param::cropHeight)[0] * x.type.shape.back() +
                  ctx.get(param::cropWidth)[0];
  copyElements(out.type.shape, &x.data[first], strides, out.data.data(),
               rowMajorStrides(out.type.shape));
}

static void gradientCrop(Gradient &g) {
  Shape before(g.rank(0), 0), after(g.rank(0), 0);
  unsigned axis = g.rank(0) - 2;
  for (const IntsParam &name : {param::cropHeight, param::cropWidth}) {
    before[axis] = g.op.get(name)[0];
    after[axis++] = g.op.get(name)[1];
  }
  g.give(0, [&] { return g.pad(g.dy(), before, after); });
}

constinit const OpDef ops::Crop = {
    .name = "crop",
    .summary = "Removes `crop_height` = (top, bottom) and `crop_width` = "
               "(left, right) elements from the last two axes of `x`.",
    .family = "resize",
    .params = {value(param::x), integers(param::cropHeight),
               integers(param::cropWidth)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`x` has a rank of at least 3",
                    "crops have two elements, at least 0",
                    "at least one element is left"},
    .infer = inferCrop,
    .eval = evalCrop,
    .gradient = gradientCrop,
    .positions = {positions::moved},
};
