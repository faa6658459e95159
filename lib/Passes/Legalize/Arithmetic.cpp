//===- Arithmetic.cpp - arithmetic and reductions for a target ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Arithmetic.h"
#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::legalize;

/// mod(x, y) ==> x - floor(x / y) * y
Value *legalize::expandMod(Rewriter &r) {
  Value *y = r.op.operand(1u);
  Value *quotient = r.make(ops::FloorDiv, {r.x(), y}, "quotient");
  Value *whole = r.make(ops::Mul, {quotient, y}, "whole");
  return r.make(ops::Sub, {r.x(), whole});
}

/// For booleans as numbers: a and b ==> a * b; a or b ==> max(a, b); a xor b
/// ==> a != b
Value *legalize::expandLogical(Rewriter &r) {
  llvm::SmallVector<Value *, 2> numbers;
  for (Value *operand : r.op.operandValues())
    numbers.push_back(r.make(ops::Cast, {operand},
                             Attr(param::dtype, DType::FP16),
                             numbers.empty() ? "left" : "right"));
  if (r.op.is(ops::LogicalXor))
    return r.make(ops::NotEqual, numbers);
  const OpDef &def = r.op.is(ops::LogicalAnd) ? ops::Mul : ops::Maximum;
  return r.make(ops::Cast, {r.make(def, numbers, "number")},
                Attr(param::dtype, DType::Bool));
}

/// reduce_mean(x) ==> reduce_sum(x * 1/n). Scaling first keeps the sum as small
/// as the mean.
Value *legalize::meanToSum(Rewriter &r) {
  int64_t results = r.op.result()->type.numElements();
  if (results == 0 || r.x()->type.numElements() == 0 ||
      !isFloat(r.x()->type.dtype))
    return nullptr;
  double count = double(r.x()->type.numElements()) / double(results);
  Value *scaled =
      r.make(ops::Mul, {r.x(), r.scalar(1 / count, "share")}, "shares");
  return r.make(ops::ReduceSum, {scaled},
                {{param::axes, r.op.constant(param::axes)},
                 {param::keepDims, r.op.constant(param::keepDims)}});
}

/// Reduces one axis as two, of extents that are as close as its divisors are.
static Value *reduceTwice(Rewriter &r, size_t axis) {
  const Shape &shape = r.x()->type.shape;
  int64_t inner = int64_t(std::sqrt(double(shape[axis])));
  while (inner > 1 && shape[axis] % inner)
    --inner;
  std::optional<Shape> split;
  if (inner > 1)
    split = splitAxis(shape, axis, inner);
  if (!split)
    return nullptr;
  // The axes before the two are as many as those after them require.
  size_t first = split->size() - (shape.size() - axis) - 1;
  Value *value = r.reshape(r.x(), *split, "rows");
  for (bool isRow : {true, false})
    value =
        r.make(r.op.def(), {value},
               {{param::axes, llvm::ArrayRef<int64_t>(int64_t(first + isRow))},
                {param::keepDims, true}},
               isRow ? "row" : "column");
  return r.reshape(value, r.op.result()->type.shape);
}

/// reduce(x, [a, b]) ==> reduce(reduce(x, [b]), [a]), for reductions that can
/// be split by axes; a single axis is first reshaped to two.
Value *legalize::splitReduce(Rewriter &r) {
  if (!llvm::is_contained({&ops::ReduceSum, &ops::ReduceMax, &ops::ReduceMin},
                          &r.op.def()))
    return nullptr;
  Shape axes = r.op.get(param::axes);
  int64_t rank = r.x()->type.rank();
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  if (axes.size() == 1)
    return reduceTwice(r, size_t(axes[0]));
  if (axes.empty())
    return nullptr;
  llvm::sort(axes);
  int64_t last = axes.pop_back_val();
  bool keep = r.op.get(param::keepDims);
  Value *inner = r.make(
      r.op.def(), {r.x()},
      {{param::axes, llvm::ArrayRef<int64_t>(last)}, {param::keepDims, keep}},
      "inner");
  return r.make(r.op.def(), {inner},
                {{param::axes, axes}, {param::keepDims, keep}});
}

/// t * 0 ==> t - t
Value *legalize::zeroBySub(Rewriter &r) {
  for (unsigned slot : {0u, 1u}) {
    Value *value = r.op.operand(slot);
    if (value->type == r.op.result()->type && value->definingOp() &&
        !value->definingOp()->is(ops::Const))
      return r.make(ops::Sub, {value, value});
  }
  return nullptr;
}

/// layer_norm(x, gamma, beta) ==> layer_norm(x) * gamma + beta
Value *legalize::splitAffine(Rewriter &r) {
  const TensorType &type = r.x()->type;
  Shape axes = r.op.get(param::axes);
  // The positions of gamma's axes among those of x.
  Shape shape(type.rank(), 1);
  for (int64_t &axis : axes) {
    axis += axis < 0 ? int64_t(type.rank()) : 0;
    shape[axis] = type.shape[axis];
  }
  if (!llvm::is_sorted(axes))
    return nullptr;
  Value *result = r.make(
      ops::LayerNorm, {r.x()},
      {{param::axes, axes}, {param::epsilon, r.op.constant(param::epsilon)}},
      "normal");
  auto apply = [&](const OpDef &def, const ValueParam &name) {
    if (Value *factor = r.op.operand(name))
      result = r.make(def, {result, r.reshape(factor, shape, name)},
                      name.id == param::gamma.id ? "scaled" : "");
  };
  apply(ops::Mul, param::gamma);
  apply(ops::Add, param::betaValue);
  return result;
}
