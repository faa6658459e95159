//===- Movement.cpp - concat, tile and broadcasts for a target ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include <numeric>

using namespace anec;
using namespace anec::legalize;

/// concat(a, b, c, ...) ==> concat(concat(a, b), concat(c, ...))
Value *legalize::concatTree(Rewriter &r) {
  if (r.op.get(param::interleave))
    return nullptr;
  llvm::SmallVector<Value *> level = r.op.operandValues();
  while (level.size() > 2) {
    llvm::SmallVector<Value *> next;
    for (size_t i = 0; i < level.size(); i += 2)
      next.push_back(i + 1 < level.size()
                         ? r.concat({level[i], level[i + 1]},
                                    r.op.get(param::axis), "pair")
                         : level[i]);
    level = std::move(next);
  }
  return r.concat(level, r.op.get(param::axis));
}

/// `count` copies of `value`, in as many concatenations of two as twice the
/// logarithm of `count`.
static Value *repeated(Rewriter &r, Value *value, unsigned axis, int64_t count,
                       llvm::StringRef part) {
  Value *copies = nullptr;
  for (Value *power = value;;) {
    if (count % 2)
      copies = copies ? r.concat({copies, power}, axis, part) : power;
    count /= 2;
    if (!count)
      return copies;
    power = r.concat({power, power}, axis, part);
  }
}

/// tile(x, [1, 3]) ==> concat(x, concat(x, x)) along axis 1
Value *legalize::tileToConcat(Rewriter &r) {
  if (!r.op.is(ops::Tile))
    return nullptr;
  Shape reps = r.op.get(param::reps);
  if (llvm::any_of(reps, [](int64_t rep) { return rep < 1; }))
    return nullptr;
  Value *value = r.x();
  for (size_t axis = 0; axis < reps.size(); ++axis)
    value = repeated(r, value, axis, reps[axis], "copies");
  return value == r.x() ? r.make(ops::Identity, {value}) : value;
}

/// a * b with b of batch 1 ==> a * concat(b, ...)
Value *legalize::broadcastByConcat(Rewriter &r) {
  int64_t batch = r.op.result()->type.shape[0];
  llvm::SmallVector<Value *, 2> operands;
  for (Value *operand : r.op.operandValues()) {
    bool isSmall = operand->type.rank() == 4 && operand->type.shape[0] == 1;
    operands.push_back(isSmall ? repeated(r, operand, 0, batch, "copies")
                               : operand);
  }
  return r.make(ops::Mul, operands);
}

/// softmax(x) of axis 1 ==> transpose(softmax(transpose(x)) of axis 3)
Value *legalize::softmaxOfWidth(Rewriter &r) {
  const Shape exchange = {0, 3, 2, 1};
  Value *wide = r.make(ops::Transpose, {r.x()}, {{param::perm, exchange}},
                       "channels_last");
  Value *shares =
      r.make(ops::Softmax, {wide}, {{param::axis, int64_t(3)}}, "shares");
  return r.make(ops::Transpose, {shares}, {{param::perm, exchange}});
}

/// Whether a `slice_by_index` takes what its constants say, from `begin` up to
/// `end`, without masks and from the start of no axis backward.
static bool isPlainSlice(const Op &op, const Shape &shape) {
  if (!op.constant(param::begin) || !op.constant(param::end))
    return false;
  for (const BoolsParam *mask :
       {&param::beginMask, &param::endMask, &param::squeezeMask})
    if (op.constant(*mask) &&
        llvm::any_of(op.get(*mask), [](int64_t bit) { return bit != 0; }))
      return false;
  for (auto [begin, end, extent] :
       llvm::zip_equal(op.get(param::begin), op.get(param::end), shape))
    if (begin < 0 || end <= begin || end > extent)
      return false;
  return true;
}

/// x[..., 65:96:2] ==> x[..., 65:96][..., 0:31:2]
static Value *sliceInSteps(Rewriter &r) {
  const Shape &shape = r.x()->type.shape;
  if (!isPlainSlice(r.op, shape))
    return nullptr;
  Shape begin = r.op.get(param::begin), end = r.op.get(param::end);
  if (begin.back() == 0)
    return nullptr;
  Value *part = r.slice(r.x(), unsigned(shape.size()) - 1, begin.back(),
                        end.back() - begin.back(), "part");
  end.back() -= begin.back();
  begin.back() = 0;
  return r.make(ops::SliceByIndex, {part},
                {{param::begin, begin},
                 {param::end, end},
                 {param::stride, r.op.constant(param::stride)},
                 {param::beginMask, r.op.constant(param::beginMask)},
                 {param::endMask, r.op.constant(param::endMask)},
                 {param::squeezeMask, r.op.constant(param::squeezeMask)}});
}

/// x[..., 64:96] ==> reshape(reshape(x, [..., n / 32, 32])[..., 2:3, :])
Value *legalize::sliceOfBlocks(Rewriter &r) {
  const Shape &from = r.x()->type.shape, &to = r.op.result()->type.shape;
  if (r.op.is(ops::SliceByIndex))
    return sliceInSteps(r);
  if (!r.op.is(ops::SliceBySize) || !r.op.constant(param::begin))
    return nullptr;
  Shape begin = r.op.get(param::begin), size = to;
  int64_t block = std::gcd(std::gcd(begin.back(), to.back()), from.back());
  Shape blocks = from;
  // An axis of one position before the last takes the blocks; a program has no
  // more than five axes.
  bool hasRoom = from.size() > 1 && from[from.size() - 2] == 1;
  if (!hasRoom && from.size() > 4)
    return nullptr;
  for (Shape *shape : {&blocks, &size, &begin}) {
    int64_t last = shape->pop_back_val();
    if (hasRoom)
      shape->pop_back();
    shape->push_back(last / block);
    shape->push_back(block);
  }
  begin.back() = 0;
  Value *slice = r.make(ops::SliceBySize, {r.reshape(r.x(), blocks, "blocks")},
                        {{param::begin, begin}, {param::size, size}}, "block");
  return r.reshape(slice, to);
}

/// x[a:b, c:d:2] ==> transpose(transpose(x[a:b])[c:d:2])
static Value *sliceTransposed(Rewriter &r) {
  Shape whole = r.x()->type.shape;
  if (whole.size() < 2 || !isPlainSlice(r.op, whole))
    return nullptr;
  size_t last = whole.size() - 1;
  const Shape begin = r.op.get(param::begin), end = r.op.get(param::end);
  Shape stride = r.op.constant(param::stride) ? r.op.get(param::stride)
                                              : Shape(whole.size(), 1);
  if (llvm::any_of(stride, [](int64_t step) { return step < 1; }))
    return nullptr;
  auto slice = [&](Value *value, Shape from, Shape to, Shape steps,
                   llvm::StringRef part) {
    return r.make(ops::SliceByIndex, {value},
                  {{param::begin, from},
                   {param::end, to},
                   {param::stride, steps},
                   {param::beginMask, r.op.constant(param::beginMask)},
                   {param::endMask, r.op.constant(param::endMask)}},
                  part);
  };
  Shape from = begin, to = end, steps = stride;
  from[last] = 0, to[last] = whole[last], steps[last] = 1;
  Value *rows = slice(r.x(), from, to, steps, "rows");
  Shape exchange;
  for (size_t axis = 0; axis <= last; ++axis)
    exchange.push_back(int64_t(axis));
  std::swap(exchange[last], exchange[last - 1]);
  Value *turned =
      r.make(ops::Transpose, {rows}, {{param::perm, exchange}}, "turned");
  from = Shape(last + 1, 0), to = turned->type.shape,
  steps = Shape(last + 1, 1);
  from[last - 1] = begin[last], to[last - 1] = end[last];
  steps[last - 1] = stride[last];
  return r.make(ops::Transpose, {slice(turned, from, to, steps, "columns")},
                {{param::perm, exchange}});
}

/// concat(x, y) along the last axis ==> the same of blocks of columns
static Value *concatOfBlocks(Rewriter &r) {
  const Shape &to = r.op.result()->type.shape;
  bool hasRoom = to.size() > 1 && to[to.size() - 2] == 1;
  if (r.op.get(param::interleave) || (!hasRoom && to.size() > 4))
    return nullptr;
  int64_t block = 0;
  for (const Value *value : r.op.operandValues())
    block = std::gcd(block, value->type.shape.back());
  llvm::SmallVector<Value *> blocks;
  for (Value *value : r.op.operandValues()) {
    Shape shape = value->type.shape;
    int64_t columns = shape.pop_back_val();
    if (hasRoom)
      shape.pop_back();
    shape.append({columns / block, block});
    blocks.push_back(r.reshape(value, shape, "blocks"));
  }
  int64_t axis = int64_t(blocks[0]->type.shape.size()) - 2;
  return r.reshape(r.concat(blocks, axis, "block"), to);
}

/// Slices and `concat` of the last axis ==> the same of another axis
Value *legalize::moveBlocks(Rewriter &r) {
  if (r.op.is(ops::Concat))
    return concatOfBlocks(r);
  return r.op.is(ops::SliceByIndex) ? sliceTransposed(r) : sliceOfBlocks(r);
}
