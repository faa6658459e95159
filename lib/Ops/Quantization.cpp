//===- Quantization.cpp - affine quantization -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Quantization.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Quantization.h"
#include <cmath>

using namespace anec;

bool anec::checkPerAxis(InferContext &ctx, unsigned slot, int64_t extent) {
  return !ctx.hasOperand(slot) || ctx.type(slot).isScalar() ||
         checkShape(ctx, slot, extent);
}

namespace {
/// The scale and zero point of each element.
class PerElement {
public:
  PerElement(const RefTensor &in, const RefTensor *zeroPoint,
             const RefTensor &scale, int64_t axis)
      : zeroPoint(zeroPoint), scale(scale) {
    if (!scale.type.isScalar() || (zeroPoint && !zeroPoint->type.isScalar()))
      view = viewAxis(in.type.shape, normalized(axis, in.type.rank()));
  }
  double scaleAt(size_t i) const { return at(scale, i); }
  double zeroPointAt(size_t i) const {
    return zeroPoint ? at(*zeroPoint, i) : 0;
  }

private:
  double at(const RefTensor &tensor, size_t i) const {
    return tensor.type.isScalar()
               ? tensor.data[0]
               : tensor.data[int64_t(i) / view.inner % view.extent];
  }
  const RefTensor *zeroPoint;
  const RefTensor &scale;
  AxisView view;
};
} // namespace

void anec::dequantize(const RefTensor &in, const RefTensor *zeroPoint,
                      const RefTensor &scale, int64_t axis, RefTensor &out) {
  PerElement parameters(in, zeroPoint, scale, axis);
  for (size_t i = 0; i < in.data.size(); ++i)
    out.data[i] =
        parameters.scaleAt(i) * (in.data[i] - parameters.zeroPointAt(i));
}

//===----------------------------------------------------------------------===//
// quantize, dequantize
//===----------------------------------------------------------------------===//

static bool checkScale(InferContext &ctx) {
  bool scalars =
      ctx.type(1).isScalar() && (!ctx.hasOperand(2) || ctx.type(2).isScalar());
  if (!ctx.constant(param::axis))
    return scalars || // C1
           ctx.fail(diag::MissingConstant(ctx.opName(), "axis"));
  int64_t axis = ctx.get(param::axis);
  return ctx.normalizeAxis(axis, ctx.type(0).rank()) &&   // C2
         checkPerAxis(ctx, 1, ctx.type(0).shape[axis]) && // C3
         checkPerAxis(ctx, 2, ctx.type(0).shape[axis]);   // C3
}

static int64_t axisOf(const EvalContext &ctx) {
  return ctx.constant(param::axis) ? ctx.get(param::axis) : 0;
}

static bool inferQuantize(InferContext &ctx) {
  if (!checkScale(ctx) ||
      !checkDType(ctx, param::outputDtype, {DType::Int8, DType::UInt8})) // C4
    return false;
  DType dtype = ctx.get(param::outputDtype);
  if (ctx.hasOperand(2) && ctx.type(2).dtype != dtype) // C5
    return ctx.fail(diag::OperandDType(ctx.opName(), "zero_point",
                                       spelling(ctx.type(2).dtype),
                                       spelling(dtype)),
                    {2});
  return ctx.result({dtype, ctx.type(0).shape});
}

/// round(input / scale) + zero_point, saturated.
static void evalQuantize(EvalContext &ctx) {
  const RefTensor &in = *ctx.in[0];
  PerElement parameters(in, operandOrNull(ctx, 2), *ctx.in[1], axisOf(ctx));
  for (size_t i = 0; i < in.data.size(); ++i)
    ctx.out[0].data[i] = std::nearbyint(in.data[i] / parameters.scaleAt(i)) +
                         parameters.zeroPointAt(i);
  settleIntegers(ctx.out[0]);
}

constinit const OpDef ops::Quantize = {
    .name = "quantize",
    .summary = "Rounds `input` / `scale` to the nearest integer, adds "
               "`zero_point` and saturates, with one scale and zero point, or "
               "one for each element along `axis`.",
    .family = "quantization",
    .params = {value(param::input, floats, 'S'),
               value(param::scale, floats, 'S'),
               optionalValue(param::zeroPoint, {DType::Int8, DType::UInt8},
                             'D'),
               optionalConstant(param::axis, {DType::Int32}),
               dtypeName(param::outputDtype)},
    .traits = trait::Mil,
    .constraints = {"without `axis`, `scale` and `zero_point` are scalars",
                    "`axis` is an axis of `input`",
                    "`scale` and `zero_point` are scalars, or have an element "
                    "for each element along `axis`",
                    "`output_dtype` is int8 or uint8",
                    "`zero_point` has the element type `output_dtype`"},
    .infer = inferQuantize,
    .eval = evalQuantize,
    .positions = {positions::apart},
};

static bool inferDequantize(InferContext &ctx) {
  return checkScale(ctx) && ctx.result({ctx.type(1).dtype, ctx.type(0).shape});
}

static void evalDequantize(EvalContext &ctx) {
  dequantize(*ctx.in[0], operandOrNull(ctx, 2), *ctx.in[1], axisOf(ctx),
             ctx.out[0]);
}

constinit const OpDef ops::Dequantize = {
    .name = "dequantize",
    .summary = "`scale` * (`input` - `zero_point`), with one scale and zero "
               "point, or one for each element along `axis`.",
    .family = "quantization",
    .params = {value(param::input, {DType::Int8, DType::UInt8}, 'S'),
               value(param::scale, floats, 'D'),
               optionalValue(param::zeroPoint, {DType::Int8, DType::UInt8},
                             'S'),
               optionalConstant(param::axis, {DType::Int32})},
    .traits = trait::Mil,
    .constraints = {"without `axis`, `scale` and `zero_point` are scalars",
                    "`axis` is an axis of `input`",
                    "`scale` and `zero_point` are scalars, or have an element "
                    "for each element along `axis`"},
    .infer = inferDequantize,
    .eval = evalDequantize,
    .positions = {positions::apart},
};
