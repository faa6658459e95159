//===- Sort.cpp - sorting, cumulative sums and products ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Of equal elements, the one with the smaller index comes first, in both
/// directions. MIL does not define this order, nor the order of topk without
/// `sort`.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Sort.h"
#include "Decompose.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Slice.h"
#include <functional>
#include <numeric>

namespace anec::param {
ANEC_PARAM(outputIndicesDtype, "output_indices_dtype", DType)
ANEC_PARAM(returnIndices, "return_indices", Bool)
ANEC_PARAM(sort, "sort", Bool)
} // namespace anec::param

using namespace anec;

/// Calls `fn(first, view)` for each row along `axis`, with the position of its
/// first element; its elements are `view.inner` apart.
template <typename Fn>
static void forEachRow(llvm::ArrayRef<int64_t> shape, int64_t axis, Fn fn) {
  AxisView view = viewAxis(shape, axis);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t n = 0; n < view.inner; ++n)
      fn(o * view.extent * view.inner + n, view);
}

/// The indices of a row's elements in sorted order; NaN comes last.
static std::vector<int64_t> orderOf(const double *row, int64_t count,
                                    int64_t stride, bool ascending) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    double x = row[a * stride], y = row[b * stride];
    if (x != x || y != y)
      return x == x && y != y;
    return ascending ? x < y : x > y;
  });
  return order;
}

//===----------------------------------------------------------------------===//
// argsort, topk
//===----------------------------------------------------------------------===//

static bool inferArgsort(InferContext &ctx) {
  int64_t axis = ctx.get(param::axis);
  return ctx.normalizeAxis(axis, ctx.type(0).rank()) && // C1
         ctx.result({DType::Int32, ctx.type(0).shape});
}

static void evalArgsort(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  int64_t axis = normalized(ctx.get(param::axis), x.type.rank());
  forEachRow(x.type.shape, axis, [&](int64_t first, const AxisView &view) {
    std::vector<int64_t> order = orderOf(&x.data[first], view.extent,
                                         view.inner, ctx.get(param::ascending));
    for (int64_t i = 0; i < view.extent; ++i)
      ctx.out[0].data[first + i * view.inner] = double(order[i]);
  });
}

constinit const OpDef ops::Argsort = {
    .name = "argsort",
    .summary = "The indices that sort `x` along `axis`, in descending order "
               "unless `ascending`.",
    .family = "sort",
    .params = {value(param::x, numbers), integer(param::axis, "-1"),
               boolean(param::ascending, "false")},
    .traits = trait::Mil | trait::ZeroGradient | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`"},
    .infer = inferArgsort,
    .eval = evalArgsort,
};

static bool inferTopk(InferContext &ctx) {
  TensorType type = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, type.rank()) ||              // C1
      !checkRange(ctx, param::topK, 1, type.shape[axis]) || // C2
      !checkDType(ctx, param::outputIndicesDtype,
                  {DType::Int8, DType::Int16, DType::Int32, DType::UInt8,
                   DType::UInt16})) // C3
    return false;
  type.shape[axis] = ctx.get(param::topK);
  ctx.results.assign(1, type);
  if (ctx.get(param::returnIndices))
    ctx.results.push_back({ctx.get(param::outputIndicesDtype), type.shape});
  return true;
}

static void evalTopk(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  int64_t axis = normalized(ctx.get(param::axis), x.type.rank());
  int64_t count = ctx.get(param::topK),
          inner = viewAxis(x.type.shape, axis).inner;
  int64_t row = 0;
  forEachRow(x.type.shape, axis, [&](int64_t first, const AxisView &view) {
    std::vector<int64_t> order = orderOf(&x.data[first], view.extent,
                                         view.inner, ctx.get(param::ascending));
    int64_t to = row / inner * count * inner + row % inner;
    for (int64_t i = 0; i < count; ++i, to += inner) {
      ctx.out[0].data[to] = x.data[first + order[i] * view.inner];
      if (ctx.out.size() > 1)
        ctx.out[1].data[to] = double(order[i]);
    }
    ++row;
  });
  if (ctx.out.size() > 1)
    settleIntegers(ctx.out[1]);
}

/// Adds dy to the elements that were selected.
static void gradientTopk(Gradient &g) {
  int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
  g.give(0, [&] {
    Value *order =
        g.make(ops::Argsort, {g.in(0)},
               {{param::axis, axis},
                {param::ascending, g.op.constant(param::ascending)}});
    const Shape &taken = g.op.result()->type.shape;
    return g.make(ops::ScatterAlongAxis,
                  {g.fill(g.shape(0), 0),
                   g.slice(order, Shape(taken.size(), 0), taken), g.dy()},
                  Attr(param::axis, axis));
  });
}

constinit const OpDef ops::Topk = {
    .name = "topk",
    .summary = "The `k` largest elements of `x` along `axis`, or the smallest "
               "if `ascending`, in order, and their indices.",
    .family = "sort",
    .params = {value(param::x, movableTypes),
               ParamDef{param::topK, ParamKind::Constant, shapeTypes, 0, 0,
                        "1"},
               integer(param::axis, "-1"), boolean(param::ascending, "false"),
               since(16, boolean(param::sort, "true")),
               since(16, boolean(param::returnIndices, "true")),
               since(17, dtypeName(param::outputIndicesDtype, DType::Int32))},
    .traits = trait::Mil | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`",
                    "`k` is 1 to the extent at `axis`",
                    "`output_indices_dtype` is an integer type of up to 32 "
                    "bits"},
    .resultNames = {"values", "indices"},
    .infer = inferTopk,
    .eval = evalTopk,
    .gradient = gradientTopk,
};

//===----------------------------------------------------------------------===//
// cumsum
//===----------------------------------------------------------------------===//

static bool inferCumsum(InferContext &ctx) {
  int64_t axis = ctx.get(param::axis);
  return ctx.normalizeAxis(axis, ctx.type(0).rank()) && inferSame(ctx); // C1
}

/// Combines each element with those before it, from `start` on.
template <typename Combine>
static void evalCumulative(EvalContext &ctx, double start, Combine combine) {
  const RefTensor &x = *ctx.in[0];
  int64_t axis = normalized(ctx.get(param::axis), x.type.rank());
  bool exclusive = ctx.get(param::exclusive), reverse = ctx.get(param::reverse);
  forEachRow(x.type.shape, axis, [&](int64_t first, const AxisView &view) {
    double all = start;
    for (int64_t number = 0; number < view.extent; ++number) {
      int64_t i = reverse ? view.extent - 1 - number : number;
      int64_t at = first + i * view.inner;
      double before = all;
      all = combine(all, x.data[at]);
      ctx.out[0].data[at] = exclusive ? before : all;
    }
  });
  settleIntegers(ctx.out[0]);
}

static void evalCumsum(EvalContext &ctx) {
  evalCumulative(ctx, 0, std::plus<>());
}

/// An element is part of the sums from its position to the end, so dx is a
/// cumulative sum in the other direction.
static void gradientCumsum(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::Cumsum, {g.dy()},
                  {{param::axis, g.op.constant(param::axis)},
                   {param::exclusive, g.op.constant(param::exclusive)},
                   {param::reverse, !g.op.get(param::reverse)}});
  });
}

constinit const OpDef ops::Cumsum = {
    .name = "cumsum",
    .summary =
        "The cumulative sum of `x` along `axis`. With `exclusive`, a sum "
        "excludes its own element; with `reverse`, sums start at the end.",
    .family = "sort",
    .params = {value(param::x, numbers), integer(param::axis, "0"),
               boolean(param::exclusive, "false"),
               boolean(param::reverse, "false")},
    .traits = trait::Mil | trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`"},
    .infer = inferCumsum,
    .eval = evalCumsum,
    .gradient = gradientCumsum,
};

//===----------------------------------------------------------------------===//
// cumprod
//===----------------------------------------------------------------------===//

static bool inferCumprod(InferContext &ctx) {
  constexpr int64_t most = 1024; // each becomes ops of its own
  int64_t given = ctx.get(param::axis), axis = given;
  if (!ctx.normalizeAxis(axis, ctx.type(0).rank())) // C1
    return false;
  if (ctx.type(0).shape[size_t(axis)] > most) // C2
    return ctx.fail(diag::ParameterRange(ctx.opName(), param::axis,
                                         std::to_string(given),
                                         "an axis of at most 1024 elements"),
                    {0});
  return inferSame(ctx);
}

static void evalCumprod(EvalContext &ctx) {
  evalCumulative(ctx, 1, std::multiplies<>());
}

/// The positions along the op's axis in the order of its products.
static llvm::SmallVector<int64_t> orderOfFactors(const Op &op, int64_t axis) {
  llvm::SmallVector<int64_t> order(size_t(op.result()->type.shape[axis]));
  std::iota(order.begin(), order.end(), 0);
  if (op.get(param::reverse))
    std::reverse(order.begin(), order.end());
  return order;
}

/// y_i = y_(i - 1) x_i, or y_i = y_(i - 1) x_(i - 1) with `exclusive`: one
/// after the other, because products of other elements can overflow where
/// these do not.
static void decomposeCumprod(Builder &builder, const Op &op,
                             llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Value *x = op.operand(0u);
  int64_t axis = normalized(op.get(param::axis), x->type.rank());
  Shape begin(x->type.rank(), 0), size = x->type.shape;
  size[axis] = 1;
  llvm::SmallVector<int64_t> order = orderOfFactors(op, axis);
  llvm::SmallVector<Value *> products(order.size());
  Value *product = nullptr;
  auto multiply = [&](int64_t at) {
    begin[axis] = at;
    Value *factor =
        d.make(ops::SliceBySize, {x},
               {{param::begin, begin}, {param::size, size}}, "factor");
    product = product ? d.make(ops::Mul, {product, factor}, "part") : factor;
  };
  bool exclusive = op.get(param::exclusive);
  if (exclusive) {
    TensorType one(x->type.dtype, size);
    std::vector<double> ones(size_t(one.numElements()), 1);
    product = d.array(size, ones, "ones");
    products[order[0]] = product;
  }
  for (size_t i = exclusive; i < order.size(); ++i) {
    multiply(order[i - exclusive]);
    products[order[i]] = product;
  }
  results.push_back(d.make(ops::Concat, products, Attr(param::axis, axis)));
}

/// dx_i = y'_i s_i, where y' are the exclusive products, and s_i = dy_i +
/// x_(i + 1) s_(i + 1), or dy_(i + 1) + x_(i + 1) s_(i + 1) with `exclusive`:
/// without a division, because x can be 0.
static void gradientCumprod(Gradient &g) {
  g.give(0, [&] {
    int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
    Shape begin(g.rank(0), 0), size = g.shape(0);
    size[axis] = 1;
    auto part = [&](Value *value, int64_t at) {
      begin[axis] = at;
      return g.slice(value, begin, size);
    };
    bool exclusive = g.op.get(param::exclusive);
    llvm::SmallVector<int64_t> order = orderOfFactors(g.op, axis);
    llvm::SmallVector<Value *> sums(order.size());
    Value *later = nullptr; // what follows element i contributes
    for (size_t i = order.size(); i-- > 0;) {
      Value *dy = part(g.dy(), order[i]);
      Value *sum = exclusive ? later : later ? g.add(dy, later) : dy;
      sums[order[i]] = sum ? sum : g.fill(size, 0);
      if (i == 0)
        break;
      later = sum ? g.mul(part(g.in(0), order[i]), sum) : nullptr;
      if (exclusive)
        later = later ? g.add(dy, later) : dy;
    }
    Value *before = g.make(ops::Cumprod, {g.in(0)},
                           {{param::axis, g.op.constant(param::axis)},
                            {param::exclusive, true},
                            {param::reverse, g.op.constant(param::reverse)}});
    return g.mul(before, g.concat(sums, axis));
  });
}

constinit const OpDef ops::Cumprod = {
    .name = "cumprod",
    .summary =
        "The cumulative product of `x` along `axis`. With `exclusive`, a "
        "product excludes its own element; with `reverse`, products start at "
        "the end.",
    .family = "sort",
    .params = {value(param::x, numbers), integer(param::axis, "0"),
               boolean(param::exclusive, "false"),
               boolean(param::reverse, "false")},
    .traits = trait::AlongAxis,
    .constraints = {"`axis` is an axis of `x`",
                    "there are at most 1024 elements along `axis`"},
    .infer = inferCumprod,
    .eval = evalCumprod,
    .decompose = decomposeCumprod,
    .gradient = gradientCumprod,
};
