//===- Conv.cpp - convolution -----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Conv.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Arithmetic.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static bool checkConvParameters(InferContext &ctx, unsigned spatial) {
  return checkLength(ctx, param::strides, spatial) &&   // C3
         checkLength(ctx, param::dilations, spatial) && // C3
         checkLength(ctx, param::pad, 2 * spatial) &&   // C3
         checkRange(ctx, param::strides, 1) &&          // C4
         checkRange(ctx, param::dilations, 1) &&        // C4
         checkRange(ctx, param::groups, 1) &&           // C4
         checkRange(ctx, param::pad, 0) &&              // C4
         checkMode(ctx, param::padType);                // C5
}

static bool checkConvChannels(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &weight = ctx.type(1);
  int64_t groups = ctx.get(param::groups);
  if (x.shape[1] != groups * weight.shape[1]) // C6
    return ctx.fail(diag::ConvChannels(ctx.opName(), ctx.describeOperand(0),
                                       ctx.describeOperand(1),
                                       groups * weight.shape[1], groups,
                                       weight.shape[1]),
                    {0, 1});
  if (weight.shape[0] % groups) // C7
    return ctx.fail(diag::ConvGroups(ctx.opName(), weight.shape[0], groups),
                    {1});
  return checkShape(ctx, 2, weight.shape[0]); // C7
}

static bool inferConv(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 5)) // C1
    return false;
  TensorType type = ctx.type(0);
  const TensorType &weight = ctx.type(1);
  if (!checkRank(ctx, 1, type.rank(), type.rank())) // C2
    return false;
  unsigned spatial = type.rank() - 2;
  if (!checkConvParameters(ctx, spatial) || !checkConvChannels(ctx))
    return false;
  type.shape[1] = weight.shape[0];
  for (unsigned i = 0; i < spatial; ++i) {
    ConvAxis axis = convAxis(ctx, i, type.shape[i + 2], weight.shape[i + 2]);
    if (axis.output() == 0) // C8
      return ctx.fail(
          diag::ConvKernel(ctx.opName(), axis.span(), i, axis.padded()),
          {0, 1});
    type.shape[i + 2] = axis.output();
  }
  return ctx.result(type);
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// Calls `fn(at)` for each kernel position and, within it, each output
/// position. `at` is the index of the element of an input channel that the two
/// combine, or -1 in the padding.
template <typename Fn>
static void forEachTap(llvm::ArrayRef<ConvAxis> axes, Fn fn) {
  Shape kernel, output, inputStride;
  for (const ConvAxis &axis : axes) {
    kernel.push_back(axis.kernel);
    output.push_back(axis.output());
    inputStride.push_back(axis.input);
  }
  inputStride = rowMajorStrides(inputStride);
  Shape both = kernel;
  both.append(output);
  Shape index(both.size(), 0);
  while (true) {
    bool inside = true;
    int64_t at = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t position = index[axes.size() + i] * axes[i].stride +
                         index[i] * axes[i].dilation - axes[i].before;
      inside &= position >= 0 && position < axes[i].input;
      at += position * inputStride[i];
    }
    fn(inside ? at : -1);
    int64_t axis = int64_t(both.size()) - 1;
    while (axis >= 0 && ++index[axis] == both[axis])
      index[axis--] = 0;
    if (axis < 0)
      return;
  }
}

/// Computes a convolution as a matrix product per image and group: weight
/// [outputs, inputs * kernel] times the unfolded input [inputs * kernel, output
/// positions].
static void evalConv(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &weight = *ctx.in[1];
  const RefTensor *bias = operandOrNull(ctx, 2);
  RefTensor &out = ctx.out[0];
  llvm::SmallVector<ConvAxis, 3> axes;
  int64_t inputSize = 1, kernelSize = 1, outputSize = 1;
  for (unsigned i = 2; i < x.type.rank(); ++i) {
    axes.push_back(convAxis(ctx, i - 2, x.type.shape[i], weight.type.shape[i]));
    inputSize *= axes.back().input;
    kernelSize *= axes.back().kernel;
    outputSize *= axes.back().output();
  }
  int64_t groups = ctx.get(param::groups);
  int64_t inputs = weight.type.shape[1],
          outputs = weight.type.shape[0] / groups;
  std::vector<double> columns(inputs * kernelSize * outputSize);
  for (int64_t image = 0; image < x.type.shape[0]; ++image)
    for (int64_t group = 0; group < groups; ++group) {
      const double *in = &x.data[(image * groups + group) * inputs * inputSize];
      double *column = columns.data();
      for (int64_t c = 0; c < inputs; ++c)
        forEachTap(axes, [&](int64_t at) {
          *column++ = at < 0 ? 0.0 : in[c * inputSize + at];
        });
      double *to = &out.data[(image * groups + group) * outputs * outputSize];
      for (int64_t c = 0; c < outputs; ++c)
        std::fill_n(to + c * outputSize, outputSize,
                    bias ? bias->data[group * outputs + c] : 0.0);
      multiply(outputs, outputSize, inputs * kernelSize,
               &weight.data[group * outputs * inputs * kernelSize],
               columns.data(), to);
    }
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

namespace {

/// The convolution from `image` [images, groups * inputs, ...] to `outputs`
/// [images, groups * outputs, ...]. For a transposed convolution, these are its
/// result and its operand.
struct ConvGeometry {
  llvm::SmallVector<ConvAxis, 3> axes;
  int64_t groups;
  Shape strides, dilations, pads;

  ConvGeometry(llvm::ArrayRef<ConvAxis> axes, int64_t groups)
      : axes(axes.begin(), axes.end()), groups(groups) {
    for (const ConvAxis &axis : axes) {
      strides.push_back(axis.stride);
      dilations.push_back(axis.dilation);
      pads.append({axis.before, axis.after});
    }
  }
  /// Whether it is a matrix product at each position of the image.
  bool isPointwise() const {
    return groups == 1 && llvm::all_of(axes, [](const ConvAxis &axis) {
             return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 &&
                    axis.after == 0;
           });
  }
  llvm::SmallVector<Attr, 6> attrs() const {
    return {{param::strides, llvm::ArrayRef<int64_t>(strides)},
            {param::padType, PadType::Custom},
            {param::pad, llvm::ArrayRef<int64_t>(pads)},
            {param::dilations, llvm::ArrayRef<int64_t>(dilations)},
            {param::groups, groups}};
  }
};

} // namespace

/// [images, groups * n, ...] -> [n, groups * images, ...]
static Value *imagesAsChannels(Gradient &g, Value *x, int64_t groups) {
  const Shape &shape = x->type.shape;
  Shape split = {shape[0], groups, shape[1] / groups}, perm = {2, 1, 0};
  Shape joined = {shape[1] / groups, groups * shape[0]};
  for (size_t axis = 2; axis < shape.size(); ++axis) {
    split.push_back(shape[axis]);
    perm.push_back(int64_t(axis) + 1);
    joined.push_back(shape[axis]);
  }
  return g.reshape(g.transpose(g.reshape(x, split), perm), joined);
}

/// dweight[o, c, k] = sum over images and positions of image[c, p stride + k
/// dilation] dout[o, p]. This is a convolution with images as channels, dout as
/// its weight, and strides and dilations swapped.
static Value *gradientConvWeight(Gradient &g, const ConvGeometry &geometry,
                                 Value *image, Value *dout) {
  unsigned rank = image->type.rank();
  if (geometry.isPointwise()) {
    auto flat = [&](Value *x) {
      llvm::ArrayRef<int64_t> shape = x->type.shape;
      return g.reshape(
          x, {shape[0], shape[1], saturatingProduct(shape.drop_front(2))});
    };
    Value *products = g.matmul(flat(dout), flat(image), false, true);
    Shape shape(rank, 1);
    shape[0] = dout->type.shape[1];
    shape[1] = image->type.shape[1];
    return g.reshape(g.sum(products, 0), shape);
  }
  // Pad (or crop) so that the result has the extents of the kernel.
  Shape before(rank, 0), after(rank, 0);
  for (auto [i, axis] : llvm::enumerate(geometry.axes)) {
    int64_t reached = (axis.output() - 1) * axis.stride + axis.span();
    before[i + 2] = axis.before;
    after[i + 2] = reached - axis.input - axis.before;
  }
  Value *channels =
      imagesAsChannels(g, g.pad(image, before, after), geometry.groups);
  Shape swap = {1, 0};
  for (unsigned axis = 2; axis < rank; ++axis)
    swap.push_back(axis);
  Value *weight =
      g.make(ops::Conv, {channels, g.transpose(dout, swap)},
             {{param::strides, llvm::ArrayRef<int64_t>(geometry.dilations)},
              {param::dilations, llvm::ArrayRef<int64_t>(geometry.strides)},
              {param::groups, geometry.groups}});
  return g.transpose(weight, swap);
}

/// The gradient of the image, of shape `image`: a transposed convolution or,
/// for a pointwise convolution, one with the transposed weight, which is fast
/// on the engine.
static Value *convBack(Gradient &g, const ConvGeometry &geometry, Value *dout,
                       Value *weight, llvm::ArrayRef<int64_t> image) {
  if (geometry.isPointwise()) {
    Shape swap = {1, 0};
    for (unsigned axis = 2; axis < image.size(); ++axis)
      swap.push_back(axis);
    return g.make(ops::Conv, {dout, g.transpose(weight, swap)});
  }
  llvm::SmallVector<Attr, 6> attrs = geometry.attrs();
  attrs.emplace_back(param::outputShape, image);
  return g.make(ops::ConvTranspose, {dout, weight}, attrs);
}

static void gradientConv(Gradient &g) {
  llvm::SmallVector<ConvAxis, 3> axes;
  for (unsigned i = 2; i < g.rank(0); ++i)
    axes.push_back(convAxis(g.op, i - 2, g.shape(0)[i], g.shape(1)[i]));
  ConvGeometry geometry(axes, g.op.get(param::groups));
  g.give(0, [&] { return convBack(g, geometry, g.dy(), g.in(1), g.shape(0)); });
  g.give(1, [&] { return gradientConvWeight(g, geometry, g.in(0), g.dy()); });
  g.give(2, [&] { return g.sumAlong(g.dy(), 1); });
}

static int64_t flopsConv(const Op &op) {
  const TensorType &weight = op.operand(1u)->type;
  return saturatingProduct({2, op.result()->type.numElements(),
                            weight.numElements() / weight.shape[0]});
}

/// conv(x, weight, bias) = conv(x, weight) + bias, and the same of
/// conv_transpose.
static Value *splitBias(Builder &builder, const Op &op) {
  Decomposition d(builder, op);
  llvm::SmallVector<Value *, 4> operands(op.operandValues());
  operands[op.def().valueSlot(param::bias)] = nullptr;
  Value *product = d.make(op, operands, "product");
  return d.make(ops::Add, {product, d.perChannel(param::bias)});
}

/// A convolution of single positions is a product.
static bool positionsConv(PositionFlow &f) {
  unsigned axis = *f.in[0];
  if (axis == 0)
    return positions::same(f);
  if (axis == 1)
    return f.fail(positions::sums);
  unsigned spatial = axis - 2;
  bool isPadded = f.op.get(param::padType) == PadType::Custom &&
                  (f.op.get(param::pad)[2 * spatial] != 0 ||
                   f.op.get(param::pad)[2 * spatial + 1] != 0);
  if (f.shape(1)[axis] != 1 || f.op.get(param::strides)[spatial] != 1 ||
      isPadded)
    return f.fail(positions::joinsNeighbors);
  return positions::same(f);
}

constinit const OpDef ops::Conv = {
    .name = "conv",
    .summary = "Convolution of `x` with `weight` over 1 to 3 spatial axes, "
               "plus `bias`.",
    .family = "conv",
    .params = {value(param::x, floats, 'T', "[images, channels, spatial...]"),
               value(param::weight, floats, 'U',
                     "[outputs, channels / groups, kernel...]"),
               stored(optionalValue(param::bias, floats, 'U', "[outputs]")),
               integers(param::strides, "ones(spatial)"),
               mode(param::padType, PadType::Valid,
                    "valid: no padding; custom: `pad`; same and same_lower: "
                    "enough for ceil(extent / stride) outputs, with the odd "
                    "element at the end or (same_lower) at the start"),
               integers(param::pad, "zeros(2*spatial)",
                        "(before, after) per spatial axis; used when "
                        "`pad_type` is custom"),
               integers(param::dilations, "ones(spatial)"),
               integer(param::groups, "1")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5", "`weight` has the rank of `x`",
                    "`strides`, `dilations` (and `pad`) have an element (a "
                    "pair) for each spatial axis",
                    "`strides`, `dilations` and `groups` are at least 1, `pad` "
                    "at least 0",
                    oneOf<"`pad_type` is ", PadType>,
                    "`x` has as many channels as `weight` times `groups`",
                    "`groups` divides the number of outputs, and `bias` has an "
                    "element for each",
                    "the kernel fits the padded input"},
    .infer = inferConv,
    .eval = evalConv,
    .decomposeComputed = splitBias,
    .flops = flopsConv,
    .gradient = gradientConv,
    .positions = {positionsConv},
};

//===----------------------------------------------------------------------===//
// conv_transpose
//===----------------------------------------------------------------------===//

/// The least and the greatest extent of a result axis: a convolution over an
/// axis in this range, with the op's parameters, has `input` outputs.
static std::pair<int64_t, int64_t> transposedExtents(InferContext &ctx,
                                                     unsigned axis,
                                                     int64_t input,
                                                     int64_t kernel) {
  int64_t stride = ctx.get(param::strides)[axis];
  if (isSame(ctx.get(param::padType)))
    return {(input - 1) * stride + 1, input * stride};
  ConvAxis back = transposedAxis(ctx, axis, input, 0, kernel);
  int64_t fewest =
      (input - 1) * stride + back.span() - back.before - back.after;
  return {fewest, fewest + stride - 1};
}

static bool inferConvTranspose(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 5)) // C1
    return false;
  TensorType type = ctx.type(0);
  const TensorType &weight = ctx.type(1);
  int64_t groups = ctx.get(param::groups);
  if (!checkRank(ctx, 1, type.rank(), type.rank())) // C2
    return false;
  unsigned spatial = type.rank() - 2;
  if (!checkConvParameters(ctx, spatial)) // C3 to C5
    return false;
  if (type.shape[1] != weight.shape[0]) // C6
    return ctx.fail(diag::ConvChannels(ctx.opName(), ctx.describeOperand(0),
                                       ctx.describeOperand(1), weight.shape[0],
                                       1, weight.shape[0]),
                    {0, 1});
  if (weight.shape[0] % groups) // C7
    return ctx.fail(diag::BlockUneven(ctx.opName(), ctx.describeOperand(1), 0,
                                      weight.shape[0], groups),
                    {1});
  type.shape[1] = saturatingProduct({weight.shape[1], groups});
  if (!checkShape(ctx, 2, type.shape[1]) ||               // C7
      !checkLength(ctx, param::outputShape, type.rank())) // C8
    return false;
  Shape wanted =
      ctx.constant(param::outputShape) ? ctx.get(param::outputShape) : Shape();
  for (unsigned i = 0; i < spatial; ++i) {
    auto [fewest, most] =
        transposedExtents(ctx, i, type.shape[i + 2], weight.shape[i + 2]);
    bool same = isSame(ctx.get(param::padType));
    int64_t extent = !wanted.empty() ? wanted[i + 2] : same ? most : fewest;
    if (extent < 1 || extent < fewest || extent > most) // C8
      return ctx.fail(diag::ConvOutput(ctx.opName(), extent, fewest, most, i),
                      {0, 1});
    type.shape[i + 2] = extent;
  }
  if (!wanted.empty() && wanted != type.shape) // C8
    return ctx.fail(diag::ResultType("output_shape", shapeToString(wanted),
                                     ctx.opName(), type.str()));
  return ctx.result(type);
}

/// Transposes the convolution from the result to x: computes the columns
/// weight^T x, and adds them at the positions that they would be unfolded from.
static void evalConvTranspose(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &weight = *ctx.in[1];
  const RefTensor *bias = operandOrNull(ctx, 2);
  RefTensor &out = ctx.out[0];
  llvm::SmallVector<ConvAxis, 3> axes;
  int64_t inputSize = 1, kernelSize = 1, outputSize = 1;
  for (unsigned i = 2; i < x.type.rank(); ++i) {
    axes.push_back(transposedAxis(ctx, i - 2, x.type.shape[i],
                                  out.type.shape[i], weight.type.shape[i]));
    inputSize *= x.type.shape[i];
    kernelSize *= weight.type.shape[i];
    outputSize *= out.type.shape[i];
  }
  int64_t groups = ctx.get(param::groups);
  int64_t inputs = weight.type.shape[0] / groups,
          outputs = weight.type.shape[1];
  for (int64_t image = 0; image < x.type.shape[0]; ++image)
    for (int64_t group = 0; group < groups; ++group) {
      std::vector<double> columns(outputs * kernelSize * inputSize);
      std::vector<double> transpose =
          transposed(&weight.data[group * inputs * outputs * kernelSize],
                     inputs, outputs * kernelSize);
      multiply(outputs * kernelSize, inputSize, inputs, transpose.data(),
               &x.data[(image * groups + group) * inputs * inputSize],
               columns.data());
      const double *column = columns.data();
      for (int64_t c = 0; c < outputs; ++c) {
        double *channel =
            &out.data[((image * groups + group) * outputs + c) * outputSize];
        std::fill_n(channel, outputSize,
                    bias ? bias->data[group * outputs + c] : 0.0);
        forEachTap(axes, [&](int64_t at) {
          if (at >= 0)
            channel[at] += *column;
          ++column;
        });
      }
    }
}

static void gradientConvTranspose(Gradient &g) {
  llvm::SmallVector<ConvAxis, 3> axes;
  for (unsigned i = 2; i < g.rank(0); ++i)
    axes.push_back(transposedAxis(g.op, i - 2, g.shape(0)[i],
                                  g.op.result()->type.shape[i], g.shape(1)[i]));
  ConvGeometry geometry(axes, g.op.get(param::groups));
  g.give(0, [&] {
    return g.make(ops::Conv, {g.dy(), g.in(1)}, geometry.attrs());
  });
  g.give(1, [&] { return gradientConvWeight(g, geometry, g.dy(), g.in(0)); });
  g.give(2, [&] { return g.sumAlong(g.dy(), 1); });
}

static int64_t flopsConvTranspose(const Op &op) {
  const TensorType &weight = op.operand(1u)->type;
  return saturatingProduct({2, op.operand(0u)->type.numElements(),
                            weight.numElements() / weight.shape[0]});
}

constinit const OpDef ops::ConvTranspose = {
    .name = "conv_transpose",
    .summary = "Transposed convolution of `x` with `weight`, plus `bias`: the "
               "transpose of a convolution with the same parameters.",
    .family = "conv",
    .params = {value(param::x, floats, 'T', "[images, channels, spatial...]"),
               value(param::weight, floats, 'U',
                     "[channels, outputs / groups, kernel...]"),
               stored(optionalValue(param::bias, floats, 'U', "[outputs]")),
               integers(param::pad, "zeros(2*spatial)",
                        "elements to remove (before, after) per spatial axis; "
                        "used when `pad_type` is custom"),
               optionalConstant(param::outputShape, {DType::Int32}),
               mode(param::padType, PadType::Valid),
               integers(param::strides, "ones(spatial)"),
               integers(param::dilations, "ones(spatial)"),
               integer(param::groups, "1")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5", "`weight` has the rank of `x`",
                    "`strides`, `dilations` (and `pad`) have an element (a "
                    "pair) for each spatial axis",
                    "`strides`, `dilations` and `groups` are at least 1, `pad` "
                    "at least 0",
                    oneOf<"`pad_type` is ", PadType>,
                    "`x` has as many channels as `weight`",
                    "`groups` divides the number of channels, and `bias` has "
                    "an element for each output",
                    "`output_shape`, or the default shape, is one that the "
                    "convolution maps to the shape of `x`"},
    .infer = inferConvTranspose,
    .eval = evalConvTranspose,
    .decomposeComputed = splitBias,
    .flops = flopsConvTranspose,
    .gradient = gradientConvTranspose,
    .positions = {positions::neighbors},
};
