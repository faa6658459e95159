//===- JoinBias.cpp - constants added to products as biases ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Apple's converter joins a convolution and what is added for each channel of
/// its result (`fuse_conv_bias`), and the same of `linear` and of products with
/// a constant matrix, which become `linear` (`fuse_matmul_weight_bias`): one op
/// less for Core ML to place, and one rounding less.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <vector>

using namespace anec;

/// The axis of the result that has an element of the bias for each index;
/// nothing for ops without one.
static std::optional<unsigned> biasAxis(const Op &op) {
  if (op.is(ops::Conv) || op.is(ops::ConvTranspose))
    return 1;
  if (op.is(ops::Linear) || op.is(ops::Matmul))
    return op.result()->type.rank() - 1;
  return std::nullopt;
}

/// Whether the value is known when the program is compiled.
static bool isWeightOrConst(const Value *value) {
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

/// The rows of `matrix` as columns.
static ConstantRef transposed(const Constant &matrix) {
  size_t rows = size_t(matrix.type().shape[0]);
  size_t columns = size_t(matrix.type().shape[1]);
  size_t size = bitWidth(matrix.dtype()) / 8;
  llvm::ArrayRef<uint8_t> from = matrix.bytes();
  std::vector<uint8_t> to(from.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column)
      std::memcpy(&to[(column * rows + row) * size],
                  &from[(row * columns + column) * size], size);
  return Constant::copy({matrix.dtype(), {int64_t(columns), int64_t(rows)}},
                        to);
}

/// Whether a product is `linear` but for the layout of its matrix, which no
/// other op reads. Core ML documents `linear` for three axes at most.
static bool isLinear(const Op &matmul) {
  const Value &x = *matmul.operand(0u), &y = *matmul.operand(1u);
  const Op *stored = y.definingOp();
  return !matmul.get(param::transposeX) && x.type.rank() >= 2 &&
         x.type.rank() <= 3 && y.type.rank() == 2 && y.hasOneUse() &&
         isFloat(x.type.dtype) && x.type.dtype == y.type.dtype && stored &&
         stored->is(ops::Const) && !isWeightOrConst(&x) &&
         stored->constant(param::val)->storedDType() == y.type.dtype;
}

/// The op with a bias.
static Op *withBias(Builder &builder, Op &op, Value *bias,
                    llvm::StringRef name) {
  if (op.is(ops::Matmul)) {
    Value *weight = op.operand(1u);
    if (!op.get(param::transposeY))
      weight = builder.build(
          ops::Const, {},
          Attr(param::val,
               transposed(*weight->definingOp()->constant(param::val))),
          weight->name);
    return builder.createWithSlots(ops::Linear, {op.operand(0u), weight, bias},
                                   {}, {name});
  }
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  operands.resize(
      std::max<size_t>(operands.size(), op.def().valueSlot(param::bias) + 1u));
  operands[op.def().valueSlot(param::bias)] = bias;
  return builder.createWithSlots(op.def(), operands, op.constants(), {name});
}

/// Whether the op is a product with a constant, and without a bias.
static bool takesBias(const Op &op, const PassContext &ctx) {
  if (op.is(ops::Matmul))
    return isLinear(op);
  return !op.operand(param::bias) &&
         isWeightOrConst(op.operand(param::weight)) &&
         !(op.is(ops::Conv) && ctx.isRewrittenFor(rules::ConvBias));
}

/// Joins `op` and the only op that uses it, if that adds a constant.
static bool join(Op &op, const PassContext &ctx) {
  std::optional<unsigned> axis = biasAxis(op);
  Value *product = op.result();
  if (!axis || !product->hasOneUse() || !takesBias(op, ctx))
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
  llvm::SmallVector<Op *, 2> before = {stored};
  if (op.is(ops::Matmul))
    before.push_back(op.operand(1u)->definingOp());
  Op *joined = withBias(builder, op, bias, sum->result()->name);
  sum->result()->replaceAllUsesWith(joined->result());
  sum->erase();
  op.erase();
  for (Op *constant : before)
    if (!constant->result()->hasUses())
      constant->erase();
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
    .summary = "Join convolutions, `linear` and products with a constant "
               "matrix with constants that are added to their results",
    .description = "add(conv(%x, %w), %b)    ==>  conv(%x, %w, %b)\n"
                   "add(matmul(%x, %w), %b)  ==>  linear(%x, %wT, %b)",
    .stats = {{{"joined", "constants that became biases"}}},
    .run = joinBias,
};
