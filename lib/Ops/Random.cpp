//===- Random.cpp - dropout and random masks ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine draws no numbers. In a training step, `expose-masks` makes masks
/// parameters, which the host draws. The rows here say what is computed
/// elsewhere: a mask is its mean.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Random.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Fill.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Fill.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// random_mask
//===----------------------------------------------------------------------===//

static bool inferRandomMask(InferContext &ctx) {
  if (!checkRange(ctx, param::shape, 1)) // C1
    return false;
  double keep = ctx.get(param::keep);
  if (!(keep > 0 && keep <= 1)) // C2
    return failNumber(ctx, param::keep, "a number above 0 and at most 1");
  return ctx.result({DType::FP16, ctx.get(param::shape)});
}

static void evalRandomMask(EvalContext &ctx) {
  RefTensor &out = ctx.out[0];
  std::fill(out.data.begin(), out.data.end(), ctx.get(param::keep));
}

static void decomposeRandomMask(Builder &builder, const Op &op,
                                llvm::SmallVectorImpl<Value *> &results) {
  ConstantRef mean = Constant::fromDoubles(DType::FP16, {op.get(param::keep)});
  results.push_back(builder.build(ops::Fill, {},
                                  {{param::shape, op.constant(param::shape)},
                                   {param::fillValue, std::move(mean)}}));
}

constinit const OpDef ops::RandomMask = {
    .name = "random_mask",
    .summary = "Zeros and ones; each element is 1 with the probability `keep`. "
               "The trainer draws them for every run of a step. Without "
               "training, every element is `keep`, their mean.",
    .family = "random",
    .params = {integers(param::shape),
               number(param::keep, "", 0, {DType::FP32})},
    .constraints = {"extents are at least 1",
                    "`keep` is above 0 and at most 1"},
    .infer = inferRandomMask,
    .eval = evalRandomMask,
    .decompose = decomposeRandomMask,
};

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

static bool inferDropout(InferContext &ctx) {
  double rate = ctx.get(param::rate);
  // Above, the elements that are kept could become infinite.
  if (!(rate >= 0 && float(rate) <= 0.999f)) // C1
    return failNumber(ctx, param::rate, "a number of 0 to 0.999");
  return inferSame(ctx);
}

static void decomposeDropout(Builder &, const Op &op,
                             llvm::SmallVectorImpl<Value *> &results) {
  results.push_back(op.operand(0u));
}

static void gradientDropout(Gradient &g) {
  g.give(0, [&] { return g.dy(); });
}

constinit const OpDef ops::Dropout = {
    .name = "dropout",
    .summary = "In a training step, elements become 0 with the probability "
               "`rate`, and the others are divided by 1 - `rate`. Without "
               "training, returns `x` unchanged.",
    .family = "random",
    .params = {value(param::x), number(param::rate, "", 0, {DType::FP32})},
    .constraints = {"`rate` is 0 to 0.999"},
    .infer = inferDropout,
    .eval = evalCopy,
    .decompose = decomposeDropout,
    .gradient = gradientDropout,
    .positions = {positions::apart},
};
