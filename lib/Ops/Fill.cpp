//===- Fill.cpp - arrays made from parameters -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Fill.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Fill.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace anec::param {
ANEC_PARAM(refTensor, "ref_tensor", Value)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// fill, fill_like
//===----------------------------------------------------------------------===//

static bool inferFill(InferContext &ctx) {
  return checkRange(ctx, param::shape, 1) && // C1
         ctx.result(
             {ctx.constant(param::fillValue)->dtype(), ctx.get(param::shape)});
}

static bool inferFillLike(InferContext &ctx) {
  return ctx.result(
      {ctx.constant(param::fillValue)->dtype(), ctx.type(0).shape});
}

static void evalFill(EvalContext &ctx) {
  RefTensor &out = ctx.out[0];
  std::fill(out.data.begin(), out.data.end(), ctx.get(param::fillValue));
}

constinit const OpDef ops::Fill = {
    .name = "fill",
    .summary = "An array of `shape` whose elements are all `value`.",
    .family = "fill",
    .params = {integers(param::shape),
               number(param::fillValue, "0.0", 'T', basicTypes)},
    .traits = trait::Mil,
    .constraints = {"extents are at least 1"},
    .infer = inferFill,
    .eval = evalFill,
};

constinit const OpDef ops::FillLike = {
    .name = "fill_like",
    .summary = "An array of the shape of `ref_tensor` whose elements are all "
               "`value`.",
    .family = "fill",
    .params = {value(param::refTensor, basicTypes),
               number(param::fillValue, "0.0", 'U', basicTypes)},
    .traits = trait::Mil | trait::ZeroGradient,
    .infer = inferFillLike,
    .eval = evalFill,
    .positions = {positions::same},
};

//===----------------------------------------------------------------------===//
// range_1d
//===----------------------------------------------------------------------===//

/// The number of elements of [start, end) in steps of `step`. Returns nothing
/// when there are none or more than 2^31 - 1.
static std::optional<int64_t> rangeCount(double start, double end,
                                         double step) {
  double count = std::ceil((end - start) / step);
  if (!(count >= 1 && count <= INT32_MAX))
    return std::nullopt;
  return int64_t(count);
}

static std::string spellNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

static bool inferRange(InferContext &ctx) {
  double start = ctx.constant(param::start)->asDouble(),
         end = ctx.constant(param::rangeEnd)->asDouble(),
         step = ctx.constant(param::step)->asDouble();
  auto count = rangeCount(start, end, step);
  if (!count) // C1
    return ctx.fail(diag::RangeEmpty(ctx.opName(), spellNumber(start),
                                     spellNumber(end), spellNumber(step)));
  return ctx.result({ctx.constant(param::start)->dtype(), *count});
}

static void evalRange(EvalContext &ctx) {
  double start = ctx.get(param::start), step = ctx.get(param::step);
  for (size_t i = 0; i < ctx.out[0].data.size(); ++i)
    ctx.out[0].data[i] = start + double(i) * step;
}

constinit const OpDef ops::Range1d = {
    .name = "range_1d",
    .summary = "The numbers from `start`, inclusive, to `end`, exclusive, in "
               "steps of `step`.",
    .family = "fill",
    .params = {number(param::rangeEnd, "", 'T', numbers),
               number(param::start, "", 'T', numbers),
               number(param::step, "", 'T', numbers)},
    .traits = trait::Mil,
    .constraints = {"the range has at least 1 number and fewer than 2^31"},
    .infer = inferRange,
    .eval = evalRange,
};

//===----------------------------------------------------------------------===//
// shape
//===----------------------------------------------------------------------===//

static bool inferShape(InferContext &ctx) {
  return checkRank(ctx, 0, 1, UINT_MAX) && // C1
         ctx.result({DType::Int32, ctx.type(0).rank()});
}

static void evalShape(EvalContext &ctx) {
  const Shape &shape = ctx.in[0]->type.shape;
  ctx.out[0].data.assign(shape.begin(), shape.end());
}

constinit const OpDef ops::ShapeOf = {
    .name = "shape",
    .summary = "The extents of `x`.",
    .family = "fill",
    .params = {value(param::x, movableTypes)},
    .traits = trait::Mil | trait::ZeroGradient,
    .constraints = {"`x` is not a scalar"},
    .infer = inferShape,
    .eval = evalShape,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// one_hot
//===----------------------------------------------------------------------===//

static bool inferOneHot(InferContext &ctx) {
  const TensorType &indices = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  if (!ctx.normalizeAxis(axis, indices.rank() + 1) || // C1
      !checkRange(ctx, param::oneHotVectorSize, 1))   // C2
    return false;
  Shape shape = indices.shape;
  shape.insert(shape.begin() + axis, ctx.get(param::oneHotVectorSize));
  return ctx.result({ctx.constant(param::onValue)->dtype(), shape});
}

/// An index outside of the vector selects no element.
static void evalOneHot(EvalContext &ctx) {
  const RefTensor &indices = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  AxisView view = viewAxis(out.type.shape,
                           normalized(ctx.get(param::axis), out.type.rank()));
  std::fill(out.data.begin(), out.data.end(), ctx.get(param::offValue));
  for (size_t i = 0; i < indices.data.size(); ++i) {
    int64_t index = int64_t(indices.data[i]);
    int64_t o = int64_t(i) / view.inner, n = int64_t(i) % view.inner;
    if (index >= 0 && index < view.extent)
      out.data[(o * view.extent + index) * view.inner + n] =
          ctx.get(param::onValue);
  }
}

static bool positionsOneHot(PositionFlow &f) {
  unsigned rank = f.rank(0) + 1, axis = *f.in[0];
  bool isAfter = PositionFlow::normalized(f.op.get(param::axis), rank) <= axis;
  return f.keep(axis + isAfter);
}

constinit const OpDef ops::OneHot = {
    .name = "one_hot",
    .summary =
        "A vector of `one_hot_vector_size` elements along a new `axis` for "
        "each of `indices`: `on_value` at the index, `off_value` elsewhere.",
    .family = "fill",
    .params = {value(param::indices, {DType::Int32}, 'I'),
               integer(param::oneHotVectorSize), integer(param::axis, "-1"),
               number(param::onValue, "1", 'T', basicTypes),
               number(param::offValue, "0", 'T', basicTypes)},
    // Indices have no gradient.
    .traits = trait::Mil | trait::ZeroGradient,
    .constraints = {"`axis` is an axis of the result",
                    "`one_hot_vector_size` is at least 1"},
    .infer = inferOneHot,
    .eval = evalOneHot,
    .positions = {positionsOneHot},
};

//===----------------------------------------------------------------------===//
// band_part
//===----------------------------------------------------------------------===//

static bool inferBandPart(InferContext &ctx) {
  return checkRank(ctx, 0, 2, UINT_MAX) &&    // C1
         checkRange(ctx, param::lower, -1) && // C2
         checkRange(ctx, param::upper, -1) && // C2
         inferSame(ctx);
}

static void evalBandPart(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  int64_t lower = ctx.get(param::lower), upper = ctx.get(param::upper);
  int64_t columns = x.type.shape.back();
  int64_t rows = x.type.shape[x.type.rank() - 2];
  for (size_t i = 0; i < x.data.size(); ++i) {
    int64_t row = int64_t(i) / columns % rows, column = int64_t(i) % columns;
    bool kept = (lower < 0 || row - column <= lower) &&
                (upper < 0 || column - row <= upper);
    ctx.out[0].data[i] = kept ? x.data[i] : 0.0;
  }
}

static void gradientBandPart(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::BandPart, {g.dy()},
                  {{param::lower, g.op.constant(param::lower)},
                   {param::upper, g.op.constant(param::upper)}});
  });
}

constinit const OpDef ops::BandPart = {
    .name = "band_part",
    .summary = "Copies the matrices `x`, with zeros in place of elements more "
               "than `lower` below or `upper` above the diagonal. -1 keeps all "
               "elements of that side.",
    .family = "fill",
    .params = {value(param::x, basicTypes), integer(param::lower, "-1"),
               integer(param::upper, "-1")},
    .traits = trait::Mil,
    .constraints = {"`x` has a rank of at least 2",
                    "`lower` and `upper` are at least -1"},
    .infer = inferBandPart,
    .eval = evalBandPart,
    .gradient = gradientBandPart,
    .positions = {positions::alongLast<2>},
};
