//===- Conv.cpp - convolution -----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Reference.h"
#include "anec/Ops/Convolution.h"
#include "anec/Ops/Ops.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

static bool checkConvParameters(InferContext &ctx, unsigned spatial) {
  return checkLength(ctx, "strides", spatial) &&   // C3
         checkLength(ctx, "dilations", spatial) && // C3
         checkLength(ctx, "pad", 2 * spatial) &&   // C3
         checkRange(ctx, "strides", 1) &&          // C4
         checkRange(ctx, "dilations", 1) &&        // C4
         checkRange(ctx, "groups", 1) &&           // C4
         checkRange(ctx, "pad", 0) &&              // C4
         checkChoice(ctx, "pad_type",
                     {"valid", "custom", "same", "same_lower"}); // C5
}

static bool checkConvChannels(InferContext &ctx) {
  const TensorType &x = ctx.type(0), &weight = ctx.type(1);
  int64_t groups = ctx.intAttr("groups");
  if (x.shape[1] != groups * weight.shape[1]) // C6
    return ctx.fail(diag::ConvChannels,
                    {ctx.def.name.str(), ctx.describeOperand(0),
                     ctx.describeOperand(1),
                     std::to_string(groups * weight.shape[1]),
                     std::to_string(groups), std::to_string(weight.shape[1])},
                    {0, 1});
  if (weight.shape[0] % groups) // C7
    return ctx.fail(diag::ConvGroups,
                    {ctx.def.name.str(), std::to_string(weight.shape[0]),
                     std::to_string(groups)},
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
      return ctx.fail(diag::ConvKernel,
                      {ctx.def.name.str(), std::to_string(axis.span()),
                       std::to_string(i), std::to_string(axis.padded())},
                      {0, 1});
    type.shape[i + 2] = axis.output();
  }
  return ctx.result(type);
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

/// Writes the elements of one channel that each kernel position meets: row k of
/// `columns` is the channel as seen through kernel position k, one element per
/// output position, 0 where it lies in the padding.
static void unfoldChannel(llvm::ArrayRef<ConvAxis> axes, const double *channel,
                          double *columns) {
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
    *columns++ = inside ? channel[at] : 0.0;
    int64_t axis = int64_t(both.size()) - 1;
    while (axis >= 0 && ++index[axis] == both[axis])
      index[axis--] = 0;
    if (axis < 0)
      return;
  }
}

/// A convolution is a matrix product: weight [outputs, inputs * kernel] times
/// the unfolded input [inputs * kernel, output positions], per image and group.
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
  int64_t groups = ctx.intAttr("groups");
  int64_t inputs = weight.type.shape[1],
          outputs = weight.type.shape[0] / groups;
  std::vector<double> columns(inputs * kernelSize * outputSize);
  for (int64_t image = 0; image < x.type.shape[0]; ++image)
    for (int64_t group = 0; group < groups; ++group) {
      const double *in = &x.data[(image * groups + group) * inputs * inputSize];
      for (int64_t c = 0; c < inputs; ++c)
        unfoldChannel(axes, in + c * inputSize,
                      &columns[c * kernelSize * outputSize]);
      double *to = &out.data[(image * groups + group) * outputs * outputSize];
      for (int64_t c = 0; c < outputs; ++c)
        std::fill_n(to + c * outputSize, outputSize,
                    bias ? bias->data[group * outputs + c] : 0.0);
      multiply(outputs, outputSize, inputs * kernelSize,
               &weight.data[group * outputs * inputs * kernelSize],
               columns.data(), to);
    }
}

static int64_t flopsConv(const Op &op) {
  const TensorType &weight = op.operand(1u)->type;
  return saturatingProduct({2, op.result()->type.numElements(),
                            weight.numElements() / weight.shape[0]});
}

constinit const OpDef ops::Conv = {
    .name = "conv",
    .summary = "Slides `weight` over the spatial axes of `x`, with 1 to 3 of "
               "them, and adds `bias`.",
    .family = "conv",
    .params = {value("x", floats, 'T', "[images, channels, spatial...]"),
               value("weight", floats, 'U',
                     "[outputs, channels / groups, kernel...]"),
               optionalValue("bias", floats, 'U', "[outputs]"),
               integers("strides", "ones(spatial)"),
               text("pad_type", "\"valid\"",
                    "none, `pad`, or enough for ceil(extent / stride) outputs "
                    "with the odd element at the end or (same_lower) at the "
                    "beginning"),
               integers("pad", "zeros(2*spatial)",
                        "(before, after) per spatial axis, when custom"),
               integers("dilations", "ones(spatial)"), integer("groups", "1")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of 3 to 5", "`weight` has the rank of `x`",
                    "`strides`, `dilations` (and `pad`) have an element (a "
                    "pair) for each spatial axis",
                    "`strides`, `dilations` and `groups` are at least 1, `pad` "
                    "at least 0",
                    "`pad_type` is valid, custom, same or same_lower",
                    "the channels of `x` are those of `weight` times `groups`",
                    "`groups` divides the outputs, and `bias` has an element "
                    "for each",
                    "the kernel fits the padded input"},
    .infer = inferConv,
    .eval = evalConv,
    .flops = flopsConv,
};
