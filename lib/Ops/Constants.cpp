//===- Constants.cpp - values known before running --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `const` holds its value; `weight` names an array that is bound later.
///
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Reference.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Ops.h"

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
    ctx.out[0].data = ctx.constant(param::val)->asDoubles();
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
  if (!checkChoice(ctx, param::dtype, {"fp16", "fp32"}) || // C1
      !checkRange(ctx, param::shape, 1) ||                 // C2
      !checkRange(ctx, param::sourceShape, 1))
    return false;
  Shape shape = ctx.get(param::shape);
  Shape source =
      ctx.constant(param::sourceShape) ? ctx.get(param::sourceShape) : shape;
  Shape whole =
      ctx.constant(param::wholeShape) ? ctx.get(param::wholeShape) : shape;
  auto count = checkedNumElements(whole);
  auto stored = checkedNumElements(source);
  if (!count || count != stored) // C3
    return ctx.fail(diag::WeightCount(ctx.opName(), ctx.get(param::name).str(),
                                      shapeToString(source),
                                      shapeToString(whole)));
  if (const Constant *begin = ctx.constant(param::begin)) { // C5
    Shape from = begin->asInts();
    bool fits = from.size() == shape.size() && whole.size() == shape.size();
    for (size_t axis = 0; fits && axis < shape.size(); ++axis)
      fits = from[axis] >= 0 && from[axis] <= whole[axis] - shape[axis];
    if (!fits)
      return ctx.fail(diag::WeightPart(
          ctx.opName(), ctx.get(param::name).str(), shapeToString(shape),
          shapeToString(from), shapeToString(whole)));
  }
  if (ctx.constant(param::perm) &&
      !checkPermutation(ctx, param::perm, source.size())) // C4
    return false;
  return ctx.result({*parseDType(ctx.get(param::dtype)), shape});
}

constinit const OpDef ops::Weight = {
    .name = "weight",
    .summary = "The stored array `name` of shape `source_shape` (`shape`, when "
               "absent), transposed by `perm` and reshaped to `shape`; or to "
               "`whole_shape`, of which `shape` is the part at `begin`. A host "
               "function may name one of a repeated layer's by `index`.",
    .family = "constants",
    .params = {optionalValue(param::index, {DType::Int32}, 0),
               text(param::name), text(param::dtype), integers(param::shape),
               optionalConstant(param::perm, {DType::Int32}),
               optionalConstant(param::sourceShape, {DType::Int32}),
               optionalConstant(param::wholeShape, {DType::Int32}),
               optionalConstant(param::begin, {DType::Int32})},
    .traits = trait::Stored | trait::NotCallable,
    .constraints = {"`dtype` is fp16 or fp32", "extents are at least 1",
                    "`source_shape` has as many elements as `whole_shape` "
                    "(`shape`, when absent)",
                    "`perm` is a permutation of the axes of `source_shape`",
                    "the part of `shape` at `begin` lies within "
                    "`whole_shape`"},
    .infer = inferWeight,
};
