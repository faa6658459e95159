//===- Softmax.cpp - softmax ------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Softmax.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"

using namespace anec;

static bool inferSoftmax(InferContext &ctx) {
  int64_t axis = ctx.get(param::axis);
  return ctx.normalizeAxis(axis, ctx.type(0).rank()) && // C1
         inferSame(ctx);
}

static void evalSoftmax(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.get(param::axis), x.type.rank()));
  out.data = x.data;
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n)
      softmaxInPlace(&out.data[o * view.extent * view.inner + n], view.extent,
                     view.inner);
}

/// Subtraction of the maximum, exponential, sum, division.
static int64_t flopsSoftmax(const Op &op) {
  return saturatingProduct({4, op.result()->type.numElements()});
}

/// dx = y (dy - sum(dy y))
static void gradientSoftmax(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
  g.give(0, [&] {
    Value *sum = g.sum(g.mul(g.dy(), g.out()), axis);
    return g.mul(g.out(), g.sub(g.dy(), sum));
  });
}

constinit const OpDef ops::Softmax = {
    .name = "softmax",
    .summary = "exp(`x`) divided by its sum along `axis`.",
    .family = "softmax",
    .params = {value(param::x), integer(param::axis, "-1")},
    .traits = trait::Mil | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`"},
    .infer = inferSoftmax,
    .eval = evalSoftmax,
    .flops = flopsSoftmax,
    .gradient = gradientSoftmax,
};
