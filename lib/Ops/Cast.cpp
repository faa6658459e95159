//===- Cast.cpp - conversion of element types -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Cast.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"

using namespace anec;

static bool inferCast(InferContext &ctx) {
  if (!checkDType(ctx, param::dtype,
                  {DType::Bool, DType::FP16, DType::FP32, DType::Int8,
                   DType::Int16, DType::Int32, DType::UInt8,
                   DType::UInt16})) // C1
    return false;
  return ctx.result({ctx.get(param::dtype), ctx.type(0).shape});
}

/// Floats keep their values: the reference does not round.
static void evalCast(EvalContext &ctx) {
  if (ctx.out[0].type.dtype == DType::Bool)
    return forEachUnary(ctx, [](double x) { return double(x != 0); });
  forEachUnary(ctx, [](double x) { return x; });
}

/// Only for float results: integers are constant under small changes of x.
static void gradientCast(Gradient &g) {
  if (isFloat(g.op.result()->type.dtype))
    g.give(0, [&] { return g.dy(); });
}

constinit const OpDef ops::Cast = {
    .name = "cast",
    .summary = "Converts `x` to `dtype`. Floats convert to integers by "
               "truncation and to booleans by comparison with zero.",
    .family = "cast",
    .params = {value(param::x, movableTypes), dtypeName(param::dtype)},
    .traits = trait::Mil | trait::Elementwise,
    .constraints = {"`dtype` is one of the element types allowed for `x`"},
    .infer = inferCast,
    .eval = evalCast,
    .gradient = gradientCast,
};
