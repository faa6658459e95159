//===- JoinBias.cpp - constants added to products as biases ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Apple's converter joins a convolution and what is added for each channel of
/// its result (`fuse_conv_bias`), and the same of `linear`: one op less for
/// Core ML to place, and one rounding less.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "anec/Ops/Weights.h"
#include "anec/Passes/Pass.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The axis of the result that has an element of the bias for each index;
/// nothing for ops without one.
static std::optional<unsigned> biasAxis(const Op &op) {
  if (op.is(ops::Conv) || op.is(ops::ConvTranspose))
    return 1;
  if (op.is(ops::Linear))
    return op.result()->type.rank() - 1;
  return std::nullopt;
}

/// Whether the value is known when the program is compiled.
static bool isStored(const Value *value) {
  const Op *op = value->definingOp();
  return op && (op->is(ops::Const) || op->is(ops::Weight) ||
                op->def().has(trait::Constexpr));
}

/// Whether an array of `shape` added to one of `to` adds to each index of
/// `axis` the same.
static bool isPerIndex(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> to, unsigned axis) {
  if (shape.size() > to.size())
    return false;
  size_t missing = to.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 && (i + missing != axis || shape[i] != to[axis]))
      return false;
  return true;
}

/// `addend` as a bias of `count` elements, built before the op that adds it.
static Value *biasOf(Builder &builder, const Op &addend, int64_t count,
                     bool isNegative) {
  if (addend.is(ops::Weight)) {
    ArrayView view = viewOf(addend).array;
    return buildWeight(builder, addend, view.reshape({count}),
                       addend.result()->name);
  }
  const Constant &given = *addend.constant(param::val);
  TensorType type(given.dtype(), {count});
  ConstantRef bias;
  if (given.numElements() == count && !isNegative) {
    bias = given.reshaped({count});
  } else {
    std::vector<double> elements = given.asDoubles();
    if (isNegative)
      for (double &element : elements)
        element = -element;
    elements.resize(size_t(count), elements.front());
    bias = Constant::fromDoubles(type, elements);
  }
  return builder.build(ops::Const, {}, Attr(param::val, bias),
                       addend.result()->name);
}

/// Joins `op` and the only op that uses it, if that adds a constant.
static bool join(Op &op, const PassContext &ctx) {
  std::optional<unsigned> axis = biasAxis(op);
  Value *product = op.result();
  if (!axis || op.operand(param::bias) || !product->hasOneUse() ||
      !isStored(op.operand(param::weight)) ||
      (op.is(ops::Conv) && ctx.isRewrittenFor(rules::ConvBias)))
    return false;
  Op *sum = product->firstUse()->owner();
  bool isDifference = sum && sum->is(ops::Sub);
  if (!sum || !(sum->is(ops::Add) || isDifference) ||
      sum->result()->type != product->type)
    return false;
  bool isFirst = sum->operand(0u) == product;
  Value *addend = sum->operand(isFirst ? 1u : 0u);
  Op *stored = addend->definingOp();
  int64_t count = product->type.shape[*axis];
  if ((isDifference && !isFirst) || !stored ||
      !(stored->is(ops::Const) || stored->is(ops::Weight)) ||
      addend->type.dtype != product->type.dtype ||
      !isPerIndex(addend->type.shape, product->type.shape, *axis))
    return false;
  // The values of a weight are not known yet.
  if (stored->is(ops::Weight) &&
      (isDifference || addend->type.numElements() != count))
    return false;
  Builder builder(*op.parent());
  builder.setInsertionPoint(sum);
  Value *bias = biasOf(builder, *stored, count, isDifference);
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  operands.resize(
      std::max<size_t>(operands.size(), op.def().valueSlot(param::bias) + 1u));
  operands[op.def().valueSlot(param::bias)] = bias;
  Op *joined = builder.createWithSlots(op.def(), operands, op.constants(),
                                       {sum->result()->name});
  sum->result()->replaceAllUsesWith(joined->result());
  sum->erase();
  op.erase();
  if (!addend->hasUses())
    stored->erase();
  return true;
}

static bool joinBias(Function &function, PassContext &ctx) {
  // Joining erases what is added and its sum, and no other product.
  std::vector<Op *> products;
  for (Op &op : function.body())
    if (biasAxis(op))
      products.push_back(&op);
  bool changed = false;
  for (Op *op : products)
    if (join(*op, ctx)) {
      ctx.count("joined");
      changed = true;
    }
  return changed;
}

constinit const PassDef passes::JoinBias = {
    .name = "join-bias",
    .summary = "Join convolutions and `linear` with constants that are added "
               "to their results",
    .description = "add(conv(%x, %w), %b)  ==>  conv(%x, %w, %b)",
    .stats = {{{"joined", "constants that became biases"}}},
    .run = joinBias,
};
