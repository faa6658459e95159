//===- AssignLayout.cpp - every tensor as [N, C, H, W] --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine works on rank-4 tensors with channels on axis 1. This pass maps
/// every value of lower rank to rank 4 and rewrites the ops to match:
///
///   [S]        ->  [1, 1, 1, S]
///   [C, S]     ->  [1, C, 1, S]
///   [A, B, S]  ->  [1, A, B, S]
///
/// Scalars stay scalars. The row-major order does not change, so a change of
/// layout is a reshape. An op without a rule here keeps its shapes, with
/// reshapes before and after it, which is correct but slow.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static constexpr unsigned engineRank = 4;

static Shape layoutShape(llvm::ArrayRef<int64_t> shape) {
  switch (shape.size()) {
  case 1:
    return {1, 1, 1, shape[0]};
  case 2:
    return {1, shape[0], 1, shape[1]};
  case 3:
    return {1, shape[0], shape[1], shape[2]};
  default:
    return Shape(shape);
  }
}

/// The axis that axis `axis` of a value of `rank` has in the layout.
static int64_t layoutAxis(int64_t axis, unsigned rank) {
  if (axis < 0)
    axis += rank;
  switch (rank) {
  case 1:
    return 3;
  case 2:
    return axis == 0 ? 1 : 3;
  case 3:
    return axis + 1;
  default:
    return axis;
  }
}

/// `shape` extended to `rank` with leading ones, as in broadcasting.
static Shape padded(llvm::ArrayRef<int64_t> shape, unsigned rank) {
  Shape result(rank > shape.size() ? rank - shape.size() : 0, 1);
  result.append(shape.begin(), shape.end());
  return result;
}

/// Permutes `values`, one per axis of a value, to the layout's axes; axes that
/// the layout adds get `fill`.
static Shape layoutPerAxis(llvm::ArrayRef<int64_t> values, int64_t fill) {
  unsigned rank = values.size();
  if (rank == 0 || rank >= engineRank)
    return Shape(values);
  Shape result(engineRank, fill);
  for (unsigned axis = 0; axis < rank; ++axis)
    result[layoutAxis(axis, rank)] = values[axis];
  return result;
}

namespace {

/// Appends the rewritten ops to the function; the old ops are removed at the
/// end. `laid` maps old values to new ones, and `shapes` has the original
/// shapes of the old values.
class LayoutRewriter {
public:
  LayoutRewriter(Function &function, PassContext &ctx)
      : function(function), builder(function), ctx(ctx) {}

  bool run() {
    if (!isNeeded())
      return false;
    std::vector<Op *> old;
    for (Op &op : function.body()) {
      old.push_back(&op);
      for (Value *result : op.resultValues())
        shapes[result] = result->type.shape;
    }
    for (const auto &param : function.parameters())
      layParameter(*param);
    for (Op *op : old)
      rewrite(*op);
    layResults();
    for (Op *op : llvm::reverse(old))
      op->erase();
    return true;
  }

private:
  bool isNeeded() const;
  bool keepsInterface() const;
  void layParameter(Value &param);
  void layResults();
  void rewrite(Op &op);

  Value *reshape(Value *value, llvm::ArrayRef<int64_t> shape) {
    if (value->type.shape == Shape(shape))
      return value;
    return builder.build(ops::Reshape, {value}, {{param::shape, shape}},
                         value->name);
  }
  /// The new value, reshaped to its layout.
  Value *laidOut(Value *old) {
    Value *value = reshape(laid.lookup(old), layoutShape(shapes.lookup(old)));
    laid[old] = value;
    return value;
  }
  /// The new value in the layout of `rank`, to which it is broadcast.
  Value *laidOutAs(Value *old, unsigned rank) {
    Shape shape = shapes.lookup(old);
    if (shape.empty())
      return laid.lookup(old);
    return reshape(laid.lookup(old), layoutShape(padded(shape, rank)));
  }
  /// The new value in its original shape.
  Value *plain(Value *old) {
    return reshape(laid.lookup(old), shapes.lookup(old));
  }
  unsigned rankOf(Value *old) const { return shapes.lookup(old).size(); }

  void define(Value *old, Value *value) {
    // A reshape to the layout of a parameter is the parameter, whose name is
    // that of an input.
    if (value->definingOp())
      value->name = old->name;
    laid[old] = value;
  }
  void defineAll(Op &op, Op *made) {
    for (auto [old, value] :
         llvm::zip_equal(op.resultValues(), made->resultValues()))
      define(old, value);
  }
  /// Copies the op with other `operands` and with `changes` to its constants.
  Op *clone(Op &op, llvm::ArrayRef<Value *> operands,
            llvm::ArrayRef<Attr> changes = {}) {
    llvm::SmallVector<ConstantRef, 4> slots(op.constants());
    for (const Attr &change : changes)
      slots[op.def().constantSlot(change.param)] = change.value;
    llvm::SmallVector<llvm::StringRef, 3> names;
    for (const Value *result : op.resultValues())
      names.push_back(result->name);
    return builder.createWithSlots(op.def(), operands, slots, names);
  }

  void rewriteElementwise(Op &op);
  void rewriteReduction(Op &op);
  void rewriteMatmul(Op &op);
  void rewriteTranspose(Op &op);
  void rewriteSliceBySize(Op &op);
  void rewriteLayerNorm(Op &op);
  void rewriteAxisOp(Op &op);
  void keepShapes(Op &op);

  Function &function;
  Builder builder;
  PassContext &ctx;
  llvm::DenseMap<Value *, Value *> laid;
  llvm::DenseMap<Value *, Shape> shapes;
};

} // namespace

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

bool LayoutRewriter::isNeeded() const {
  auto low = [](const Value *value) {
    return value->type.rank() > 0 && value->type.rank() < engineRank;
  };
  auto isBuffer = [](const auto &value) {
    return value->holder == Holder::Buffer;
  };
  // The strides of a buffer are those of its shape.
  if (llvm::any_of(function.parameters(), isBuffer) ||
      llvm::any_of(function.resultValues(), isBuffer))
    return false;
  for (const auto &param : function.parameters())
    if (low(param.get()))
      return true;
  for (const Op &op : function.body())
    if (llvm::any_of(op.resultValues(), low))
      return true;
  return false;
}

/// Whether callers know the shapes of inputs and outputs from the model. The
/// owner of a state identifies it by its shape.
bool LayoutRewriter::keepsInterface() const {
  return function.hasMemory() || function.role == FunctionRole::Infer;
}

void LayoutRewriter::layParameter(Value &param) {
  shapes[&param] = param.type.shape;
  if (!keepsInterface())
    param.type.shape = layoutShape(param.type.shape);
  laid[&param] = &param;
}

void LayoutRewriter::layResults() {
  for (unsigned index = 0; index < function.numResults(); ++index) {
    Value *result = function.result(index);
    function.setResult(index,
                       keepsInterface() ? plain(result) : laidOut(result));
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LayoutRewriter::rewriteElementwise(Op &op) {
  llvm::SmallVector<Value *, 4> operands;
  for (Value *operand : op.operandValues())
    operands.push_back(operand ? laidOutAs(operand, op.result()->type.rank())
                               : nullptr);
  defineAll(op, clone(op, operands));
}

// Reductions keep their axes as ones; dropping them is then a reshape.
void LayoutRewriter::rewriteReduction(Op &op) {
  Value *x = op.operand(0u);
  unsigned rank = rankOf(x);
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis = layoutAxis(axis, rank);
  llvm::sort(axes);
  bool toScalar = op.result()->type.isScalar();
  Op *made = clone(op, {laidOut(x)},
                   {{param::axes, axes}, {param::keepDims, !toScalar}});
  define(op.result(), toScalar ? made->result()
                               : reshape(made->result(),
                                         layoutShape(op.result()->type.shape)));
}

void LayoutRewriter::rewriteMatmul(Op &op) {
  llvm::SmallVector<Value *, 2> operands;
  for (Value *operand : op.operandValues()) {
    Shape shape = shapes.lookup(operand);
    // A vector is a row on the left and a column on the right.
    if (shape.size() == 1 && !operands.empty())
      shape.push_back(1);
    operands.push_back(
        reshape(laid.lookup(operand), padded(shape, engineRank)));
  }
  // Transposing applies to matrices only.
  bool isColumn = rankOf(op.operand(1u)) == 1;
  Op *made =
      clone(op, operands,
            {{param::transposeY, !isColumn && op.get(param::transposeY)}});
  define(op.result(),
         reshape(made->result(), layoutShape(op.result()->type.shape)));
}

void LayoutRewriter::rewriteTranspose(Op &op) {
  unsigned rank = rankOf(op.operand(0u));
  Shape perm = op.get(param::perm);
  Shape result = {0, 1, 2, 3};
  for (unsigned axis = 0; axis < rank; ++axis)
    result[layoutAxis(axis, rank)] = layoutAxis(perm[axis], rank);
  defineAll(op, clone(op, {laidOut(op.operand(0u))}, {{param::perm, result}}));
}

void LayoutRewriter::rewriteSliceBySize(Op &op) {
  Shape begin = layoutPerAxis(op.get(param::begin), 0);
  Shape size = layoutPerAxis(op.result()->type.shape, 1);
  defineAll(op, clone(op, {laidOut(op.operand(0u))},
                      {{param::begin, begin}, {param::size, size}}));
}

// gamma and beta have the shape of the normalised axes, not of x.
void LayoutRewriter::rewriteLayerNorm(Op &op) {
  unsigned rank = rankOf(op.operand(0u));
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis = layoutAxis(axis, rank);
  llvm::SmallVector<Value *, 3> operands = {laidOut(op.operand(0u))};
  for (unsigned slot = 1; slot < op.numOperands(); ++slot)
    operands.push_back(op.operand(slot) ? plain(op.operand(slot)) : nullptr);
  defineAll(op, clone(op, operands, {{param::axes, axes}}));
}

// Ops with a single axis parameter: softmax, concat, split.
void LayoutRewriter::rewriteAxisOp(Op &op) {
  unsigned rank = rankOf(op.operand(0u));
  llvm::SmallVector<Value *, 4> operands;
  for (Value *operand : op.operandValues())
    operands.push_back(laidOut(operand));
  int64_t axis = layoutAxis(op.get(param::axis), rank);
  defineAll(op, clone(op, operands, {{param::axis, axis}}));
}

void LayoutRewriter::keepShapes(Op &op) {
  llvm::SmallVector<Value *, 4> operands;
  for (Value *operand : op.operandValues())
    operands.push_back(operand ? plain(operand) : nullptr);
  defineAll(op, clone(op, operands));
}

void LayoutRewriter::rewrite(Op &op) {
  builder.setInsertionPoint(nullptr);
  builder.setRange(op.range());
  ctx.count("rewritten");
  unsigned rank =
      op.numOperands() && op.operand(0u) ? rankOf(op.operand(0u)) : 0;
  bool low = rank > 0 && rank < engineRank;
  if (op.def().has(trait::Elementwise))
    return rewriteElementwise(op);
  if (op.is(ops::Reshape))
    return define(op.result(), reshape(laid.lookup(op.operand(0u)),
                                       layoutShape(op.result()->type.shape)));
  if (op.is(ops::Matmul) && op.result()->type.rank() >= 2 &&
      op.result()->type.rank() <= engineRank && rank >= 2)
    return rewriteMatmul(op);
  if (!low)
    return keepShapes(op);
  if (op.def().constantSlot(param::axes) >= 0 &&
      op.def().constantSlot(param::keepDims) >= 0)
    return rewriteReduction(op);
  if (op.is(ops::Transpose))
    return rewriteTranspose(op);
  if (op.is(ops::SliceBySize) && op.constant(param::begin))
    return rewriteSliceBySize(op);
  if (op.is(ops::LayerNorm))
    return rewriteLayerNorm(op);
  if (op.is(ops::Softmax) || op.is(ops::Concat) || op.is(ops::Split))
    return rewriteAxisOp(op);
  keepShapes(op);
}

static bool assignLayout(Function &function, PassContext &ctx) {
  return LayoutRewriter(function, ctx).run();
}

constinit const PassDef passes::AssignLayout = {
    .name = "assign-layout",
    .summary = "Assign every tensor a layout of [N, C, H, W]",
    .description = "%x: fp16[C, S]  ==>  %x: fp16[1, C, 1, S]",
    .stats = {{{"rewritten", "ops rewritten to the layout"}}},
    .needs = Need::NotCalled,
    .run = assignLayout,
};
