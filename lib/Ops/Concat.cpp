//===- Concat.cpp - joining and taking apart --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Concat.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"

namespace anec::param {
ANEC_PARAM(numSplits, "num_splits", Int)
ANEC_PARAM(splitSizes, "split_sizes", Ints)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// concat, stack
//===----------------------------------------------------------------------===//

static bool inferConcat(InferContext &ctx) {
  TensorType type = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, type.rank())) // C1
    return false;
  for (unsigned slot = 1; slot < ctx.operands.size(); ++slot) {
    Shape other = ctx.type(slot).shape;
    bool ranksAgree = other.size() == type.rank();
    bool extentsAgree = ranksAgree && other[axis] == ctx.type(0).shape[axis];
    if (ranksAgree) {
      int64_t joined = type.shape[axis] + other[axis];
      other[axis] = type.shape[axis];
      ranksAgree = other == type.shape;
      type.shape[axis] = joined;
    }
    if (!ranksAgree) // C2
      return ctx.fail(diag::ConcatMismatch(ctx.opName(), ctx.describeOperand(0),
                                           ctx.describeOperand(slot), axis),
                      {0, slot});
    if (!extentsAgree && ctx.get(param::interleave)) // C3
      return ctx.fail(diag::ConcatInterleave(ctx.opName(),
                                             ctx.describeOperand(0),
                                             ctx.describeOperand(slot)),
                      {0, slot});
  }
  return ctx.result(type);
}

/// Writes the operands one after another along `axis`, or alternating element
/// by element with `interleave`.
static void evalConcat(EvalContext &ctx) {
  RefTensor &out = ctx.out[0];
  int64_t axis = normalized(ctx.get(param::axis), out.type.rank());
  Shape outStrides = rowMajorStrides(out.type.shape);
  bool interleave = ctx.get(param::interleave);
  double *to = out.data.data();
  for (const RefTensor *in : ctx.in) {
    Shape strides = outStrides;
    if (interleave)
      strides[axis] *= ctx.in.size();
    copyElements(in->type.shape, in->data.data(),
                 rowMajorStrides(in->type.shape), to, strides);
    to += outStrides[axis] * (interleave ? 1 : in->type.shape[axis]);
  }
}

/// Each operand gets its part of dy.
static void gradientConcat(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0)), from = 0;
  int64_t count = g.op.numOperands();
  for (unsigned slot = 0; slot < count; ++slot) {
    Shape size = g.shape(slot), begin(size.size(), 0);
    g.give(slot, [&] {
      if (!g.op.get(param::interleave)) {
        begin[axis] = from;
        return g.slice(g.dy(), begin, size);
      }
      // The operand's number is an axis of its own after that of the elements.
      Shape split = size;
      split.insert(split.begin() + axis + 1, count);
      begin.insert(begin.begin() + axis + 1, slot);
      Value *elements = g.reshape(g.dy(), split);
      split[axis + 1] = 1;
      return g.reshape(g.slice(elements, begin, split), size);
    });
    from += size[axis];
  }
}

static bool positionsConcat(PositionFlow &f) {
  std::optional<unsigned> fromEnd = f.align();
  if (!fromEnd)
    return f.fail(positions::relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  if (PositionFlow::normalized(f.op.get(param::axis), rank) == axis)
    return f.fail("joins positions with others");
  return f.keep(axis);
}

constinit const OpDef ops::Concat = {
    .name = "concat",
    .summary = "Concatenates `values` along `axis`. With `interleave`, "
               "elements of the values alternate.",
    .family = "slice",
    .params = {variadic(param::values, movableTypes), integer(param::axis),
               boolean(param::interleave, "false")},
    .traits = trait::Mil | trait::DataMovement | trait::AlongAxis,
    .constraints = {"`axis` is an axis of the first of `values`",
                    "shapes agree except at `axis`",
                    "with `interleave`, shapes agree"},
    .infer = inferConcat,
    .eval = evalConcat,
    .gradient = gradientConcat,
    .positions = positions::ofSeveral(positionsConcat),
};

static bool inferStack(InferContext &ctx) {
  TensorType type = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, type.rank() + 1)) // C1
    return false;
  for (unsigned slot = 1; slot < ctx.operands.size(); ++slot)
    if (ctx.type(slot).shape != type.shape) // C2
      return ctx.fail(diag::StackMismatch(ctx.opName(), ctx.describeOperand(0),
                                          ctx.describeOperand(slot)),
                      {0, slot});
  type.shape.insert(type.shape.begin() + axis, ctx.operands.size());
  return ctx.result(type);
}

static void evalStack(EvalContext &ctx) {
  RefTensor &out = ctx.out[0];
  int64_t axis = normalized(ctx.get(param::axis), out.type.rank());
  Shape strides = rowMajorStrides(out.type.shape);
  int64_t step = strides[axis];
  strides.erase(strides.begin() + axis);
  for (size_t i = 0; i < ctx.in.size(); ++i)
    copyElements(ctx.in[i]->type.shape, ctx.in[i]->data.data(),
                 rowMajorStrides(ctx.in[i]->type.shape),
                 out.data.data() + i * step, strides);
}

static void gradientStack(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0) + 1);
  for (unsigned slot = 0; slot < g.op.numOperands(); ++slot)
    g.give(slot, [&] {
      Shape size = g.op.result()->type.shape, begin(size.size(), 0);
      begin[axis] = slot;
      size[axis] = 1;
      return g.reshape(g.slice(g.dy(), begin, size), g.shape(slot));
    });
}

static bool positionsStack(PositionFlow &f) {
  std::optional<unsigned> fromEnd = f.align();
  if (!fromEnd)
    return f.fail(positions::relates);
  unsigned rank = f.rank(0), axis = rank - 1 - *fromEnd;
  return f.keep(axis + (PositionFlow::normalized(f.op.get(param::axis),
                                                 rank + 1) <= axis));
}

constinit const OpDef ops::Stack = {
    .name = "stack",
    .summary = "Stacks `values` along a new `axis`.",
    .family = "slice",
    .params = {variadic(param::values, movableTypes), integer(param::axis)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`axis` is an axis of the result",
                    "`values` have equal shapes"},
    .infer = inferStack,
    .eval = evalStack,
    .gradient = gradientStack,
    .positions = positions::ofSeveral(positionsStack),
};

//===----------------------------------------------------------------------===//
// split
//===----------------------------------------------------------------------===//

/// Each part is a named result, so real programs have few; without a bound, a
/// malicious one could request 2^31.
static constexpr int64_t maxParts = 4096;

static bool inferSplit(InferContext &ctx) {
  const TensorType &x = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, x.rank())) // C1
    return false;
  const Constant *number = ctx.constant(param::numSplits);
  if ((number != nullptr) == (ctx.constant(param::splitSizes) != nullptr)) // C2
    return ctx.fail(diag::SplitParameters(ctx.opName()));

  int64_t extent = x.shape[axis];
  Shape sizes;
  if (number) {
    int64_t parts = number->asInt();
    if (!checkRange(ctx, param::numSplits, 1, maxParts)) // C3
      return false;
    if (extent % parts) // C4
      return ctx.fail(diag::SplitUneven(ctx.opName(), ctx.describeOperand(0),
                                        axis, extent, parts),
                      {0});
    sizes.assign(parts, extent / parts);
  } else {
    if (!checkRange(ctx, param::splitSizes, 1)) // C5
      return false;
    sizes = ctx.get(param::splitSizes);
    int64_t sum = 0;
    for (int64_t size : sizes)
      sum += size;
    if (sum != extent) // C6
      return ctx.fail(diag::SplitSizes(ctx.opName(), ctx.describeOperand(0),
                                       axis, extent, sum),
                      {0});
  }
  for (int64_t size : sizes) {
    ctx.results.push_back(x);
    ctx.results.back().shape[axis] = size;
  }
  return true;
}

static void evalSplit(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  int64_t axis = normalized(ctx.get(param::axis), x.type.rank());
  Shape strides = rowMajorStrides(x.type.shape);
  const double *from = x.data.data();
  for (RefTensor &out : ctx.out) {
    copyElements(out.type.shape, from, strides, out.data.data(),
                 rowMajorStrides(out.type.shape));
    from += strides[axis] * out.type.shape[axis];
  }
}

static void gradientSplit(Gradient &g) {
  g.give(0, [&] {
    llvm::SmallVector<Value *, 4> parts;
    for (unsigned index = 0; index < g.op.numResults(); ++index)
      parts.push_back(g.dy(index));
    return g.concat(parts, g.op.get(param::axis));
  });
}

constinit const OpDef ops::Split = {
    .name = "split",
    .summary = "Splits `x` along `axis` into `num_splits` equal parts, or into "
               "parts of `split_sizes`.",
    .family = "slice",
    .params = {value(param::x, basicTypes),
               optionalConstant(param::numSplits, {DType::Int32}),
               optionalConstant(param::splitSizes, {DType::Int32}),
               integer(param::axis)},
    .traits = trait::Mil | trait::DataMovement | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`",
                    "either `num_splits` or `split_sizes` is given",
                    "`num_splits` is 1 to 4096",
                    "`num_splits` divides the extent at `axis`",
                    "sizes are at least 1",
                    "sizes add up to the extent at `axis`"},
    .infer = inferSplit,
    .eval = evalSplit,
    .gradient = gradientSplit,
};
