//===- Reductions.cpp - reductions ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

namespace {
/// What all reductions take.
struct Reduction {
  Val x;
  Shape axes;
  bool keep = false;
};
} // namespace

/// The operand in `type`, and the axes, all if none are given. A scalar has an
/// axis, so that ops take it.
static Reduction reductionOf(Node &n, ScalarType type) {
  Reduction r;
  Item x = n.item("self");
  r.x = n.cast(x, type);
  r.keep = n.flag("keepdim");
  int64_t rank = r.x.rank();
  r.axes = n.axes("dim", std::max<int64_t>(rank, 1));
  if (rank == 0) {
    r.x = n.e.reshape(r.x, {1});
    r.axes = {0};
    r.keep = false;
  }
  return r;
}

/// Computed in the type of the result.
template <const OpDef &Def>
static void reduce(Node &n) {
  ScalarType type = n.type("dtype", n.outType());
  Reduction r = reductionOf(n, type);
  if (!n.failed())
    n.out(n.e.reduce(Def, r.x, r.axes, r.keep));
}

/// Without a list of axes: of all elements.
template <const OpDef &Def>
static void reduceAll(Node &n) {
  Item x = n.item("self");
  Val value = n.cast(x, n.type("dtype", n.outType()));
  if (n.failed() || !value)
    return;
  if (value.rank() == 0)
    return n.out(value);
  Shape axes;
  for (int64_t axis = 0; axis != value.rank(); ++axis)
    axes.push_back(axis);
  n.out(n.e.reduce(Def, value, axes, false));
}

/// Whether all elements are true, or any.
template <const OpDef &Def>
static void reduceTruth(Node &n) {
  Emitter &e = n.e;
  Val truth = n.cast(n.item("self"), ScalarType::Bool);
  Reduction r;
  r.x = e.cast(truth, DType::Int32);
  r.keep = n.flag("keepdim");
  r.axes = n.axes("dim", std::max<int64_t>(truth.rank(), 1));
  if (truth.rank() == 0)
    return n.out(truth);
  if (!n.failed())
    n.out(e.cast(e.reduce(Def, r.x, r.axes, r.keep), DType::Bool));
}

/// The mean of squared distances from the mean, over count - correction.
static Val varianceAlong(Node &n, const Reduction &r, double correction) {
  Emitter &e = n.e;
  int64_t count = 1;
  for (int64_t axis : r.axes)
    count *= r.x.dim(axis);
  Val mean = e.reduce(ops::ReduceMean, r.x, r.axes, true);
  Val centred = e.sub(r.x, mean);
  Val sum = e.reduce(ops::ReduceSum, e.mul(centred, centred), r.axes, r.keep);
  double divisor = std::fmax(0, double(count) - correction);
  return e.div(sum, e.scalar(sum.dtype(), divisor));
}

static double correctionOf(Node &n) {
  if (n.has("correction"))
    return n.number("correction");
  return n.has("unbiased") && !n.flag("unbiased") ? 0 : 1;
}

static void variance(Node &n) {
  Reduction r = reductionOf(n, n.outType());
  double correction = correctionOf(n);
  if (!n.failed())
    n.out(varianceAlong(n, r, correction));
}

static void deviation(Node &n) {
  Reduction r = reductionOf(n, n.outType());
  double correction = correctionOf(n);
  if (n.failed())
    return;
  Emitter &e = n.e;
  Val variance = varianceAlong(n, r, correction);
  if (!e.trains)
    return n.out(e.unary(ops::Sqrt, variance));
  // PyTorch's gradient of 0 is 0, where that of a root is infinite.
  Val zero = e.scalar(variance.dtype(), 0), one = e.scalar(variance.dtype(), 1);
  Val isZero = e.make(ops::Equal, {variance, zero});
  Val root = e.unary(ops::Sqrt, e.select(isZero, one, variance));
  n.out(e.select(isZero, zero, root));
}

static void varianceAndMean(Node &n) {
  Reduction r = reductionOf(n, n.outType());
  double correction = correctionOf(n);
  if (n.failed())
    return;
  n.out(0, varianceAlong(n, r, correction));
  n.out(1, n.e.reduce(ops::ReduceMean, r.x, r.axes, r.keep));
}

static void norm(Node &n) {
  Emitter &e = n.e;
  StringRef name = n.op().starts_with("aten.norm") ? "p" : "ord";
  double order = n.has(name) ? n.number(name) : 2;
  Reduction r = reductionOf(n, n.type("dtype", n.outType()));
  if (n.failed())
    return;
  Val size = e.unary(ops::Abs, r.x);
  if (order == 2)
    return n.out(e.reduce(ops::ReduceL2Norm, r.x, r.axes, r.keep));
  if (order == 1)
    return n.out(e.reduce(ops::ReduceL1Norm, r.x, r.axes, r.keep));
  if (std::isinf(order))
    return n.out(e.reduce(order > 0 ? ops::ReduceMax : ops::ReduceMin, size,
                          r.axes, r.keep));
  if (order == 0) {
    Val isThere = e.make(ops::NotEqual, {size, e.scalar(size.dtype(), 0)});
    return n.out(e.reduce(ops::ReduceSum, e.cast(isThere, size.dtype()), r.axes,
                          r.keep));
  }
  Val powers = e.binary(ops::Pow, size, e.scalar(size.dtype(), order));
  Val sum = e.reduce(ops::ReduceSum, powers, r.axes, r.keep);
  n.out(e.binary(ops::Pow, sum, e.scalar(sum.dtype(), 1 / order)));
}

/// The index of the greatest or least element; of all elements in order, if
/// there is no axis.
template <const OpDef &Def>
static void indexAlong(Node &n) {
  Emitter &e = n.e;
  Item item = n.item("self");
  Val x = e.cast(item.val, Emitter::wideOf(item.val));
  bool keep = n.flag("keepdim"), isFlat = !n.has("dim");
  int64_t axis = 0;
  if (isFlat)
    x = e.reshape(x, {x.size()});
  else
    axis = n.axis("dim", x.rank());
  if (x.rank() == 0)
    x = e.reshape(x, {1});
  if (n.failed() || !x)
    return;
  Val found = e.make(Def, {x},
                     {{param::axis, axis}, {param::keepDims, keep && !isFlat}});
  if (isFlat && keep)
    return n.out(e.reshape(found, Shape(size_t(item.val.rank()), 1)));
  n.out(item.val.rank() == 0 ? e.reshape(found, {}) : found);
}

/// The greatest or least element of an axis, and its index.
template <const OpDef &Value, const OpDef &Index>
static void extremeAlong(Node &n) {
  Emitter &e = n.e;
  Item item = n.item("self");
  Val x = e.native(item.val);
  int64_t axis = n.axis("dim", x.rank());
  bool keep = n.flag("keepdim");
  if (n.failed() || !x)
    return;
  if (x.rank() == 0) {
    n.out(0, x);
    return n.out(1, e.scalar(DType::Int32, 0));
  }
  n.out(0, e.reduce(Value, x, {axis}, keep));
  n.out(1, e.make(Index, {e.cast(x, Emitter::wideOf(x))},
                  {{param::axis, axis}, {param::keepDims, keep}}));
}

/// Both of them.
static void bothExtremes(Node &n) {
  Reduction r = reductionOf(n, n.typeOf("self"));
  if (n.failed())
    return;
  n.out(0, n.e.reduce(ops::ReduceMin, r.x, r.axes, r.keep));
  n.out(1, n.e.reduce(ops::ReduceMax, r.x, r.axes, r.keep));
}

static void logSumExp(Node &n) {
  Reduction r = reductionOf(n, n.outType());
  if (!n.failed())
    n.out(n.e.reduce(ops::ReduceLogSumExp, r.x, r.axes, r.keep));
}

static void isAllTrue(Node &n) {
  Emitter &e = n.e;
  Val x = e.cast(n.in("self"), DType::Int32);
  if (x.rank() > 0)
    x = e.reduce(ops::ReduceMin, e.reshape(x, {x.size()}), {0}, false);
  n.out(e.cast(x, DType::Bool));
}

/// The number of elements in each of `bins` intervals of the same width.
static void histogram(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t bins = n.integer("bins");
  double least = n.number("min"), most = n.number("max");
  if (n.failed() || bins < 1 || !e.affords({bins, x.size()}) || !(least < most))
    return n.fail("its bounds must be given");
  Val flat = e.reshape(x, {1, x.size()});
  // As PyTorch computes it: the bin is the position times the number of bins.
  Val place = e.mul(e.add(flat, -least), double(bins) / (most - least));
  place = e.unary(ops::Floor, place);
  Val isLast = e.make(ops::Equal, {flat, e.scalar(x.dtype(), most)});
  place = e.select(isLast, e.scalar(x.dtype(), double(bins - 1)), place);
  std::vector<double> numbers;
  for (int64_t i = 0; i != bins; ++i)
    numbers.push_back(double(i));
  Val each = e.constant(Constant::fromDoubles({x.dtype(), {bins, 1}}, numbers));
  Val isThere = e.cast(e.make(ops::Equal, {place, each}), x.dtype());
  n.out(e.reduce(ops::ReduceSum, isThere, {1}, false));
}

static constexpr OpRow reductionTable[] = {
    {"aten._is_all_true.default", isAllTrue},
    {"aten.all.default", reduceTruth<ops::ReduceMin>},
    {"aten.all.dim", reduceTruth<ops::ReduceMin>},
    {"aten.all.dims", reduceTruth<ops::ReduceMin>},
    {"aten.amax.default", reduce<ops::ReduceMax>},
    {"aten.amin.default", reduce<ops::ReduceMin>},
    {"aten.aminmax.default", bothExtremes},
    {"aten.any.default", reduceTruth<ops::ReduceMax>},
    {"aten.any.dim", reduceTruth<ops::ReduceMax>},
    {"aten.any.dims", reduceTruth<ops::ReduceMax>},
    {"aten.argmax.default", indexAlong<ops::ReduceArgmax>},
    {"aten.argmin.default", indexAlong<ops::ReduceArgmin>},
    {"aten.histc.default", histogram, "the bounds must be given"},
    {"aten.linalg_vector_norm.default", norm},
    {"aten.logsumexp.default", logSumExp},
    {"aten.max.default", reduceAll<ops::ReduceMax>},
    {"aten.max.dim", extremeAlong<ops::ReduceMax, ops::ReduceArgmax>},
    {"aten.mean.default", reduceAll<ops::ReduceMean>},
    {"aten.mean.dim", reduce<ops::ReduceMean>},
    {"aten.min.default", reduceAll<ops::ReduceMin>},
    {"aten.min.dim", extremeAlong<ops::ReduceMin, ops::ReduceArgmin>},
    {"aten.norm.ScalarOpt_dim", norm},
    {"aten.prod.default", reduceAll<ops::ReduceProd>},
    {"aten.prod.dim_int", reduce<ops::ReduceProd>},
    {"aten.std.correction", deviation},
    {"aten.std.default", deviation},
    {"aten.std.dim", deviation},
    {"aten.sum.default", reduceAll<ops::ReduceSum>},
    {"aten.sum.dim_IntList", reduce<ops::ReduceSum>},
    {"aten.var.correction", variance},
    {"aten.var.default", variance},
    {"aten.var.dim", variance},
    {"aten.var_mean.correction", varianceAndMean},
    {"aten.var_mean.default", varianceAndMean},
    {"aten.var_mean.dim", varianceAndMean},
};

llvm::ArrayRef<OpRow> torch::reductionRows() { return reductionTable; }
