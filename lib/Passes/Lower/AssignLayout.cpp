//===- AssignLayout.cpp - every tensor as [N, C, H, W] --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine works on rank-4 tensors with channels on axis 1. This pass maps
/// every value of lower rank to rank 4 and rewrites the ops to match. The forms
/// are those of LayoutForms.h, chosen as LayoutChoice.h says. Scalars stay
/// scalars. The row-major order does not change, so a change of layout is a
/// reshape. An op without a rule keeps its shapes, with reshapes before and
/// after it, which is correct but slow.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Passes/Lower/LayoutChoice.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// `shape` extended to `rank` with leading ones, as in broadcasting.
static Shape paddedShape(llvm::ArrayRef<int64_t> shape, unsigned rank) {
  Shape result(rank > shape.size() ? rank - shape.size() : 0, 1);
  result.append(shape.begin(), shape.end());
  return result;
}

namespace {

/// A new value, and its reshapes to each of the forms that were needed so far.
struct Laid {
  Value *made = nullptr;
  Value *forms[2] = {};
};

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
    layouts = chooseLayout(function, keepsInterface());
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
  /// The new value in a form.
  Value *laidOut(Value *old, LayoutForm form) {
    Laid &value = laid[old];
    Value *&made = value.forms[unsigned(form)];
    if (!made)
      made = reshape(value.made, layoutShape(shapes.lookup(old), form));
    return made;
  }
  /// The new value in its original shape.
  Value *plain(Value *old) {
    return reshape(laid.lookup(old).made, shapes.lookup(old));
  }
  unsigned rankOf(Value *old) const { return shapes.lookup(old).size(); }

  void define(Value *old, Value *value) {
    // A reshape to the layout of a parameter is the parameter, whose name is
    // that of an input.
    if (value->definingOp())
      value->name = old->name;
    laid[old].made = value;
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

  void rewriteElementwise(Op &op, LayoutForm form);
  void rewriteReshape(Op &op, LayoutForm form);
  void rewriteReduction(Op &op, LayoutForm form);
  void rewriteMatmul(Op &op);
  void rewriteTranspose(Op &op, LayoutForm form);
  void rewriteSliceBySize(Op &op, LayoutForm form);
  void rewriteLayerNorm(Op &op, LayoutForm form);
  void rewriteAxisOp(Op &op, LayoutForm form);
  void keepShapes(Op &op);

  Function &function;
  Builder builder;
  PassContext &ctx;
  LayoutChoice layouts;
  llvm::DenseMap<Value *, Laid> laid;
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
    param.type.shape =
        layoutShape(param.type.shape, usualForm(param.type.rank()));
  laid[&param].made = &param;
}

void LayoutRewriter::layResults() {
  for (unsigned index = 0; index < function.numResults(); ++index) {
    Value *result = function.result(index);
    function.setResult(index, keepsInterface()
                                  ? plain(result)
                                  : laidOut(result, usualForm(rankOf(result))));
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LayoutRewriter::rewriteElementwise(Op &op, LayoutForm form) {
  unsigned rank = op.result()->type.rank();
  llvm::SmallVector<Value *, 4> operands;
  for (Value *operand : op.operandValues()) {
    if (!operand || rankOf(operand) == 0)
      operands.push_back(operand ? laid.lookup(operand).made : nullptr);
    else if (rank > engineRank)
      operands.push_back(reshape(laid.lookup(operand).made,
                                 paddedShape(shapes.lookup(operand), rank)));
    else
      operands.push_back(laidOut(operand, form));
  }
  defineAll(op, clone(op, operands));
}

void LayoutRewriter::rewriteReshape(Op &op, LayoutForm form) {
  define(op.result(), reshape(laid.lookup(op.operand(0u)).made,
                              layoutShape(op.result()->type.shape, form)));
}

// Reductions keep their axes as ones; dropping them is then a reshape.
void LayoutRewriter::rewriteReduction(Op &op, LayoutForm form) {
  Value *x = op.operand(0u);
  unsigned rank = rankOf(x);
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis = layoutAxis(axis, rank, form);
  llvm::sort(axes);
  const TensorType &type = op.result()->type;
  Op *made = clone(op, {laidOut(x, form)},
                   {{param::axes, axes}, {param::keepDims, !type.isScalar()}});
  LayoutForm result = op.get(param::keepDims) ? form : usualForm(type.rank());
  define(op.result(), reshape(made->result(), layoutShape(type.shape, result)));
}

void LayoutRewriter::rewriteMatmul(Op &op) {
  llvm::SmallVector<Value *, 2> operands;
  for (Value *operand : op.operandValues()) {
    // A vector is a row on the left and a column on the right.
    if (rankOf(operand) == 1 && !operands.empty())
      operands.push_back(reshape(laid.lookup(operand).made,
                                 {1, 1, shapes.lookup(operand)[0], 1}));
    else
      operands.push_back(laidOut(operand, LayoutForm::Rows));
  }
  // Transposing applies to matrices only.
  bool isColumn = rankOf(op.operand(1u)) == 1;
  Op *made =
      clone(op, operands,
            {{param::transposeY, !isColumn && op.get(param::transposeY)}});
  define(op.result(),
         reshape(made->result(),
                 layoutShape(op.result()->type.shape, LayoutForm::Rows)));
}

void LayoutRewriter::rewriteTranspose(Op &op, LayoutForm form) {
  unsigned rank = rankOf(op.operand(0u));
  Shape perm = op.get(param::perm);
  Shape result = {0, 1, 2, 3};
  for (unsigned axis = 0; axis < rank; ++axis)
    result[layoutAxis(axis, rank, form)] = layoutAxis(perm[axis], rank, form);
  defineAll(
      op, clone(op, {laidOut(op.operand(0u), form)}, {{param::perm, result}}));
}

void LayoutRewriter::rewriteSliceBySize(Op &op, LayoutForm form) {
  Shape begin = layoutPerAxis(op.get(param::begin), 0, form);
  Shape size = layoutShape(op.result()->type.shape, form);
  defineAll(op, clone(op, {laidOut(op.operand(0u), form)},
                      {{param::begin, begin}, {param::size, size}}));
}

// gamma and beta have the shape of the normalised axes, not of x.
void LayoutRewriter::rewriteLayerNorm(Op &op, LayoutForm form) {
  unsigned rank = rankOf(op.operand(0u));
  Shape axes = op.get(param::axes);
  for (int64_t &axis : axes)
    axis = layoutAxis(axis, rank, form);
  llvm::SmallVector<Value *, 3> operands = {laidOut(op.operand(0u), form)};
  for (unsigned slot = 1; slot < op.numOperands(); ++slot)
    operands.push_back(op.operand(slot) ? plain(op.operand(slot)) : nullptr);
  defineAll(op, clone(op, operands, {{param::axes, axes}}));
}

void LayoutRewriter::rewriteAxisOp(Op &op, LayoutForm form) {
  unsigned rank = rankOf(op.operand(0u));
  llvm::SmallVector<Value *, 4> operands;
  for (Value *operand : op.operandValues())
    operands.push_back(laidOut(operand, form));
  int64_t axis = layoutAxis(op.get(param::axis), rank, form);
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
  auto [rule, form] = layouts.lookup(&op);
  switch (rule) {
  case LayoutRule::KeepShapes:
    return keepShapes(op);
  case LayoutRule::Elementwise:
    return rewriteElementwise(op, form);
  case LayoutRule::Reshape:
    return rewriteReshape(op, form);
  case LayoutRule::Matmul:
    return rewriteMatmul(op);
  case LayoutRule::Reduction:
    return rewriteReduction(op, form);
  case LayoutRule::Transpose:
    return rewriteTranspose(op, form);
  case LayoutRule::SliceBySize:
    return rewriteSliceBySize(op, form);
  case LayoutRule::LayerNorm:
    return rewriteLayerNorm(op, form);
  case LayoutRule::Axis:
    return rewriteAxisOp(op, form);
  }
}

static bool assignLayout(Function &function, PassContext &ctx) {
  return LayoutRewriter(function, ctx).run();
}

constinit const PassDef passes::AssignLayout = {
    .name = "assign-layout",
    .summary = "Assign every tensor a layout of [N, C, H, W]",
    .description =
        "%x: fp16[C, S]     ==>  %x: fp16[1, C, 1, S]\n"
        "%x: fp16[N, C, S]  ==>  %x: fp16[N, C, 1, S], for convolutions, or\n"
        "                        %x: fp16[1, N, C, S], for matrix products\n"
        "A value has the form that costs fewest reshapes in all.",
    .stats = {{{"rewritten", "ops rewritten to the layout"}}},
    .needs = Need::NotCalled,
    .run = assignLayout,
};
