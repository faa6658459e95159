//===- PositiveIndices.cpp - indices that count from the start ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Negative indices count from the end in the language, in ONNX, and in MIL
/// before ios17. From there on they are out of range for Core ML, and what is
/// read is undefined. The ids of `embed` are not negative, and cost nothing.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Sort.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// What is indexed
//===----------------------------------------------------------------------===//

namespace {
/// The axes that the second operand of an op has indices of: one, or one for
/// each of its columns.
struct IndexedAxes {
  const Value *data;
  unsigned first;
  unsigned count = 1;
  bool areColumns = false;

  int64_t extent(int64_t element) const {
    return data->type.shape[first + (areColumns ? element % count : 0)];
  }
};
} // namespace

static std::optional<IndexedAxes> indexedAxes(const Op &op) {
  const Value *data = op.numOperands() > 1 ? op.operand(0u) : nullptr;
  if (op.is(ops::GatherNd) || op.is(ops::ScatterNd)) {
    int64_t batch = op.is(ops::GatherNd) ? op.get(param::batchDims) : 0;
    return IndexedAxes{data, unsigned(batch),
                       unsigned(op.operand(1u)->type.shape.back()), true};
  }
  if (!op.is(ops::Gather) && !op.is(ops::GatherAlongAxis) &&
      !op.is(ops::Scatter) && !op.is(ops::ScatterAlongAxis))
    return std::nullopt;
  int64_t axis = op.get(param::axis);
  return IndexedAxes{data,
                     unsigned(axis < 0 ? axis + data->type.rank() : axis)};
}

//===----------------------------------------------------------------------===//
// Which indices are not negative
//===----------------------------------------------------------------------===//

static const Constant *constantOf(const Value *value) {
  const Op *op = value->definingOp();
  return op && op->is(ops::Const) ? op->constant(param::val) : nullptr;
}

/// Whether `cond` compares `index` with 0 by `comparison`.
static bool comparesWithZero(const Value *cond, const OpDef &comparison,
                             const Value *index) {
  const Op *op = cond->definingOp();
  if (!op || !op->is(comparison) || op->operand(0u) != index)
    return false;
  const Constant *zero = constantOf(op->operand(1u));
  return zero && zero->numElements() == 1 && zero->doubleAt(0) == 0;
}

/// select(i < 0, i + extent, i), or select(i >= 0, i, i + extent), as this pass
/// and exporters write it.
static bool isMadePositive(const Op &select) {
  const Value *cond = select.operand(0u);
  for (auto [index, other, comparison] :
       {std::tuple(2u, 1u, &ops::Less),
        std::tuple(1u, 2u, &ops::GreaterEqual)}) {
    const Value *i = select.operand(index);
    const Op *sum = select.operand(other)->definingOp();
    if (sum && sum->is(ops::Add) && comparesWithZero(cond, *comparison, i) &&
        (sum->operand(0u) == i || sum->operand(1u) == i))
      return true;
  }
  return false;
}

/// Whether no element is negative, as far as a few ops tell.
static bool isNotNegative(const Value *value, unsigned depth = 0) {
  if (value->type.dtype == DType::UInt8 || value->type.dtype == DType::UInt16 ||
      value->type.dtype == DType::Bool)
    return true;
  if (const Constant *constant = constantOf(value))
    return llvm::all_of(constant->asDoubles(),
                        [](double element) { return element >= 0; });
  const Op *op = value->definingOp();
  if (!op || depth > 16)
    return false;
  auto all = [&](unsigned first) {
    return llvm::all_of(llvm::drop_begin(op->operandValues(), first),
                        [&](const Value *operand) {
                          return !operand || isNotNegative(operand, depth + 1);
                        });
  };
  if (op->is(ops::ReduceArgmax) || op->is(ops::ReduceArgmin) ||
      op->is(ops::Argsort) || op->is(ops::ShapeOf) || op->is(ops::Abs) ||
      op->is(ops::Relu) || (op->is(ops::Topk) && value->index() == 1))
    return true;
  if (op->is(ops::Select))
    return isMadePositive(*op) || all(1);
  if (op->is(ops::Maximum))
    return isNotNegative(op->operand(0u), depth + 1) ||
           isNotNegative(op->operand(1u), depth + 1);
  if (op->is(ops::Gather) || op->is(ops::GatherAlongAxis) ||
      op->is(ops::GatherNd))
    return isNotNegative(op->operand(0u), depth + 1);
  bool keepsSign = op->is(ops::Cast) || op->is(ops::Identity) ||
                   op->is(ops::Add) || op->is(ops::Mul) ||
                   op->is(ops::Minimum) || op->def().has(trait::DataMovement);
  return keepsSign && !op->is(ops::Pad) && all(0);
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The constant with every index counted from the start; null, with the reason
/// reported, when one is out of range.
static ConstantRef positiveConstant(const Op &op, const IndexedAxes &axes,
                                    const Constant &indices, PassContext &ctx) {
  std::vector<double> elements = indices.asDoubles();
  for (size_t i = 0; i < elements.size(); ++i) {
    int64_t extent = axes.extent(int64_t(i));
    if (elements[i] < 0)
      elements[i] += double(extent);
    if (elements[i] >= 0 && elements[i] < double(extent))
      continue;
    ctx.diags.report(op.range(), diag::IndexBeyond, indices.intAt(int64_t(i)),
                     op.def().name, extent);
    return nullptr;
  }
  // Small integers may not hold the extent.
  return Constant::fromDoubles({DType::Int32, indices.type().shape}, elements);
}

static Value *positiveValue(Builder &builder, const IndexedAxes &axes,
                            Value *indices) {
  llvm::StringRef name = indices->name;
  if (indices->type.dtype != DType::Int32)
    indices = builder.build(ops::Cast, {indices},
                            Attr(param::dtype, DType::Int32), name);
  std::vector<double> extents;
  for (unsigned i = 0; i < axes.count; ++i)
    extents.push_back(double(axes.extent(i)));
  TensorType type(DType::Int32);
  if (axes.areColumns)
    type.shape = {int64_t(axes.count)};
  Value *extent = builder.build(
      ops::Const, {}, Attr(param::val, Constant::fromDoubles(type, extents)));
  Value *zero = builder.build(
      ops::Const, {}, Attr(param::val, Constant::scalar(DType::Int32, 0)));
  Value *isNegative = builder.build(ops::Less, {indices, zero}, {}, name);
  Value *fromStart = builder.build(ops::Add, {indices, extent}, {}, name);
  return builder.build(ops::Select, {isNegative, fromStart, indices}, {}, name);
}

/// Whether the op changed.
static bool makePositive(Function &function, Op &op, PassContext &ctx) {
  std::optional<IndexedAxes> axes = indexedAxes(op);
  if (!axes)
    return false;
  Value *indices = op.operand(1u);
  Builder builder(function);
  builder.setInsertionPoint(&op);
  if (const Constant *constant = constantOf(indices)) {
    ConstantRef positive = positiveConstant(op, *axes, *constant, ctx);
    if (!positive || isNotNegative(indices))
      return false;
    op.setOperand(1, builder.build(ops::Const, {}, {{param::val, positive}},
                                   indices->name));
  } else {
    if (isNotNegative(indices))
      return false;
    op.setOperand(1, positiveValue(builder, *axes, indices));
  }
  ctx.count("rewritten");
  return true;
}

static bool makePositive(Function &function, PassContext &ctx) {
  bool changed = false;
  for (Op &op : function.body()) {
    changed |= rewriteBlocks(
        op, [&](Function &block) { return makePositive(block, ctx); });
    changed |= makePositive(function, op, ctx);
  }
  return changed;
}

static bool makePositive(Module &module, PassContext &ctx) {
  bool changed = false;
  for (const auto &function : module.functions)
    changed |= makePositive(*function, ctx);
  return changed;
}

constinit const PassDef passes::PositiveIndices = {
    .name = "positive-indices",
    .summary = "Count indices from the start",
    .description = "%y = gather(%x, %i)\n"
                   "    ==>  %j = select(less(%i, 0), add(%i, 10), %i)\n"
                   "         %y = gather(%x, %j)\n"
                   "Constants are changed themselves, and one that is out of "
                   "range is an\nerror. The same for gather_along_axis, "
                   "gather_nd and the scatter ops.",
    .stats = {{{"rewritten", "ops with other indices"}}},
    .tolerance = 0,
    .runOnModule = makePositive,
};
