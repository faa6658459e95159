//===- Select.cpp - comparisons, logic, choice ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Select.h"
#include "Elementwise.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"

namespace anec::param {
ANEC_PARAM(a, "a", Value)
ANEC_PARAM(b, "b", Value)
ANEC_PARAM(cond, "cond", Value)
} // namespace anec::param

using namespace anec;

static double equal(double x, double y) { return x == y; }
static double notEqual(double x, double y) { return x != y; }
static double less(double x, double y) { return x < y; }
static double lessEqual(double x, double y) { return x <= y; }
static double greater(double x, double y) { return x > y; }
static double greaterEqual(double x, double y) { return x >= y; }
static double logicalAnd(double x, double y) { return x != 0 && y != 0; }
static double logicalOr(double x, double y) { return x != 0 || y != 0; }
static double logicalXor(double x, double y) { return (x != 0) != (y != 0); }
static double logicalNot(double x) { return x == 0; }

static constexpr OpDef comparison(llvm::StringLiteral name,
                                  llvm::StringLiteral summary,
                                  void (*eval)(EvalContext &),
                                  DTypeSet dtypes = numbers,
                                  uint32_t traits = 0) {
  return {.name = name,
          .summary = summary,
          .family = "select",
          .params = {value(param::x, dtypes), value(param::y, dtypes)},
          .traits =
              trait::Mil | trait::Elementwise | trait::ZeroGradient | traits,
          .constraints = {"`x` and `y` have shapes that broadcast"},
          .infer = inferComparison,
          .eval = eval};
}

constinit const OpDef ops::Equal =
    comparison("equal", "Whether `x` equals `y`.", evalBinary<equal>, numbers,
               trait::Commutative);
constinit const OpDef ops::NotEqual =
    comparison("not_equal", "Whether `x` differs from `y`.",
               evalBinary<notEqual>, numbers, trait::Commutative);
constinit const OpDef ops::Less =
    comparison("less", "Whether `x` is less than `y`.", evalBinary<less>);
constinit const OpDef ops::LessEqual =
    comparison("less_equal", "Whether `x` is less than or equal to `y`.",
               evalBinary<lessEqual>);
constinit const OpDef ops::Greater = comparison(
    "greater", "Whether `x` is greater than `y`.", evalBinary<greater>);
constinit const OpDef ops::GreaterEqual =
    comparison("greater_equal", "Whether `x` is greater than or equal to `y`.",
               evalBinary<greaterEqual>);
constinit const OpDef ops::LogicalAnd =
    comparison("logical_and", "Whether both `x` and `y` are true.",
               evalBinary<logicalAnd>, {DType::Bool}, trait::Commutative);
constinit const OpDef ops::LogicalOr =
    comparison("logical_or", "Whether `x`, `y` or both are true.",
               evalBinary<logicalOr>, {DType::Bool}, trait::Commutative);
constinit const OpDef ops::LogicalXor =
    comparison("logical_xor", "Whether exactly one of `x` and `y` is true.",
               evalBinary<logicalXor>, {DType::Bool}, trait::Commutative);

constinit const OpDef ops::LogicalNot = {
    .name = "logical_not",
    .summary = "Whether `x` is false.",
    .family = "select",
    .params = {value(param::x, {DType::Bool})},
    .traits = trait::Mil | trait::Elementwise | trait::ZeroGradient,
    .infer = inferSame,
    .eval = evalUnary<logicalNot>,
};

//===----------------------------------------------------------------------===//
// select
//===----------------------------------------------------------------------===//

static bool inferSelect(InferContext &ctx) {
  auto ab = broadcast(ctx, ctx.type(1).shape, ctx.type(2).shape, {1, 2}); // C1
  if (!ab)
    return false;
  auto all = broadcastShapes(ctx.type(0).shape, *ab);
  if (!all) // C2
    return ctx.fail(diag::SelectMismatch(ctx.opName(), ctx.describeOperand(0),
                                         ctx.describeOperand(1),
                                         ctx.describeOperand(2)),
                    {0, 1, 2});
  return ctx.result({ctx.type(1).dtype, *all});
}

static void evalSelect(EvalContext &ctx) {
  const RefTensor &cond = *ctx.in[0], &a = *ctx.in[1], &b = *ctx.in[2];
  RefTensor &out = ctx.out[0];
  const Shape &shape = out.type.shape;
  size_t i = 0;
  forEachElement<3>(shape,
                    {broadcastStrides(cond.type.shape, shape),
                     broadcastStrides(a.type.shape, shape),
                     broadcastStrides(b.type.shape, shape)},
                    [&](const auto &at) {
                      out.data[i++] =
                          cond.data[at[0]] != 0 ? a.data[at[1]] : b.data[at[2]];
                    });
}

static void gradientSelect(Gradient &g) {
  Value *cond = g.op.operand(0u);
  g.give(1, [&] { return g.where(cond, g.dy()); });
  g.give(2, [&] { return g.select(cond, g.scalar(0), g.dy()); });
}

constinit const OpDef ops::Select = {
    .name = "select",
    .summary = "`a` where `cond` is true, `b` elsewhere.",
    .family = "select",
    .params = {value(param::cond, {DType::Bool}, 0),
               value(param::a, basicTypes), value(param::b, basicTypes)},
    .traits = trait::Mil | trait::Elementwise,
    .constraints = {"`a` and `b` broadcast", "`cond` broadcasts with them"},
    .infer = inferSelect,
    .eval = evalSelect,
    .gradient = gradientSelect,
};
