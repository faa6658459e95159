//===- Canonicalize.cpp - rewrite ops to canonical forms ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Local rewrites to fewer or simpler ops. A rewrite never makes an op slower,
/// never adds a rounding, and returns an existing or new value for the op's
/// only result, or null to decline.
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/Pass.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Weights.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace anec;

using Simplification = Value *(*)(Op &op, Builder &builder);

static Op *definedBy(Value *value, const OpDef &def) {
  Op *op = value ? value->definingOp() : nullptr;
  return op && op->is(def) ? op : nullptr;
}

/// Whether every element of `value` is the constant `number`.
static bool isAll(Value *value, double number) {
  Op *op = definedBy(value, ops::Const);
  return op && value->type.numElements() == 1 &&
         op->constant(param::val)->doubleAt(0) == number;
}

/// `value` if it has the type of the op's result; otherwise null.
static Value *sameType(Value *value, const Op &op) {
  return value->type == op.result()->type ? value : nullptr;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

// c + x == x + c, c * x == x * c: constants are the right operand.
static Value *constantToTheRight(Op &op, Builder &builder) {
  if (!op.def().has(trait::Commutative) ||
      !definedBy(op.operand(0u), ops::Const) ||
      definedBy(op.operand(1u), ops::Const))
    return nullptr;
  return builder.build(op.def(), {op.operand(1u), op.operand(0u)}, {},
                       op.result()->name);
}

// x + 0 == x, x - 0 == x, x * 1 == x, x / 1 == x, x ^ 1 == x
// (x + 0 is not exact: it turns -0 into +0. This is accepted, since among the
// ops of kernels only 1 / x distinguishes them.)
static Value *neutralElement(Op &op, Builder &) {
  bool additive = op.is(ops::Add) || op.is(ops::Sub);
  bool multiplicative =
      op.is(ops::Mul) || op.is(ops::RealDiv) || op.is(ops::Pow);
  if (!additive && !multiplicative)
    return nullptr;
  return isAll(op.operand(1u), additive ? 0 : 1) ? sameType(op.operand(0u), op)
                                                 : nullptr;
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

// identity(x) == x; cast(x) to its own type == x;
// cast(cast(x: fp16 -> fp32) -> fp16) == x, since widening is exact.
static Value *redundantCopy(Op &op, Builder &) {
  if (!op.is(ops::Identity) && !op.is(ops::Cast))
    return nullptr;
  if (Value *same = sameType(op.operand(0u), op))
    return same;
  Op *inner = definedBy(op.operand(0u), ops::Cast);
  if (!inner || inner->result()->type.dtype != DType::FP32 ||
      inner->operand(0u)->type.dtype != DType::FP16)
    return nullptr;
  return sameType(inner->operand(0u), op);
}

// reshape(x) to its own shape == x
static Value *identityReshape(Op &op, Builder &) {
  return op.is(ops::Reshape) ? sameType(op.operand(0u), op) : nullptr;
}

static Value *buildReshape(Builder &builder, Value *value, const Op &op) {
  return builder.build(ops::Reshape, {value},
                       {{param::shape, op.result()->type.shape}},
                       op.result()->name);
}

// expand_dims(x), squeeze(x) == reshape(x)
static Value *toReshape(Op &op, Builder &builder) {
  if (!op.is(ops::ExpandDims) && !op.is(ops::Squeeze))
    return nullptr;
  return buildReshape(builder, op.operand(0u), op);
}

// reshape(reshape(x)) == reshape(x)
static Value *nestedReshape(Op &op, Builder &builder) {
  Op *inner =
      op.is(ops::Reshape) ? definedBy(op.operand(0u), ops::Reshape) : nullptr;
  return inner ? buildReshape(builder, inner->operand(0u), op) : nullptr;
}

// transpose(x, identity) == x;
// transpose(transpose(x, p), q) == transpose(x, p[q])
static Value *nestedTranspose(Op &op, Builder &builder) {
  if (!op.is(ops::Transpose))
    return nullptr;
  Shape perm = op.get(param::perm);
  unsigned rank = perm.size();
  for (int64_t &axis : perm)
    axis += axis < 0 ? rank : 0;
  if (llvm::equal(perm, llvm::seq<int64_t>(0, rank)))
    return op.operand(0u);
  Op *inner = definedBy(op.operand(0u), ops::Transpose);
  if (!inner)
    return nullptr;
  Shape first = inner->get(param::perm), composed;
  for (int64_t axis : perm)
    composed.push_back(first[axis] + (first[axis] < 0 ? rank : 0));
  return builder.build(ops::Transpose, {inner->operand(0u)},
                       {{param::perm, composed}}, op.result()->name);
}

// slice_by_size(x) of all of x == x; concat(x) == x
static Value *wholeSlice(Op &op, Builder &) {
  bool single = op.is(ops::Concat) && op.numOperands() == 1;
  bool slice = op.is(ops::SliceBySize);
  return single || slice ? sameType(op.operand(0u), op) : nullptr;
}

/// Where a list of indices begins that follow one another; nothing for other
/// lists.
static std::optional<int64_t> firstOfRun(const Constant &indices,
                                         int64_t extent) {
  std::optional<int64_t> first;
  for (int64_t place : llvm::seq(indices.numElements())) {
    int64_t index = indices.intAt(place);
    index += index < 0 ? extent : 0;
    if (!first)
      first = index;
    if (index != *first + place || index >= extent)
      return std::nullopt;
  }
  return first;
}

// gather(x, [2, 3, 4]) == slice_by_size(x). Rows of weights stay lookups, which
// do not unpack the others.
static Value *consecutiveRows(Op &op, Builder &builder) {
  const Op *indices =
      op.is(ops::Gather) ? definedBy(op.operand(1u), ops::Const) : nullptr;
  if (!indices)
    return nullptr;
  const Op *source = op.operand(0u)->definingOp();
  if (indices->result()->type.rank() != 1 || op.get(param::batchDims) != 0 ||
      (source && (source->def().has(trait::Stored) ||
                  source->def().has(trait::Constexpr))))
    return nullptr;
  const Shape &shape = op.operand(0u)->type.shape;
  int64_t axis = op.get(param::axis);
  axis += axis < 0 ? int64_t(shape.size()) : 0;
  std::optional<int64_t> first =
      firstOfRun(*indices->constant(param::val), shape[axis]);
  if (!first)
    return nullptr;
  Shape begin(shape.size(), 0);
  begin[axis] = *first;
  return builder.build(
      ops::SliceBySize, {op.operand(0u)},
      {{param::begin, begin}, {param::size, op.result()->type.shape}},
      op.result()->name);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// A `weight` op that reads the stored array of `weight` with the view `array`.
static Value *seenThrough(Builder &builder, const Op &weight,
                          const ArrayView &array) {
  builder.setRange(weight.range());
  return buildWeight(builder, weight, array, weight.result()->name);
}

// reshape(weight) == weight, stored with that shape
static Value *reshapedWeight(Op &op, Builder &builder) {
  Op *weight =
      op.is(ops::Reshape) ? definedBy(op.operand(0u), ops::Weight) : nullptr;
  if (!weight)
    return nullptr;
  return seenThrough(builder, *weight,
                     viewOf(*weight).array.reshape(op.result()->type.shape));
}

// transpose(weight) == weight, stored transposed
static Value *transposedWeight(Op &op, Builder &builder) {
  Op *weight =
      op.is(ops::Transpose) ? definedBy(op.operand(0u), ops::Weight) : nullptr;
  if (!weight)
    return nullptr;
  Shape perm = op.get(param::perm);
  for (int64_t &axis : perm)
    axis += axis < 0 ? int64_t(perm.size()) : 0;
  return seenThrough(builder, *weight, viewOf(*weight).array.permute(perm));
}

// The view of a weight is written in canonical form.
static Value *canonicalWeight(Op &op, Builder &builder) {
  const Constant *text =
      op.is(ops::Weight) ? op.constant(param::view) : nullptr;
  if (!text ||
      (!text->asString().empty() && text->asString() == viewOf(op).array.str()))
    return nullptr;
  return seenThrough(builder, op, viewOf(op).array);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static constexpr Simplification rewrites[] = {
    constantToTheRight, neutralElement, redundantCopy,    identityReshape,
    toReshape,          nestedReshape,  nestedTranspose,  wholeSlice,
    consecutiveRows,    reshapedWeight, transposedWeight, canonicalWeight,
};

/// Applies the first matching rewrite; null when none matches.
static Value *simplify(Op &op, Builder &builder) {
  for (Simplification rewrite : rewrites)
    if (Value *value = rewrite(op, builder))
      return value;
  return nullptr;
}

static bool canonicalize(Function &function, PassContext &ctx) {
  bool changedAny = false, changed = true;
  // A rewrite may enable one at an earlier op; each removes an op or brings it
  // closer to its canonical form, so this terminates.
  while (changed) {
    changed = false;
    for (Op &op : llvm::make_early_inc_range(function.body())) {
      if (op.numResults() != 1 || !op.result()->hasUses())
        continue;
      Builder builder(function);
      builder.setInsertionPoint(&op);
      Value *value = simplify(op, builder);
      if (!value)
        continue;
      op.result()->replaceAllUsesWith(value);
      op.erase();
      ctx.count("rewritten");
      changed = changedAny = true;
    }
  }
  return changedAny;
}

constinit const PassDef passes::Canonicalize = {
    .name = "canonicalize",
    .summary = "Rewrite equivalent ops to one simpler form",
    .description = "reshape(reshape(%x))  ==>  reshape(%x)\n"
                   "transpose(transpose(%x, p), q)  ==>  transpose(%x, p[q])\n"
                   "add(%x, 0)  ==>  %x",
    .stats = {{{"rewritten", "ops replaced by a simpler form"}}},
    .run = canonicalize,
};
