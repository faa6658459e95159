//===- Scatter.cpp - writes at indices --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The writes that correspond to the lookups of Gather.cpp: `updates` are
/// written, one after another, where a lookup would read. MIL does not define
/// what an index outside of the data does; the reference writes to the nearest
/// element.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Scatter.h"
#include "Indices.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Select.h"
#include <cmath>
#include <numeric>

using namespace anec;

static constexpr llvm::StringRef modeNames = oneOf<"`mode` is ", ScatterMode>;

using Combine = double (*)(double old, double update);

static Combine combinationOf(const EvalContext &ctx) {
  switch (ctx.get(param::scatterMode)) {
  case ScatterMode::Add:
    return [](double old, double update) { return old + update; };
  case ScatterMode::Div:
    return [](double old, double update) { return old / update; };
  case ScatterMode::Max:
    return larger;
  case ScatterMode::Min:
    return smaller;
  case ScatterMode::Mul:
    return [](double old, double update) { return old * update; };
  case ScatterMode::Sub:
    return [](double old, double update) { return old - update; };
  case ScatterMode::Update:
    return [](double, double update) { return update; };
  }
  llvm_unreachable("a mode without a function");
}

/// Copies `data` to the result, to be updated there.
static RefTensor &copyData(EvalContext &ctx) {
  ctx.out[0].data = ctx.in[0]->data;
  return ctx.out[0];
}

namespace {

/// The gradient of a scatter, computed with the lookup at the same indices.
class ScatterGradient {
public:
  ScatterGradient(Gradient &g, const OpDef &lookup)
      : g(g), lookup(lookup), mode(g.op.get(param::scatterMode)) {
    if (g.op.def().constantSlot(param::axis) >= 0)
      axisAttr.emplace_back(param::axis, g.op.constant(param::axis));
  }

  Value *indices() { return g.op.operand(1u); }
  Value *read(Value *data) {
    return g.make(lookup, {data, indices()}, axisAttr);
  }
  Value *write(Value *data, Value *updates) {
    llvm::SmallVector<Attr, 1> attrs(axisAttr);
    attrs.emplace_back(param::scatterMode, ScatterMode::Update);
    return g.make(g.op.def(), {data, indices(), updates}, attrs);
  }

  /// Builds the gradients. `last(w)` builds a condition: whether an update was
  /// not overwritten by a later one.
  void give(llvm::function_ref<Value *(ScatterGradient &)> last) {
    if (!hasRule()) {
      g.refuse("mode `" + spelling(mode).str() + "` has no gradient rule");
      return;
    }
    // Updates are numbered to find the last one at each position.
    if (mode == ScatterMode::Update && !g.canBake(g.shape(1)))
      return;
    g.give(0, [&] {
      return mode == ScatterMode::Update ? write(g.dy(), g.fill(g.shape(2), 0))
                                         : g.dy();
    });
    g.give(2, [&] {
      Value *updates = read(g.dy());
      if (mode == ScatterMode::Sub)
        return g.negate(updates);
      return mode == ScatterMode::Update ? g.where(last(*this), updates)
                                         : updates;
    });
  }
  /// Writes 0, 1, 2, ... in `shape` at the indices into a tensor of shape
  /// `data`, and compares which of them were not overwritten.
  Value *remaining(llvm::ArrayRef<int64_t> data,
                   llvm::ArrayRef<int64_t> shape) {
    auto zeros = Constant::scalar(DType::Int32, 0);
    Value *ids = g.make(ops::Fill, {},
                        {{param::shape, data}, {param::fillValue, zeros}});
    Shape numbers(TensorType(DType::Int32, shape).numElements());
    std::iota(numbers.begin(), numbers.end(), 0);
    Value *own = g.indices(shape, numbers);
    return g.make(ops::Equal, {read(write(ids, own)), own});
  }

  Gradient &g;

private:
  bool hasRule() const {
    switch (mode) {
    case ScatterMode::Add:
    case ScatterMode::Sub:
    case ScatterMode::Update:
      return true;
    case ScatterMode::Div:
    case ScatterMode::Max:
    case ScatterMode::Min:
    case ScatterMode::Mul:
      return false;
    }
    llvm_unreachable("an unknown mode");
  }

  const OpDef &lookup;
  ScatterMode mode;
  llvm::SmallVector<Attr, 1> axisAttr;
};

} // namespace

static constexpr OpDef scatter(llvm::StringLiteral name,
                               llvm::StringLiteral summary,
                               bool (*infer)(InferContext &),
                               void (*eval)(EvalContext &),
                               void (*gradient)(Gradient &)) {
  return {.name = name,
          .summary = summary,
          .family = "scatter",
          .params = {value(param::data, numbers),
                     value(param::indices, indexTypes, 'I'),
                     value(param::updates, numbers), integer(param::axis, "0"),
                     mode(param::scatterMode, ScatterMode::Add),
                     since(17, boolean(param::validateIndices, "false"))},
          .traits = trait::Mil,
          .infer = infer,
          .eval = eval,
          .gradient = gradient,
          .positions = {positions::moved}};
}

//===----------------------------------------------------------------------===//
// scatter
//===----------------------------------------------------------------------===//

static bool inferScatter(InferContext &ctx) {
  const TensorType &data = ctx.type(0), &indices = ctx.type(1);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, data.rank()) || // C1
      !checkMode(ctx, param::scatterMode))     // C2
    return false;
  Shape expected(data.shape.begin(), data.shape.begin() + axis);
  expected.append(indices.shape);
  expected.append(data.shape.begin() + axis + 1, data.shape.end());
  return checkShape(ctx, 2, expected) && inferSame(ctx); // C3
}

/// data is [outer, extent, inner], and updates [outer, indices, inner].
static void evalScatter(EvalContext &ctx) {
  RefTensor &out = copyData(ctx);
  const std::vector<double> &indices = ctx.in[1]->data;
  Combine combine = combinationOf(ctx);
  AxisView view = viewAxis(out.type.shape,
                           normalized(ctx.get(param::axis), out.type.rank()));
  const double *update = ctx.in[2]->data.data();
  for (int64_t o = 0; o < view.outer; ++o)
    for (double index : indices) {
      double *row =
          &out.data[(o * view.extent + resolveIndex(index, view.extent)) *
                    view.inner];
      for (int64_t n = 0; n < view.inner; ++n)
        row[n] = combine(row[n], *update++);
    }
  settleIntegers(out);
}

static void gradientScatter(Gradient &g) {
  ScatterGradient(g, ops::Gather).give([](ScatterGradient &w) -> Value * {
    // Whether a slice was overwritten is the same for all of its elements, so
    // this works on vectors of slice numbers.
    Gradient &g = w.g;
    int64_t axis = normalized(g.op.get(param::axis), g.rank(0));
    const Shape &indices = g.shape(1);
    Value *flat = g.reshape(w.indices(), w.indices()->type.numElements());
    int64_t count = flat->type.shape[0];
    Shape numbers(count), aligned(axis, 1);
    std::iota(numbers.begin(), numbers.end(), 0);
    Value *own = g.indices(count, numbers);
    Value *ids =
        g.make(ops::Fill, {},
               {{param::shape, llvm::ArrayRef<int64_t>(g.shape(0)[axis])},
                {param::fillValue, Constant::scalar(DType::Int32, 0)}});
    ids = g.make(ops::Scatter, {ids, flat, own},
                 Attr(param::scatterMode, ScatterMode::Update));
    Value *last = g.make(ops::Equal, {g.make(ops::Gather, {ids, flat}), own});
    aligned.append(indices);
    aligned.append(g.rank(0) - axis - 1, 1);
    return g.reshape(last, aligned);
  });
}

static constexpr OpDef scatterRow() {
  OpDef def =
      scatter("scatter",
              "Copies `data`, with the slices of `updates` combined by `mode` "
              "into the slices along `axis` selected by `indices`.",
              inferScatter, evalScatter, gradientScatter);
  def.constraints = {"`axis` is an axis of `data`", modeNames,
                     "`updates` has the shape of `data`, with the shape of "
                     "`indices` in place of `axis`"};
  return def;
}
constinit const OpDef ops::Scatter = scatterRow();

//===----------------------------------------------------------------------===//
// scatter_along_axis
//===----------------------------------------------------------------------===//

static bool inferScatterAlongAxis(InferContext &ctx) {
  return checkMode(ctx, param::scatterMode) &&    // C1
         checkAlongAxis(ctx) &&                   // C2, C3
         checkShape(ctx, 2, ctx.type(1).shape) && // C4
         inferSame(ctx);
}

static void evalScatterAlongAxis(EvalContext &ctx) {
  RefTensor &out = copyData(ctx);
  Combine combine = combinationOf(ctx);
  const std::vector<double> &updates = ctx.in[2]->data;
  forEachAlongAxis(ctx, [&](int64_t from, int64_t at) {
    out.data[at] = combine(out.data[at], updates[from]);
  });
  settleIntegers(out);
}

static void gradientScatterAlongAxis(Gradient &g) {
  ScatterGradient(g, ops::GatherAlongAxis).give([](ScatterGradient &w) {
    return w.remaining(w.g.shape(0), w.g.shape(1));
  });
}

static constexpr OpDef scatterAlongAxisRow() {
  OpDef def = scatter("scatter_along_axis",
                      "Copies `data`, with each element of `updates` combined "
                      "by `mode` into the element at the same position, except "
                      "that `indices` gives the position along `axis`.",
                      inferScatterAlongAxis, evalScatterAlongAxis,
                      gradientScatterAlongAxis);
  def.traits |= trait::AlongAxis;
  def.constraints = {modeNames, "`axis` is an axis of `data`",
                     "`indices` have the shape of `data` except at `axis`",
                     "`updates` have the shape of `indices`"};
  return def;
}
constinit const OpDef ops::ScatterAlongAxis = scatterAlongAxisRow();

//===----------------------------------------------------------------------===//
// scatter_nd
//===----------------------------------------------------------------------===//

static bool inferScatterNd(InferContext &ctx) {
  const TensorType &data = ctx.type(0), &indices = ctx.type(1);
  if (!checkRank(ctx, 1, 1, UINT_MAX) ||   // C1
      !checkIndexDepth(ctx, 0) ||          // C2
      !checkMode(ctx, param::scatterMode)) // C3
    return false;
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  expected.append(data.shape.begin() + indices.shape.back(), data.shape.end());
  return checkShape(ctx, 2, expected) && inferSame(ctx); // C4
}

static void evalScatterNd(EvalContext &ctx) {
  RefTensor &out = copyData(ctx);
  Combine combine = combinationOf(ctx);
  const double *update = ctx.in[2]->data.data();
  forEachIndexed(*ctx.in[1], out.type.shape, /*batchDims=*/0,
                 [&](int64_t at, int64_t count) {
                   for (int64_t i = 0; i < count; ++i)
                     out.data[at + i] = combine(out.data[at + i], *update++);
                 });
  settleIntegers(out);
}

static void gradientScatterNd(Gradient &g) {
  ScatterGradient(g, ops::GatherNd).give([](ScatterGradient &w) {
    Gradient &g = w.g;
    llvm::ArrayRef<int64_t> indices = g.shape(1);
    Shape rows(indices.drop_back());
    llvm::ArrayRef<int64_t> indexed =
        llvm::ArrayRef(g.shape(0)).take_front(indices.back());
    Value *last = w.remaining(indexed, rows);
    Shape aligned = rows;
    aligned.append(g.rank(0) - indexed.size(), 1);
    return g.reshape(last, aligned);
  });
}

constinit const OpDef ops::ScatterNd = {
    .name = "scatter_nd",
    .summary = "Copies `data`, with the slices of `updates` combined by `mode` "
               "into the slices selected by the rows of `indices`, each of "
               "which holds the leading indices of a slice.",
    .family = "scatter",
    .params = {value(param::data, numbers),
               value(param::indices, indexTypes, 'I'),
               value(param::updates, numbers),
               mode(param::scatterMode, ScatterMode::Add),
               since(17, boolean(param::validateIndices, "false"))},
    .traits = trait::Mil,
    .constraints = {"`indices` is not a scalar",
                    "rows of `indices` have at most as many elements as the "
                    "rank of `data`",
                    modeNames,
                    "`updates` has the leading extents of `indices` and the "
                    "trailing extents of `data`"},
    .infer = inferScatterNd,
    .eval = evalScatterNd,
    .gradient = gradientScatterNd,
    .positions = {positions::moved},
};
