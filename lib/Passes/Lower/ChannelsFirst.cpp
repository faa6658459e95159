//===- ChannelsFirst.cpp - sequences with channels first ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChannelsFirst.h"
#include "AttentionHeads.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;

/// Where axis `axis` of a value of `rank` is with channels first.
static int64_t renamed(int64_t axis, int64_t rank) {
  axis += axis < 0 ? rank : 0;
  constexpr int64_t ofSequences[] = {0, 3, 1}, ofHeads[] = {0, 1, 3, 2};
  return rank == 3 ? ofSequences[axis] : ofHeads[axis];
}

/// One number for each axis; the axis that channels first add gets `fill`.
static Shape renamedAll(llvm::ArrayRef<int64_t> values, int64_t fill) {
  Shape result(4, fill);
  for (auto [axis, value] : llvm::enumerate(values))
    result[renamed(int64_t(axis), int64_t(values.size()))] = value;
  return result;
}

/// The elements of `array`, of rank 2, as those of its transpose.
static std::vector<uint8_t> transposedBytes(llvm::ArrayRef<uint8_t> from,
                                            size_t matrices, size_t rows,
                                            size_t columns, size_t size) {
  std::vector<uint8_t> to(from.size());
  for (size_t matrix = 0, begin = 0; matrix < matrices;
       ++matrix, begin += rows * columns)
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column)
        std::memcpy(&to[(begin + column * rows + row) * size],
                    &from[(begin + row * columns + column) * size], size);
  return to;
}

namespace {

class SequenceRewriter {
public:
  SequenceRewriter(Function &function, PassContext &ctx)
      : function(function), builder(function), ctx(ctx) {}

  bool run();

private:
  void rewrite(Op &op, SequenceRule rule);
  void leave(Op &op, SequenceRule rule);

  Value *reshape(Value *value, llvm::ArrayRef<int64_t> shape) {
    if (value->type.shape == Shape(shape))
      return value;
    return builder.build(ops::Reshape, {value}, {{param::shape, shape}},
                         value->name);
  }
  Value *transpose(Value *value, llvm::ArrayRef<int64_t> perm) {
    return builder.build(ops::Transpose, {value}, {{param::perm, perm}},
                         value->name);
  }
  /// The value with channels first; built when no op made it so.
  Value *toFirst(Value *value, unsigned rank);
  Value *toLast(Value *value, unsigned rank);
  /// The constant with the last two of its axes exchanged, as `shape`.
  Value *transposedConstant(const Value &constant, Shape shape);
  Value *constantFirst(const Value &constant, unsigned rank);

  Value *renamedOp(Op &op, llvm::SmallVectorImpl<Value *> &results);
  Value *convolution(Op &op);
  Value *matmul(Op &op, bool isFirst);
  Value *splitHeads(Op &op);
  Value *joinHeads(Op &op);

  Function &function;
  Builder builder;
  PassContext &ctx;
  /// Values with channels last, and the same with channels first.
  llvm::DenseMap<Value *, Value *> firsts;
  /// Those that were made with channels first.
  llvm::DenseSet<Value *> madeFirst;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value *SequenceRewriter::transposedConstant(const Value &constant,
                                            Shape shape) {
  const Constant &array = *constant.definingOp()->constant(param::val);
  llvm::ArrayRef<int64_t> from = constant.type.shape;
  size_t rank = from.size();
  size_t rows = rank > 1 ? size_t(from[rank - 2]) : 1;
  size_t columns = size_t(from[rank - 1]);
  ConstantRef changed;
  if (rows == 1 || columns == 1)
    changed = array.reshaped(shape);
  else
    changed = Constant::copy(
        {array.dtype(), shape},
        transposedBytes(array.bytes(),
                        size_t(array.numElements()) / (rows * columns), rows,
                        columns, bitWidth(array.dtype()) / 8));
  return builder.build(ops::Const, {}, Attr(param::val, changed),
                       constant.name);
}

Value *SequenceRewriter::constantFirst(const Value &constant, unsigned rank) {
  Shape shape(rank - constant.type.rank(), 1);
  shape.append(constant.type.shape);
  return transposedConstant(constant, renamedAll(shape, 1));
}

Value *SequenceRewriter::toFirst(Value *value, unsigned rank) {
  if (!value || value->type.isScalar())
    return value;
  if (isSequenceConstant(*value))
    return constantFirst(*value, rank);
  if (Value *first = firsts.lookup(value))
    return first;
  const Shape shape = value->type.shape;
  Value *first =
      rank == 3 ? transpose(reshape(value, {shape[0], shape[1], 1, shape[2]}),
                            {0, 3, 2, 1})
                : transpose(value, {0, 1, 3, 2});
  return firsts[value] = first;
}

Value *SequenceRewriter::toLast(Value *value, unsigned rank) {
  if (rank == 4)
    return transpose(value, {0, 1, 3, 2});
  Value *rows = transpose(value, {0, 3, 2, 1});
  const Shape shape = rows->type.shape;
  return reshape(rows, {shape[0], shape[1], shape[3]});
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value *SequenceRewriter::renamedOp(Op &op,
                                   llvm::SmallVectorImpl<Value *> &results) {
  unsigned rank = op.result()->type.rank();
  llvm::SmallVector<Value *, 4> operands;
  for (auto [slot, operand] : llvm::enumerate(op.operandValues()))
    operands.push_back(
        op.is(ops::LayerNorm) && slot > 0 ? operand : toFirst(operand, rank));
  llvm::SmallVector<ConstantRef, 4> slots(op.constants());
  auto change = [&](const ConstantParam &param, ConstantRef value) {
    int slot = op.def().constantSlot(param);
    if (slot >= 0 && slots[slot])
      slots[slot] = std::move(value);
  };
  if (op.is(ops::SliceBySize)) {
    change(param::begin, Constant::int32s(renamedAll(op.get(param::begin), 0)));
    change(param::size,
           Constant::int32s(renamedAll(op.result()->type.shape, 1)));
  } else if (!op.def().has(trait::Elementwise)) {
    if (op.def().constantSlot(param::axis) >= 0 && op.constant(param::axis))
      change(param::axis, Constant::int32(renamed(op.get(param::axis), rank)));
    if (op.def().constantSlot(param::axes) >= 0 && op.constant(param::axes)) {
      Shape axes = op.get(param::axes);
      for (int64_t &axis : axes)
        axis = renamed(axis, rank);
      llvm::sort(axes);
      change(param::axes, Constant::int32s(axes));
    }
  }
  llvm::SmallVector<llvm::StringRef, 3> names;
  for (const Value *result : op.resultValues())
    names.push_back(result->name);
  Op *made = builder.createWithSlots(op.def(), operands, slots, names);
  llvm::append_range(results, made->resultValues());
  return made->result(0);
}

/// The constant matrix as the weight [O, I, 1, 1].
Value *SequenceRewriter::convolution(Op &op) {
  bool isLinear = op.is(ops::Linear);
  Value *matrix = isLinear ? op.operand(param::weight) : op.operand(1u);
  const Shape shape = matrix->type.shape;
  Value *weight = nullptr;
  if (isLinear || op.get(param::transposeY))
    weight = builder.build(
        ops::Const, {},
        Attr(param::val, matrix->definingOp()
                             ->constant(param::val)
                             ->reshaped({shape[0], shape[1], 1, 1})),
        matrix->name);
  else
    weight = transposedConstant(*matrix, {shape[1], shape[0], 1, 1});
  llvm::SmallVector<Value *, 3> operands = {toFirst(op.operand(0u), 3), weight};
  if (isLinear && op.operand(param::bias))
    operands.push_back(op.operand(param::bias));
  return builder.build(ops::Conv, operands, {{param::padType, PadType::Valid}},
                       op.result()->name);
}

/// With y' for a transposed y: x y = (y' x')'
Value *SequenceRewriter::matmul(Op &op, bool isFirst) {
  Value *matrices[2];
  bool isTransposed[2];
  for (unsigned slot : {0u, 1u}) {
    Value *value = op.operand(slot);
    bool flag = op.get(slot == 0 ? param::transposeX : param::transposeY);
    bool swaps = madeFirst.contains(value);
    if (swaps)
      value = firsts.lookup(value);
    if (swaps && op.operand(slot)->type.rank() == 3)
      value = reshape(value, {value->type.shape[0], value->type.shape[1],
                              value->type.shape[3]});
    matrices[slot] = value;
    isTransposed[slot] = flag != swaps;
  }
  if (isFirst) {
    std::swap(matrices[0], matrices[1]);
    std::swap(isTransposed[0], isTransposed[1]);
    isTransposed[0] = !isTransposed[0];
    isTransposed[1] = !isTransposed[1];
  }
  Value *made = builder.build(ops::Matmul, matrices,
                              {{param::transposeX, isTransposed[0]},
                               {param::transposeY, isTransposed[1]}},
                              op.result()->name);
  return isFirst ? reshape(made, renamedAll(op.result()->type.shape, 1)) : made;
}

Value *SequenceRewriter::splitHeads(Op &op) {
  Op &inner = *op.operand(0u)->definingOp();
  Value *x = inner.operand(0u);
  if (!madeFirst.contains(x))
    return transpose(inner.result(), {0, 2, 3, 1});
  return reshape(firsts.lookup(x), renamedAll(op.result()->type.shape, 1));
}

Value *SequenceRewriter::joinHeads(Op &op) {
  Value *heads = op.operand(0u)->definingOp()->operand(0u);
  return reshape(toFirst(heads, 4), renamedAll(op.result()->type.shape, 1));
}

void SequenceRewriter::rewrite(Op &op, SequenceRule rule) {
  llvm::SmallVector<Value *, 4> results;
  const Shape shape = op.result()->type.shape;
  switch (rule) {
  case SequenceRule::Renamed:
    renamedOp(op, results);
    break;
  case SequenceRule::Product:
    results = {convolution(op)};
    break;
  case SequenceRule::Matmul:
    results = {matmul(op, /*isFirst=*/true)};
    break;
  case SequenceRule::SplitHeads:
    results = {splitHeads(op)};
    break;
  case SequenceRule::JoinHeads:
    results = {joinHeads(op)};
    break;
  case SequenceRule::Transpose:
    results = {reshape(op.operand(0u), renamedAll(shape, 1))};
    break;
  case SequenceRule::ChannelsLast:
    return;
  }
  // What reads it with channels last gets a copy; most have no such use.
  for (auto [old, first] : llvm::zip_equal(op.resultValues(), results)) {
    first->name = old->name;
    Value *last = toLast(first, old->type.rank());
    old->replaceAllUsesWith(last);
    firsts[last] = first;
    madeFirst.insert(last);
  }
  op.erase();
  ctx.count("rewritten");
}

/// An op with channels last that need not read its operands so.
void SequenceRewriter::leave(Op &op, SequenceRule rule) {
  auto isFirst = [&](Value *value) { return madeFirst.contains(value); };
  Value *result = nullptr;
  if (rule == SequenceRule::Matmul &&
      llvm::any_of(op.operandValues(), isFirst)) {
    result = matmul(op, /*isFirst=*/false);
  } else if (rule == SequenceRule::Transpose && isFirst(op.operand(0u))) {
    result = reshape(firsts.lookup(op.operand(0u)), op.result()->type.shape);
  } else if (rule == SequenceRule::SplitHeads &&
             isFirst(op.operand(0u)->definingOp()->operand(0u))) {
    result = transpose(splitHeads(op), {0, 1, 3, 2});
  } else if (rule == SequenceRule::JoinHeads &&
             isFirst(op.operand(0u)->definingOp()->operand(0u))) {
    const Shape shape = op.result()->type.shape;
    result =
        transpose(reshape(toFirst(op.operand(0u)->definingOp()->operand(0u), 4),
                          {shape[0], shape[2], shape[1]}),
                  {0, 2, 1});
  }
  if (!result)
    return;
  result->name = op.result()->name;
  op.result()->replaceAllUsesWith(result);
  op.erase();
}

bool SequenceRewriter::run() {
  bool changed = writeHeads(function);
  llvm::DenseSet<const Op *> chosen = chooseChannelsFirst(function, ctx.target);
  if (chosen.empty())
    return changed;
  for (Op &op : llvm::make_early_inc_range(function.body())) {
    builder.setInsertionPoint(&op);
    SequenceRule rule = sequenceRuleOf(op);
    if (chosen.contains(&op))
      rewrite(op, rule);
    else
      leave(op, rule);
  }
  return true;
}

static bool putChannelsFirst(Function &function, PassContext &ctx) {
  return SequenceRewriter(function, ctx).run();
}

constinit const PassDef passes::ChannelsFirst = {
    .name = "channels-first",
    .summary = "Compute sequences with channels first where products with "
               "weights then become convolutions",
    .description =
        "%y = linear(%x, %w, %b) : fp16[N, S, O]\n"
        "  ==>  %y = conv(%x as [N, I, 1, S], %w as [O, I, 1, 1], %b)\n"
        "Heads of attention are cut out without transposes, and transposes\n"
        "are left where inputs and outputs have channels last.",
    .stats = {{{"rewritten", "ops with channels first"}}},
    .tolerance = 1e-9,
    .run = putChannelsFirst,
};
