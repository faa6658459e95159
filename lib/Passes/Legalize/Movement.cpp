//===- Movement.cpp - concat, tile and broadcasts for a target ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Shape.h"

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
