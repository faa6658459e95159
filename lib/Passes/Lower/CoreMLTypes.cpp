//===- CoreMLTypes.cpp - types that Core ML infers ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Core ML and coremltools infer the type of every value of a package, and
/// refuse one that declares another. They infer less than MIL text can say.
///
//===----------------------------------------------------------------------===//

#include "../Ranks/AxisMerger.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/SetVector.h"

using namespace anec;
using ranks::AxisMerger;
using ranks::Results;

static ConstantRef onlyElement(const Value *value) {
  const Op *op = value->definingOp();
  if (!op || !op->is(ops::Const) || value->type.numElements() != 1)
    return nullptr;
  return op->constant(param::val)->reshaped({});
}

/// The result has the shape to which `a` and `b` broadcast; that of `cond` does
/// not count. So one of them gets all of the result's elements.
static Results select(AxisMerger &m) {
  const Shape &shape = m.op.result()->type.shape;
  auto values = broadcastShapes(m.shape(1), m.shape(2));
  if (values && *values == shape)
    return {};
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  for (unsigned slot : {1u, 2u})
    if (ConstantRef element = onlyElement(operands[slot])) {
      operands[slot] = m.make(
          ops::Fill, {}, {{param::shape, shape}, {param::fillValue, element}});
      return m.remake(operands);
    }
  operands[1] = m.view(m.spread(operands[1], shape), shape);
  return m.remake(operands);
}

/// Whether the engine of M1 and M2 reads other elements than those of a
/// constant list: it does along the last axis.
static bool isMisread(AxisMerger &m) {
  if (!m.op.is(ops::Gather))
    return false;
  const Op *indices = m.op.operand(1u)->definingOp();
  int64_t axis = m.op.get(param::axis), rank = int64_t(m.shape().size());
  return (axis == -1 || axis == rank - 1) && indices && indices->is(ops::Const);
}

/// The elements of `x` as the op finds them in its operand. The last axis comes
/// after the batch for that, and then returns.
static Value *lookup(AxisMerger &m, Value *x) {
  llvm::SmallVector<Value *> operands = m.op.operandValues();
  operands[0] = x;
  if (!isMisread(m))
    return m.remake(operands)[0];
  int64_t rank = int64_t(m.shape().size());
  if (rank == 1) {
    operands[0] = m.view(x, {m.shape()[0], 1});
    // What is found has an axis more than the indices.
    if (m.shape(1).size() >= ranks::mostAxes)
      operands[1] = m.view(operands[1], {operands[1]->type.numElements()});
    return m.remake(operands, {{param::axis, Constant::int32(0)}})[0];
  }
  int64_t batch = m.op.get(param::batchDims);
  int64_t found = int64_t(m.shape(1).size()) - batch;
  Shape perm, back;
  for (int64_t i = 0; i < rank + found - 1; ++i)
    back.push_back(i);
  for (int64_t i = 0; i < rank; ++i)
    perm.push_back(i);
  std::rotate(perm.begin() + batch, perm.end() - 1, perm.end());
  std::rotate(back.begin() + batch, back.begin() + batch + found, back.end());
  operands[0] = m.make(ops::Transpose, {x}, {{param::perm, perm}});
  Value *rows =
      m.make(ops::Gather, operands,
             {{param::axis, batch},
              {param::batchDims, batch},
              {param::validateIndices, m.op.constant(param::validateIndices)}});
  return m.make(ops::Transpose, {rows}, {{param::perm, back}});
}

/// Lookups take numbers: gather(x) == cast(gather(cast(x))) for bools.
static Results gather(AxisMerger &m) {
  if (m.x()->type.dtype != DType::Bool)
    return isMisread(m) ? Results{lookup(m, m.x())} : Results{};
  Value *numbers = m.make(ops::Cast, {m.x()}, Attr(param::dtype, DType::FP16));
  return {
      m.make(ops::Cast, {lookup(m, numbers)}, Attr(param::dtype, DType::Bool))};
}

namespace {
struct Row {
  const OpDef *op;
  Results (*rewrite)(AxisMerger &merger);
};
} // namespace

static constexpr Row rows[] = {
    {&ops::Gather, gather},
    {&ops::GatherAlongAxis, gather},
    {&ops::GatherNd, gather},
    {&ops::Select, select},
};

static bool rewriteOp(Function &function, Op &op, PassContext &ctx) {
  for (const Row &row : rows) {
    if (!op.is(*row.op))
      continue;
    AxisMerger merger(function, op);
    Results results = row.rewrite(merger);
    if (results.empty())
      return false;
    op.result()->replaceAllUsesWith(results[0]);
    llvm::SmallSetVector<Op *, 4> before;
    for (Value *operand : op.operandValues())
      if (operand && onlyElement(operand))
        before.insert(operand->definingOp());
    op.erase();
    for (Op *number : before)
      if (!number->result()->hasUses())
        number->erase();
    ctx.count("rewritten");
    return true;
  }
  return false;
}

/// identity(x) == x + -0. On M5 a program of nothing but `identity` gives NaN.
static bool computeSomething(Function &function, PassContext &ctx) {
  bool computes = llvm::any_of(function.body(), [](const Op &op) {
    return !op.is(ops::Identity) && !op.def().has(trait::Stored);
  });
  if (computes)
    return false;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    if (!op.is(ops::Identity) || op.result()->type.dtype == DType::Bool)
      continue;
    AxisMerger merger(function, op);
    DType dtype = op.result()->type.dtype;
    Value *zero = merger.make(
        ops::Const, {},
        Attr(param::val, Constant::scalar(dtype, isFloat(dtype) ? -0.0 : 0)));
    op.result()->replaceAllUsesWith(merger.make(ops::Add, {merger.x(), zero}));
    op.erase();
    ctx.count("rewritten");
  }
  return true;
}

static bool rewriteForCoreML(Function &function, PassContext &ctx) {
  bool changed = computeSomething(function, ctx);
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    changed |= rewriteBlocks(
        op, [&](Function &block) { return rewriteForCoreML(block, ctx); });
    changed |= rewriteOp(function, op, ctx);
  }
  return changed;
}

constinit const PassDef passes::CoreMLTypes = {
    .name = "coreml-types",
    .summary = "Write ops so that Core ML infers their types",
    .description =
        "%y = select(%mask, 0, -1)  ==>  select(%mask, fill() {value = 0}, "
        "-1)\n"
        "%y = gather(%bools, %i)    ==>  cast(gather(cast(%bools), %i))",
    .stats = {{{"rewritten", "ops rewritten"}}},
    .tolerance = 0,
    .run = rewriteForCoreML,
};
