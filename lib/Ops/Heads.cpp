//===- Heads.cpp - per-head views and rotary embedding ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decompose.h"
#include "Elementwise.h"
#include "Infer.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Gradient.h"
#include "anec/Support/Half.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// split_heads, merge_heads
//===----------------------------------------------------------------------===//

static bool inferSplitHeads(InferContext &ctx) {
  TensorType x = ctx.type(0);
  if (!checkRank(ctx, 0, 2, 3) ||        // C1
      !checkRange(ctx, param::heads, 1)) // C2
    return false;
  int64_t heads = ctx.get(param::heads);
  int64_t &channels = x.shape[x.rank() - 2];
  if (channels % heads) // C3
    return ctx.fail(diag::HeadsUneven(ctx.opName(), channels, heads), {0});
  channels /= heads;
  x.shape.insert(&channels, heads);
  return ctx.result(x);
}

/// Both ops keep the elements in order and change only the shape.
static void decomposeToReshape(Builder &builder, const Op &op,
                               llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  results.push_back(d.reshape(op.operand(0u), op.result()->type.shape));
}

static void gradientSplitHeads(Gradient &g) {
  g.give(0, [&] { return g.make(ops::MergeHeads, {g.dy()}); });
}

constinit const OpDef ops::SplitHeads = {
    .name = "split_heads",
    .summary = "Reshapes [`heads` * width, positions] to [`heads`, width, "
               "positions]. Both may have a leading batch axis.",
    .family = "attention",
    .params = {value(param::x), integer(param::heads)},
    .traits = trait::DataMovement,
    .constraints = {"`x` has rank 2, or 3 with a batch",
                    "`heads` is at least 1",
                    "`heads` divides the channels of `x`"},
    .infer = inferSplitHeads,
    .eval = evalCopy,
    .decompose = decomposeToReshape,
    .gradient = gradientSplitHeads,
};

static bool inferMergeHeads(InferContext &ctx) {
  TensorType x = ctx.type(0);
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  unsigned heads = x.rank() - 3;
  x.shape[heads] *= x.shape[heads + 1];
  x.shape.erase(x.shape.begin() + heads + 1);
  return ctx.result(x);
}

static void gradientMergeHeads(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::SplitHeads, {g.dy()},
                  Attr(param::heads, g.shape(0)[g.rank(0) - 3]));
  });
}

constinit const OpDef ops::MergeHeads = {
    .name = "merge_heads",
    .summary = "Reshapes [heads, width, positions] to [heads * width, "
               "positions]. Both may have a leading batch axis.",
    .family = "attention",
    .params = {value(param::x)},
    .traits = trait::DataMovement,
    .constraints = {"`x` has rank 3, or 4 with a batch"},
    .infer = inferMergeHeads,
    .eval = evalCopy,
    .decompose = decomposeToReshape,
    .gradient = gradientMergeHeads,
};

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

/// [batch * heads, width, positions]: a batch counts as more heads.
static Shape headShape(llvm::ArrayRef<int64_t> shape) {
  return {saturatingProduct(shape.drop_back(2)), shape[shape.size() - 2],
          shape.back()};
}

static bool checkTheta(InferContext &ctx) {
  double theta = ctx.constant(param::theta)->asDouble();
  return (theta > 0 && !std::isinf(theta)) ||
         failNumber(ctx, param::theta, "a positive number");
}

static bool inferRope(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  Shape shape = headShape(ctx.type(0).shape);
  if (shape[1] % 2) // C2
    return ctx.fail(diag::RopeOdd(ctx.opName(), ctx.describeOperand(0)), {0});
  if (!checkChoice(ctx, param::style, {"interleaved", "half_split"})) // C3
    return false;
  if (!checkTheta(ctx)) // C4
    return false;
  if (shape[1] / 2 * shape[2] > maxBakedElements) // C5
    return ctx.fail(diag::RopeTableSize(ctx.opName(), ctx.describeOperand(0),
                                        maxBakedElements),
                    {0});
  return inferSame(ctx);
}

/// The angle by which each position rotates pair `i` of `width` / 2 further.
/// `Context` is an EvalContext or an Op.
template <typename Context>
static double ropeStep(const Context &ctx, int64_t i, int64_t width) {
  double step =
      std::pow(ctx.get(param::theta), -2.0 * double(i) / double(width));
  return ctx.get(param::inverse) ? -step : step;
}

static void evalRope(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  std::vector<double> &out = ctx.out[0].data;
  Shape shape = headShape(x.type.shape);
  int64_t heads = shape[0], width = shape[1], positions = shape[2];
  bool interleaved = ctx.get(param::style) == "interleaved";
  for (int64_t i = 0; i < width / 2; ++i) {
    int64_t first = interleaved ? 2 * i : i;
    int64_t second = interleaved ? 2 * i + 1 : i + width / 2;
    double step = ropeStep(ctx, i, width);
    for (int64_t p = 0; p < positions; ++p) {
      double c = std::cos(double(p) * step), s = std::sin(double(p) * step);
      for (int64_t h = 0; h < heads; ++h) {
        int64_t at = (h * width + first) * positions + p;
        int64_t partner = (h * width + second) * positions + p;
        out[at] = x.data[at] * c - x.data[partner] * s;
        out[partner] = x.data[partner] * c + x.data[at] * s;
      }
    }
  }
}

/// The cosines and sines of rope for positions from `first` on, each
/// [width, positions]; the sine of the first element of a pair is negative.
/// `Context` is an EvalContext or an Op.
template <typename Context>
static std::pair<std::vector<double>, std::vector<double>>
ropeTables(const Context &ctx, int64_t width, int64_t first,
           int64_t positions) {
  bool interleaved = ctx.get(param::style) == "interleaved";
  std::vector<double> cosines, sines;
  for (int64_t row = 0; row < width; ++row) {
    int64_t pair = interleaved ? row / 2 : row % (width / 2);
    bool isFirst = interleaved ? row % 2 == 0 : row < width / 2;
    double step = ropeStep(ctx, pair, width);
    for (int64_t p = first; p < first + positions; ++p) {
      double sine = std::sin(double(p) * step);
      cosines.push_back(std::cos(double(p) * step));
      sines.push_back(isFirst ? -sine : sine);
    }
  }
  return {std::move(cosines), std::move(sines)};
}

/// x cos + partner sin, where the partner of an element is the other one of its
/// pair. A batch counts as more heads, so that the tables, [1, width,
/// positions], are broadcast along channels alone: a product that broadcasts
/// along the batch axis is wrong on some systems (`batch-broadcast`).
static Value *rotatePairs(Decomposition &d, const Op &op, Value *cosine,
                          Value *sine) {
  const Shape original = op.operand(0u)->type.shape,
              shape = headShape(original);
  int64_t heads = shape[0], width = shape[1], positions = shape[2];
  bool interleaved = op.get(param::style) == "interleaved";
  auto view = [&](Value *value, const Shape &shape, llvm::StringRef part) {
    return value->type.shape == shape ? value : d.reshape(value, shape, part);
  };
  // Exchange the elements of each pair: rows 2i and 2i + 1, or the halves.
  Value *x = view(op.operand(0u), shape, "heads");
  const Shape paired =
      interleaved ? Shape{heads * (width / 2), 2, positions} : shape;
  Value *pairs = view(x, paired, "pairs");
  Shape half = paired;
  half[1] /= 2;
  auto slice = [&](int64_t from, llvm::StringRef part) {
    return d.make(
        ops::SliceBySize, {pairs},
        {Attr(param::begin, Shape{0, from, 0}), Attr(param::size, half)}, part);
  };
  Value *first = slice(0, "first"), *second = slice(half[1], "second");
  Value *exchanged =
      d.make(ops::Concat, {second, first}, Attr(param::axis, 1), "exchanged");
  Value *partner = view(exchanged, shape, "partner");

  Value *straight = d.make(ops::Mul, {x, cosine}, "x_cos");
  Value *crossed = d.make(ops::Mul, {partner, sine}, "partner_sin");
  bool isBatched = original.size() > shape.size();
  Value *turned =
      d.make(ops::Add, {straight, crossed}, isBatched ? "turned" : "");
  return view(turned, original, "");
}

static void decomposeRope(Builder &builder, const Op &op,
                          llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  Shape shape = headShape(op.operand(0u)->type.shape);
  auto [cosines, sines] = ropeTables(op, shape[1], 0, shape[2]);
  const Shape table = {1, shape[1], shape[2]};
  Value *cosine = d.array(table, cosines, "cos");
  Value *sine = d.array(table, sines, "sin");
  results.push_back(rotatePairs(d, op, cosine, sine));
}

static int64_t flopsRope(const Op &op) {
  return saturatingProduct({3, op.result()->type.numElements()});
}

/// The transpose of a rotation is its inverse.
static void gradientRope(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::Rope, {g.dy()},
                  {{param::style, g.op.constant(param::style)},
                   {param::theta, g.op.constant(param::theta)},
                   {param::inverse, !g.op.get(param::inverse)}});
  });
}

constinit const OpDef ops::Rope = {
    .name = "rope",
    .summary =
        "Applies rotary position embedding to [heads, width, positions], with "
        "or without a leading batch axis: rotates pair i of the width by the "
        "angle position * `theta`^(-2 i / width). Pair i is (2i, 2i + 1) with "
        "interleaved, and (i, i + width / 2) with half_split. `inverse` "
        "rotates by the negative angle.",
    .family = "attention",
    .params = {value(param::x), text(param::style, "\"interleaved\""),
               number(param::theta, "10000", 0, {DType::FP32}),
               boolean(param::inverse, "false")},
    .constraints = {"`x` has rank 3, or 4 with a batch", "the width is even",
                    "`style` is interleaved or half_split",
                    "`theta` is positive",
                    "there are at most 2^26 angles, because their sines and "
                    "cosines are stored in the program"},
    .infer = inferRope,
    .eval = evalRope,
    .decompose = decomposeRope,
    .flops = flopsRope,
    .gradient = gradientRope,
};

//===----------------------------------------------------------------------===//
// rope_table, rotate
//===----------------------------------------------------------------------===//

static bool inferRopeTable(InferContext &ctx) {
  if (!checkRank(ctx, 0, 0, 0) || // C1
      !checkRange(ctx, param::width, 2) ||
      !checkRange(ctx, param::positions, 1)) // C2
    return false;
  int64_t width = ctx.get(param::width), count = ctx.get(param::positions);
  if (width % 2) // C2
    return ctx.fail(diag::OddWidth(ctx.opName(), width));
  if (!checkChoice(ctx, param::style, {"interleaved", "half_split"}) || // C3
      !checkTheta(ctx))                                                 // C4
    return false;
  if (width / 2 * count > maxBakedElements) // C5
    return ctx.fail(diag::RopeTableSize(ctx.opName(), ctx.describeOperand(0),
                                        maxBakedElements),
                    {0});
  if (!checkChoice(ctx, param::dtype, {"fp16", "fp32"})) // C6
    return false;
  TensorType table(*parseDType(ctx.get(param::dtype)), {1, width, count});
  ctx.results.assign(2, table);
  return true;
}

/// In fp16, the numbers are those that a program of `rope` stores, whatever the
/// numerics that it runs with.
static void evalRopeTable(EvalContext &ctx) {
  auto [cosines, sines] =
      ropeTables(ctx, ctx.get(param::width), int64_t(ctx.in[0]->data[0]),
                 ctx.get(param::positions));
  if (ctx.out[0].type.dtype == DType::FP16)
    for (std::vector<double> *table : {&cosines, &sines})
      for (double &number : *table)
        number = roundToHalf(number);
  ctx.out[0].data = std::move(cosines);
  ctx.out[1].data = std::move(sines);
}

constinit const OpDef ops::RopeTable = {
    .name = "rope_table",
    .summary =
        "The tables with which `rotate` turns heads of `width` as `rope` turns "
        "the `positions` from `position` on. The sines of the first elements "
        "of pairs are negative.",
    .family = "attention",
    .params = {value(param::position, {DType::Int32}, 0), integer(param::width),
               integer(param::positions), text(param::style, "\"interleaved\""),
               number(param::theta, "10000", 0, {DType::FP32}),
               boolean(param::inverse, "false"),
               text(param::dtype, "\"fp16\"")},
    .traits = trait::NotCallable,
    .constraints = {"`position` is a scalar",
                    "`width` is even and at least 2, and `positions` at least "
                    "1",
                    "`style` is interleaved or half_split",
                    "`theta` is positive", "there are at most 2^26 angles",
                    "`dtype` is fp16 or fp32"},
    .resultNames = {"cosines", "sines"},
    .infer = inferRopeTable,
    .eval = evalRopeTable,
};

static bool inferRotate(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  Shape shape = headShape(ctx.type(0).shape);
  if (shape[1] % 2) // C2
    return ctx.fail(diag::RopeOdd(ctx.opName(), ctx.describeOperand(0)), {0});
  Shape table = {1, shape[1], shape[2]};
  return checkShape(ctx, 1, table) && checkShape(ctx, 2, table) &&        // C3
         checkChoice(ctx, param::style, {"interleaved", "half_split"}) && // C4
         inferSame(ctx);
}

static void evalRotate(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  Shape shape = headShape(x.type.shape);
  int64_t width = shape[1], positions = shape[2];
  bool interleaved = ctx.get(param::style) == "interleaved";
  for (int64_t h = 0; h < shape[0]; ++h)
    for (int64_t row = 0; row < width; ++row) {
      int64_t partner = interleaved ? row ^ 1 : (row + width / 2) % width;
      for (int64_t p = 0; p < positions; ++p) {
        int64_t at = (h * width + row) * positions + p;
        int64_t other = (h * width + partner) * positions + p;
        int64_t entry = row * positions + p;
        ctx.out[0].data[at] = x.data[at] * ctx.in[1]->data[entry] +
                              x.data[other] * ctx.in[2]->data[entry];
      }
    }
}

static void decomposeRotate(Builder &builder, const Op &op,
                            llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  results.push_back(
      rotatePairs(d, op, op.operand(param::cosines), op.operand(param::sines)));
}

constinit const OpDef ops::Rotate = {
    .name = "rotate",
    .summary =
        "Applies rotary position embedding to `x`, [heads, width, positions], "
        "with or without a leading batch axis, by the tables that "
        "`rope_table` computes: each element times its cosine, plus the other "
        "element of its pair times its sine.",
    .family = "attention",
    .params = {value(param::x),
               value(param::cosines, floats, 'T', "[1, width, positions]"),
               value(param::sines, floats, 'T', "[1, width, positions]"),
               text(param::style, "\"interleaved\"")},
    .traits = trait::NotCallable,
    .constraints = {"`x` has rank 3, or 4 with a batch", "the width is even",
                    "the tables are [1, width, positions]",
                    "`style` is interleaved or half_split"},
    .infer = inferRotate,
    .eval = evalRotate,
    .decompose = decomposeRotate,
    .flops = flopsRope,
};
