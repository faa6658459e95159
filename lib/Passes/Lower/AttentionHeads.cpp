//===- AttentionHeads.cpp - how heads are cut out of channels -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Passes/Lower/AttentionHeads.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace anec;

static Shape permOf(const Op &transpose) {
  Shape perm = transpose.get(param::perm);
  for (int64_t &axis : perm)
    axis += axis < 0 ? int64_t(perm.size()) : 0;
  return perm;
}

static bool exchangesHeads(const Op &op) {
  return op.is(ops::Transpose) && permOf(op) == Shape{0, 2, 1, 3};
}

/// Whether `four` is `three`, [N, S, C], with C as two axes.
static bool cutsChannels(const Shape &three, const Shape &four) {
  return three.size() == 3 && four.size() == 4 && three[0] == four[0] &&
         three[1] == four[1];
}

Op *anec::splitOfHeads(const Op &transpose) {
  if (!exchangesHeads(transpose))
    return nullptr;
  Op *reshape = transpose.operand(0u)->definingOp();
  bool isSplit = reshape && reshape->is(ops::Reshape) &&
                 cutsChannels(reshape->operand(0u)->type.shape,
                              reshape->result()->type.shape);
  return isSplit ? reshape : nullptr;
}

Op *anec::joinOfHeads(const Op &reshape) {
  if (!reshape.is(ops::Reshape))
    return nullptr;
  Op *transpose = reshape.operand(0u)->definingOp();
  bool isJoin = transpose && exchangesHeads(*transpose) &&
                cutsChannels(reshape.result()->type.shape,
                             transpose->result()->type.shape);
  return isJoin ? transpose : nullptr;
}

//===----------------------------------------------------------------------===//
// Transposes of matrices
//===----------------------------------------------------------------------===//

/// Whether every use of the value is a matrix of a product of activations.
static bool onlyMatrices(const Value &value) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *op = use->owner();
    if (!op || !op->is(ops::Matmul) || op->operand(0u)->type.rank() < 2 ||
        op->operand(1u)->type.rank() < 2)
      return false;
  }
  return value.hasUses();
}

/// Makes products read `matrices`, which are those of `old` transposed.
static void readTransposed(Value &old, Value &matrices) {
  while (Operand *use = old.firstUse()) {
    Op &op = *use->owner();
    for (unsigned slot : {0u, 1u}) {
      if (op.operand(slot) != &old)
        continue;
      const BoolParam &flag = slot == 0 ? param::transposeX : param::transposeY;
      op.setConstant(flag, Constant::boolean(!op.get(flag)));
      op.setOperand(slot, &matrices);
    }
  }
}

/// matmul(x, transpose(y)) ==> matmul(x, y) {transpose_y = true}, where nothing
/// or a transpose of heads is left.
static bool intoProducts(Function &function, Op &op) {
  if (!op.is(ops::Transpose) || !onlyMatrices(*op.result()))
    return false;
  Shape perm = permOf(op);
  size_t rank = perm.size();
  if (rank < 2)
    return false;
  std::swap(perm[rank - 1], perm[rank - 2]);
  Value *x = op.operand(0u);
  if (!llvm::equal(perm, llvm::seq<int64_t>(0, int64_t(rank)))) {
    if (perm != Shape{0, 2, 1, 3})
      return false;
    Builder builder(function);
    builder.setInsertionPoint(&op);
    x = builder.build(ops::Transpose, {x}, {{param::perm, perm}},
                      op.result()->name);
  }
  readTransposed(*op.result(), *x);
  op.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Projections that were computed together
//===----------------------------------------------------------------------===//

/// Which of the first axis' indices a slice takes; -1 for another slice.
static int64_t takenIndex(const Op &slice, const Shape &from) {
  if (!slice.is(ops::SliceByIndex) || !slice.constant(param::begin))
    return -1;
  const Shape &to = slice.result()->type.shape;
  Shape rest(from.begin() + 1, from.end()), one = rest;
  one.insert(one.begin(), 1);
  if (to != rest && to != one)
    return -1;
  bool isMasked =
      slice.constant(param::beginMask) && slice.get(param::beginMask)[0];
  int64_t index = isMasked ? 0 : slice.get(param::begin)[0];
  return index < 0 ? index + from[0] : index;
}

/// transpose(reshape(x) : [N, S, parts, heads, d], [2, 0, 3, 1, 4])[i] ==>
/// transpose(reshape(x[i]) : [N, S, heads, d], [0, 2, 1, 3]), where x[i] has
/// the channels of a part
static bool cutApart(Function &function, Op &op) {
  if (!op.is(ops::Transpose) || permOf(op) != Shape{2, 0, 3, 1, 4})
    return false;
  Op *reshape = op.operand(0u)->definingOp();
  if (!reshape || !reshape->is(ops::Reshape))
    return false;
  Value *x = reshape->operand(0u);
  const Shape five = reshape->result()->type.shape, three = x->type.shape;
  if (three.size() != 3 || three[0] != five[0] || three[1] != five[1])
    return false;
  llvm::SmallVector<Op *, 4> slices;
  for (Operand *use = op.result()->firstUse(); use; use = use->nextUse()) {
    if (!use->owner() || takenIndex(*use->owner(), op.result()->type.shape) < 0)
      return false;
    slices.push_back(use->owner());
  }
  int64_t channels = five[3] * five[4];
  for (Op *slice : slices) {
    int64_t index = takenIndex(*slice, op.result()->type.shape);
    Builder builder(function);
    builder.setInsertionPoint(slice);
    const std::string &name = slice->result()->name;
    Value *part = builder.build(
        ops::SliceBySize, {x},
        {{param::begin, llvm::ArrayRef<int64_t>{0, 0, index * channels}},
         {param::size, llvm::ArrayRef<int64_t>{five[0], five[1], channels}}},
        name);
    part = builder.build(
        ops::Reshape, {part},
        {{param::shape,
          llvm::ArrayRef<int64_t>{five[0], five[1], five[3], five[4]}}},
        name);
    part = builder.build(ops::Transpose, {part},
                         {{param::perm, llvm::ArrayRef<int64_t>{0, 2, 1, 3}}},
                         name);
    // Most often, a reshape drops the axis of the parts.
    while (Operand *use = slice->result()->firstUse()) {
      Op *user = use->owner();
      if (!user || user->numResults() != 1 ||
          !(user->is(ops::Reshape) || user->is(ops::Squeeze)) ||
          user->result()->type != part->type)
        break;
      user->result()->replaceAllUsesWith(part);
      user->erase();
    }
    if (slice->result()->hasUses())
      slice->result()->replaceAllUsesWith(
          builder.build(ops::Reshape, {part},
                        {{param::shape, slice->result()->type.shape}}, name));
    slice->erase();
  }
  op.erase();
  if (!reshape->result()->hasUses())
    reshape->erase();
  return true;
}

bool anec::writeHeads(Function &function) {
  std::vector<Op *> transposes;
  for (Op &op : function.body())
    if (op.is(ops::Transpose))
      transposes.push_back(&op);
  bool changed = false;
  for (Op *op : transposes)
    changed |= intoProducts(function, *op) || cutApart(function, *op);
  return changed;
}
