//===- Constants.cpp - values known before running --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `const` has its value in the program; `weight` names an array that is bound
/// later.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Constants.h"
#include "Infer.h"
#include "Reference.h"
#include "anec/IR/ArrayView.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Stored.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// const
//===----------------------------------------------------------------------===//

static constexpr DTypeSet everyType = {
    DType::Bool,   DType::String, DType::FP16,      DType::FP32,
    DType::FP64,   DType::BF16,   DType::FP8E4M3FN, DType::FP8E5M2,
    DType::Int4,   DType::Int8,   DType::Int16,     DType::Int32,
    DType::Int64,  DType::UInt1,  DType::UInt2,     DType::UInt3,
    DType::UInt4,  DType::UInt6,  DType::UInt8,     DType::UInt16,
    DType::UInt32, DType::UInt64};

static bool inferConst(InferContext &ctx) {
  return ctx.result(ctx.constant(param::val)->type());
}

static void evalConst(EvalContext &ctx) {
  if (ctx.out[0].type.dtype != DType::String)
    ctx.out[0].data = exactElements(*ctx.constant(param::val));
}

constinit const OpDef ops::Const = {
    .name = "const",
    .summary = "The array `val`.",
    .family = "constants",
    .params = {ParamDef{param::val, ParamKind::Constant, everyType, 0, -1}},
    .traits = trait::Mil | trait::Stored | trait::NotCallable,
    .infer = inferConst,
    .eval = evalConst,
};

//===----------------------------------------------------------------------===//
// weight
//===----------------------------------------------------------------------===//

static bool inferWeight(InferContext &ctx) {
  if (!checkDType(ctx, param::dtype,
                  {DType::FP16, DType::FP32, DType::Int4, DType::Int8,
                   DType::UInt4, DType::UInt6, DType::UInt8}) || // C1
      !checkRange(ctx, param::shape, 1) ||                       // C2
      !checkMode(ctx, param::gradientUse))                       // C3
    return false;
  TensorType stored(ctx.get(param::dtype), ctx.get(param::shape));
  const Constant *text = ctx.constant(param::view);
  if (!text || !checkedNumElements(stored.shape))
    return ctx.result(stored);
  std::string why;
  std::optional<ArrayView> view =
      ArrayView::parse(text->asString(), stored.shape, why);
  if (!view) // C4
    return ctx.fail(diag::WeightView(ctx.get(param::name).str(),
                                     text->asString().str(), why));
  return ctx.result({stored.dtype, view->shape()});
}

constinit const OpDef ops::Weight = {
    .name = "weight",
    .summary =
        "The stored array `name` of shape `shape`, or the part of it selected, "
        "permuted and reshaped by `view`. In a host function, `index` selects "
        "the instance of a repeated layer that owns the weight. A `frozen` "
        "weight has no gradient. What `mode` says of the gradient: `trained`, "
        "that an optimizer reads it; `updated`, that it is taken off the "
        "weight, as of running statistics.",
    .family = "constants",
    .params = {optionalValue(param::index, {DType::Int32}, 0),
               text(param::name), dtypeName(param::dtype),
               integers(param::shape),
               optionalConstant(param::view, {DType::String}),
               boolean(param::frozen, "false"),
               mode(param::gradientUse, GradientUse::Trained)},
    .traits = trait::Stored | trait::NotCallable,
    .constraints =
        {"`dtype` is fp16, fp32 or, for a part of a quantized weight, int4, "
         "int8, uint4, uint6 or uint8",
         "extents are at least 1", oneOf<"`mode` is ", GradientUse>,
         "each step of `view` applies to the result of the step before it"},
    .infer = inferWeight,
};
