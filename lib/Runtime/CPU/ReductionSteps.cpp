//===- ReductionSteps.cpp - reductions and softmax ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Both work on the rows or the columns of a view of their operand.
///
//===----------------------------------------------------------------------===//

#include "AxisView.h"
#include "Steps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Softmax.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::cpu;

std::optional<AxisView> cpu::viewAxes(llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> axes) {
  AxisView view;
  enum { Before, Within, After } place = Before;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1)
      continue;
    bool reduced = llvm::any_of(axes, [&](int64_t a) {
      return size_t(a < 0 ? a + int64_t(shape.size()) : a) == axis;
    });
    if (reduced && place == After)
      return std::nullopt;
    if (reduced)
      place = Within;
    else if (place == Within)
      place = After;
    size_t &extent = place == Before   ? view.outer
                     : place == Within ? view.axis
                                       : view.inner;
    extent *= size_t(shape[axis]);
  }
  return view;
}

static std::optional<Reduce> reduceKind(const Op &op) {
  struct Row {
    const OpDef *op;
    Reduce kind;
  };
  static constexpr Row rows[] = {
      {&ops::ReduceL1Norm, Reduce::L1},
      {&ops::ReduceL2Norm, Reduce::L2},
      {&ops::ReduceLogSum, Reduce::LogSum},
      {&ops::ReduceMax, Reduce::Max},
      {&ops::ReduceMean, Reduce::Mean},
      {&ops::ReduceMin, Reduce::Min},
      {&ops::ReduceProd, Reduce::Product},
      {&ops::ReduceSum, Reduce::Sum},
      {&ops::ReduceSumSquare, Reduce::SumSquare},
  };
  for (const Row &row : rows)
    if (op.is(*row.op))
      return row.kind;
  return std::nullopt;
}

static StepFn makeReduction(const Op &op, StepContext &ctx) {
  std::optional<Reduce> kind = reduceKind(op);
  const Value *x = op.operand(0u);
  if (!kind || !isFloat(x->type.dtype) || x->type.numElements() == 0)
    return {};
  std::optional<AxisView> view = viewAxes(x->type.shape, op.get(param::axes));
  if (!view)
    return {};
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  return [=, view = *view, kind = *kind, &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          reduceRows(kind, end - begin, view.axis, in + begin * view.axis,
                     out + begin, rounding);
        },
        [&](size_t outer, size_t begin, size_t end) {
          reduceColumns(kind,
                        {view.axis, end - begin, view.inner,
                         in + outer * view.axis * view.inner + begin},
                        out + outer * view.inner + begin, rounding);
        });
  };
}

static StepFn makeSoftmax(const Op &op, StepContext &ctx) {
  const Value *x = op.operand(0u);
  if (x->type.numElements() == 0)
    return {};
  std::optional<AxisView> view = viewAxes(x->type.shape, op.get(param::axis));
  if (!view)
    return {};
  const float *in = ctx.storage.floats(x);
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  return [=, view = *view, &pool = ctx.pool] {
    splitWork(
        pool, view,
        [&](size_t begin, size_t end) {
          softmaxRows(end - begin, view.axis, in + begin * view.axis,
                      out + begin * view.axis, rounding);
        },
        [&](size_t outer, size_t begin, size_t end) {
          size_t at = outer * view.axis * view.inner + begin;
          softmaxColumns({view.axis, end - begin, view.inner, in + at},
                         out + at, rounding);
        });
  };
}

static constexpr StepRow reductionStepsTable[] = {
    {&ops::ReduceL1Norm, makeReduction},    {&ops::ReduceL2Norm, makeReduction},
    {&ops::ReduceLogSum, makeReduction},    {&ops::ReduceMax, makeReduction},
    {&ops::ReduceMean, makeReduction},      {&ops::ReduceMin, makeReduction},
    {&ops::ReduceProd, makeReduction},      {&ops::ReduceSum, makeReduction},
    {&ops::ReduceSumSquare, makeReduction}, {&ops::Softmax, makeSoftmax},
};

llvm::ArrayRef<StepRow> cpu::reductionSteps() { return reductionStepsTable; }
