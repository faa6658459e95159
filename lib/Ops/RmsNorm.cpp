//===- RmsNorm.cpp - root-mean-square normalization -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Reference.h"
#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include <cmath>

using namespace anec;

static bool inferRmsNorm(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.intAttr("axis");
  if (!ctx.normalizeAxis(axis, x.rank()) || // C1
      !checkShape(ctx, 1, x.shape[axis]))   // C2
    return false;
  double epsilon = ctx.constant("epsilon")->asDouble();
  if (!(epsilon >= 0 && epsilon <= 1)) // C3
    return ctx.fail(diag::ParameterRange, {ctx.def.name.str(), "epsilon",
                                           std::to_string(epsilon), "0 to 1"});
  return inferSame(ctx);
}

static void evalRmsNorm(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0], &gamma = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  AxisView view =
      viewAxis(x.type.shape, normalized(ctx.intAttr("axis"), x.type.rank()));
  double epsilon = ctx.floatAttr("epsilon");
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n) {
      int64_t first = o * view.extent * view.inner + n;
      double sum = 0;
      for (int64_t i = 0; i < view.extent; ++i) {
        double element = x.data[first + i * view.inner];
        sum += element * element;
      }
      double root = std::sqrt(sum / double(view.extent) + epsilon);
      for (int64_t i = 0; i < view.extent; ++i)
        out.data[first + i * view.inner] =
            x.data[first + i * view.inner] / root * gamma.data[i];
    }
}

/// Square, sum, scaling, gamma.
static int64_t flopsRmsNorm(const Op &op) {
  return saturatingProduct({4, op.result()->type.numElements()});
}

constinit const OpDef ops::RmsNorm = {
    .name = "rmsnorm",
    .summary = "`x` divided by sqrt(mean of squares + `epsilon`) along `axis`, "
               "times `gamma`.",
    .family = "norm",
    .params = {value("x"), value("gamma", floats, 'T', "[extent at `axis`]"),
               number("epsilon", "1e-05", 0, {DType::FP32}),
               integer("axis", "0")},
    .constraints = {"`axis` is an axis of `x`",
                    "`gamma` has an element for each of `x` along `axis`",
                    "`epsilon` is in [0, 1]"},
    .infer = inferRmsNorm,
    .eval = evalRmsNorm,
    .flops = flopsRmsNorm,
};
