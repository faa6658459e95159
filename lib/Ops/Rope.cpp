//===- Rope.cpp - rotary embedding ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Rope.h"
#include "Decompose.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/RopeAngles.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Support/Half.h"
#include <cmath>

namespace anec::param {
ANEC_PARAM(cosines, "cosines", Value)
ANEC_PARAM(sines, "sines", Value)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

/// [batch * heads, width, positions]: a batch counts as more heads.
static Shape headShape(llvm::ArrayRef<int64_t> shape) {
  return {saturatingProduct(shape.drop_back(2)), shape[shape.size() - 2],
          shape.back()};
}

/// A divisor for each pair of channels.
static constexpr ParamDef factorsOfPairs(const AnyParam &name) {
  return {name, ParamKind::OptionalConstant, {DType::FP32}, 0, 1,
          "",   "one for each pair"};
}

static constexpr ParamDef described(ParamDef def, llvm::StringLiteral doc) {
  def.doc = doc;
  return def;
}

static bool failRotary(InferContext &ctx, int64_t rotary) {
  return ctx.fail(
      diag::RopeRotary(ctx.opName(), rotary, ctx.describeOperand(0)), {0});
}

/// Whether `name`, a list for each pair, is there exactly where it is used, and
/// has a positive number for each of them.
static bool checkFactors(InferContext &ctx, const ConstantParam &name,
                         int64_t pairs) {
  const Constant *factors = ctx.constant(name);
  RopeScalingKind kind = ctx.get(param::scaling);
  if (kind != RopeScalingKind::LongRope)
    return !factors ||
           ctx.fail(diag::RopeNotUsed(ctx.opName(), name, spelling(kind)));
  if (!factors)
    return ctx.fail(diag::RopeMissing(ctx.opName(), spelling(kind), name));
  // Layers without rotation can share their text with others.
  if (pairs > 0 && !checkLength(ctx, name, size_t(pairs)))
    return false;
  for (double factor : factors->asDoubles())
    if (!(factor > 0) || std::isinf(factor))
      return ctx.fail(diag::RopeFactor(ctx.opName(), name));
  return true;
}

/// Whether the parameters of scaling belong to its kind.
static bool checkScaling(InferContext &ctx, int64_t rotary) {
  if (!checkMode(ctx, param::scaling)) // C6
    return false;
  RopeScalingKind kind = ctx.get(param::scaling);
  bool isByTurns = hasTurns(kind);
  if (!hasFactor(kind) && ctx.get(param::factor) != 1) // C6
    return ctx.fail(
        diag::RopeNotUsed(ctx.opName(), param::factor, spelling(kind)));
  if (!checkRange(ctx, param::positions, 0) || // C7
      !checkRange(ctx, param::originalPositions, 0))
    return false;
  if (hasOriginal(kind) && ctx.get(param::originalPositions) == 0) // C7
    return ctx.fail(diag::RopeMissing(ctx.opName(), spelling(kind),
                                      param::originalPositions));
  double slow = ctx.get(param::slowTurns), fast = ctx.get(param::fastTurns);
  if (isByTurns && !(slow > 0)) // C7
    return failNumber(ctx, param::slowTurns, "a positive number");
  if (isByTurns && (!(fast > slow) || std::isinf(fast))) // C7
    return failNumber(ctx, param::fastTurns, "more than `slow_turns`");
  return checkFactors(ctx, param::shortFactors, rotary / 2) && // C8
         checkFactors(ctx, param::longFactors, rotary / 2);
}

/// Whether the constants that `rope` and `rope_table` have in common are of
/// angles for `rotary` channels.
static bool checkAngles(InferContext &ctx, int64_t rotary) {
  if (!checkMode(ctx, param::style)) // C3
    return false;
  for (const FloatParam &positive :
       {param::theta, param::factor, param::magnitude}) {
    double number = ctx.get(positive);
    if (!(number > 0) || std::isinf(number)) // C4
      return failNumber(ctx, positive, "a positive number");
  }
  return checkScaling(ctx, rotary);
}

static bool checkTableSize(InferContext &ctx, int64_t width, int64_t count) {
  return width / 2 * count <= maxBakedElements || // C5
         ctx.fail(diag::RopeTableSize(ctx.opName(), ctx.describeOperand(0),
                                      maxBakedElements),
                  {0});
}

static bool inferRope(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  Shape shape = headShape(ctx.type(0).shape);
  if (shape[1] % 2) // C2
    return ctx.fail(diag::RopeOdd(ctx.opName(), ctx.describeOperand(0)), {0});
  int64_t rotary = ctx.get(param::rotary);
  if (rotary < -1 || rotary > shape[1] || (rotary > 0 && rotary % 2)) // C2
    return failRotary(ctx, rotary);
  if (rotary < 0)
    rotary = shape[1];
  return checkAngles(ctx, rotary) && checkTableSize(ctx, shape[1], shape[2]) &&
         inferSame(ctx);
}

static void evalRope(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  std::vector<double> &out = ctx.out[0].data;
  Shape shape = headShape(x.type.shape);
  int64_t heads = shape[0], width = shape[1], positions = shape[2];
  RopeAngles angles(ctx);
  out = x.data;
  for (int64_t i = 0; i < angles.channels() / 2; ++i)
    for (int64_t p = 0; p < positions; ++p) {
      double c = angles.cosine(i, p), s = angles.sine(i, p);
      for (int64_t h = 0; h < heads; ++h) {
        int64_t at = (h * width + angles.first(i)) * positions + p;
        int64_t partner = (h * width + angles.second(i)) * positions + p;
        out[at] = x.data[at] * c - x.data[partner] * s;
        out[partner] = x.data[partner] * c + x.data[at] * s;
      }
    }
}

namespace {
/// Cosines and sines for consecutive positions, each [channels, positions]; the
/// sine of the first element of a pair is negative.
struct RopeTables {
  std::vector<double> cosines, sines;

  /// Of equally many positions from each of `from` on.
  RopeTables(const RopeAngles &angles, llvm::ArrayRef<double> from,
             int64_t positions)
      : cosines(size_t(angles.channels() * positions)), sines(cosines.size()) {
    int64_t run = positions / int64_t(from.size());
    for (int64_t pair = 0; pair < angles.channels() / 2; ++pair)
      for (int64_t p = 0; p < positions; ++p) {
        size_t first = size_t(angles.first(pair) * positions + p);
        size_t second = size_t(angles.second(pair) * positions + p);
        int64_t position = int64_t(from[size_t(p / run)]) + p % run;
        cosines[first] = cosines[second] = angles.cosine(pair, position);
        sines[second] = angles.sine(pair, position);
        sines[first] = -sines[second];
      }
  }
};
} // namespace

/// x cos + partner sin, where the partner of an element is the other one of its
/// pair. A batch counts as more heads, so that the tables, [1, channels,
/// positions], are broadcast along channels alone: a product that broadcasts
/// along the batch axis is wrong on some systems (`batch-broadcast`). Channels
/// that the tables lack are taken off before, and put behind the others again.
static Value *rotatePairs(Decomposition &d, const Op &op, Value *cosine,
                          Value *sine) {
  const Shape original = op.operand(0u)->type.shape,
              shape = headShape(original);
  int64_t heads = shape[0], width = shape[1], positions = shape[2];
  int64_t rotary = cosine->type.shape[1];
  bool interleaved = op.get(param::style) == RopeStyle::Interleaved;
  auto view = [&](Value *value, const Shape &shape, llvm::StringRef part) {
    return value->type.shape == shape ? value : d.reshape(value, shape, part);
  };
  auto slice = [&](Value *value, int64_t from, int64_t count,
                   llvm::StringRef part) {
    Shape size = value->type.shape;
    size[1] = count;
    return d.make(
        ops::SliceBySize, {value},
        {Attr(param::begin, Shape{0, from, 0}), Attr(param::size, size)}, part);
  };
  Value *all = view(op.operand(0u), shape, "heads");
  bool isPartial = rotary < width;
  Value *x = isPartial ? slice(all, 0, rotary, "rotated") : all;
  // Exchange the elements of each pair: rows 2i and 2i + 1, or the halves.
  const Shape rotated = {heads, rotary, positions};
  const Shape paired =
      interleaved ? Shape{heads * (rotary / 2), 2, positions} : rotated;
  Value *pairs = view(x, paired, "pairs");
  int64_t half = paired[1] / 2;
  Value *first = slice(pairs, 0, half, "first"),
        *second = slice(pairs, half, half, "second");
  Value *exchanged =
      d.make(ops::Concat, {second, first}, Attr(param::axis, 1), "exchanged");
  Value *partner = view(exchanged, rotated, "partner");

  Value *straight = d.make(ops::Mul, {x, cosine}, "x_cos");
  Value *crossed = d.make(ops::Mul, {partner, sine}, "partner_sin");
  bool isBatched = original.size() > shape.size();
  Value *turned = d.make(ops::Add, {straight, crossed},
                         isBatched || isPartial ? "turned" : "");
  if (isPartial) {
    Value *rest = slice(all, rotary, width - rotary, "rest");
    turned = d.make(ops::Concat, {turned, rest}, Attr(param::axis, 1),
                    isBatched ? "joined" : "");
  }
  return view(turned, original, "");
}

static void decomposeRope(Builder &builder, const Op &op,
                          llvm::SmallVectorImpl<Value *> &results) {
  Decomposition d(builder, op);
  RopeAngles angles(op);
  if (angles.channels() == 0) {
    results.push_back(op.operand(0u));
    return;
  }
  int64_t positions = op.operand(0u)->type.shape.back();
  RopeTables tables(angles, {0.0}, positions);
  const Shape shape = {1, angles.channels(), positions};
  Value *cosine = d.array(shape, tables.cosines, "cos");
  Value *sine = d.array(shape, tables.sines, "sin");
  results.push_back(rotatePairs(d, op, cosine, sine));
}

static int64_t flopsRope(const Op &op) {
  return saturatingProduct({3, op.result()->type.numElements()});
}

/// The transpose of a rotation is its inverse.
static void gradientRope(Gradient &g) {
  g.give(0, [&] {
    llvm::SmallVector<Attr> attrs;
    for (const ParamDef &param : g.op.def().parameters()) {
      if (!param.isConstant() || param.name == param::inverse)
        continue;
      if (const Constant *constant = g.op.constant(param.asConstant()))
        attrs.emplace_back(param.asConstant(), constant);
    }
    attrs.emplace_back(param::inverse, !g.op.get(param::inverse));
    return g.make(ops::Rope, {g.dy()}, attrs);
  });
}

constinit const OpDef ops::Rope = {
    .name = "rope",
    .summary =
        "Applies rotary position embedding to [heads, width, positions], with "
        "or without a leading batch axis: rotates pair i of the first `rotary` "
        "channels of each head by the angle position * `theta`^(-2 i / "
        "`rotary`), and multiplies them by `magnitude`. Pair i is (2i, 2i + 1) "
        "with interleaved, and (i, i + `rotary` / 2) with half_split. "
        "`inverse` rotates by the negative angle. `scaling` makes models read "
        "longer texts than they were trained with, `original_positions`: "
        "linear divides all angles by `factor`; dynamic takes a larger theta "
        "where `positions` exceeds them; llama3 and yarn divide the angles of "
        "pairs that turn less than `slow_turns` times within them, leave "
        "those that turn more than `fast_turns` times, and interpolate "
        "between; longrope divides by a number for each pair: the long ones "
        "where `positions` exceeds them, else the short ones.",
    .family = "attention",
    .params = {value(param::x), mode(param::style, RopeStyle::Interleaved),
               number(param::theta, "10000", 0, {DType::FP32}),
               boolean(param::inverse, "false"),
               described(integer(param::rotary, "-1"),
                         "the channels that are rotated; -1 is all"),
               mode(param::scaling, RopeScalingKind::None),
               number(param::factor, "1", 0, {DType::FP32}),
               integer(param::originalPositions, "0"),
               number(param::slowTurns, "1", 0, {DType::FP32}),
               number(param::fastTurns, "32", 0, {DType::FP32}),
               number(param::magnitude, "1", 0, {DType::FP32}),
               factorsOfPairs(param::shortFactors),
               factorsOfPairs(param::longFactors),
               described(integer(param::positions, "0"),
                         "the length that scaling is for; 0 is that of `x`")},
    .constraints =
        {"`x` has rank 3, or 4 with a batch",
         "the width is even, and so is `rotary`, which is -1 or at most the "
         "width",
         oneOf<"`style` is ", RopeStyle>,
         "`theta`, `factor` and `magnitude` are positive",
         "there are at most 2^26 angles, because their sines and cosines are "
         "stored in the program",
         oneOf<"`scaling` is ", RopeScalingKind,
               "; `factor` is 1 with none and longrope">,
         "`original_positions` is given with dynamic, llama3, yarn and "
         "longrope; `slow_turns` is positive and less than `fast_turns` with "
         "llama3 and yarn",
         "`short_factors` and `long_factors` have a positive number for each "
         "pair with longrope, of any number if none is rotated, and are absent "
         "with others"},
    .infer = inferRope,
    .eval = evalRope,
    .decompose = decomposeRope,
    .flops = flopsRope,
    .gradient = gradientRope,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// rope_table, rotate
//===----------------------------------------------------------------------===//

static bool inferRopeTable(InferContext &ctx) {
  if (!checkRank(ctx, 0, 0, 1) || // C1
      !checkRange(ctx, param::width, 2) ||
      !checkRange(ctx, param::count, 1)) // C2
    return false;
  int64_t width = ctx.get(param::width), count = ctx.get(param::count);
  const Shape &position = ctx.type(0).shape;
  if (!position.empty() && (position[0] < 1 || count % position[0])) // C1
    return checkShape(ctx, 0, {count});
  if (width % 2) // C2
    return ctx.fail(diag::OddWidth(ctx.opName(), width));
  if (!checkAngles(ctx, width) || !checkTableSize(ctx, width, count) ||
      !checkDType(ctx, param::dtype, {DType::FP16, DType::FP32})) // C7
    return false;
  TensorType table(ctx.get(param::dtype), {1, width, count});
  ctx.results.assign(2, table);
  return true;
}

/// In fp16, the numbers are those that a program of `rope` stores, whatever the
/// numerics that it runs with.
static void evalRopeTable(EvalContext &ctx) {
  RopeTables tables(RopeAngles::ofTable(ctx), ctx.in[0]->data,
                    ctx.get(param::count));
  if (ctx.out[0].type.dtype == DType::FP16)
    for (std::vector<double> *table : {&tables.cosines, &tables.sines})
      for (double &number : *table)
        number = roundToHalf(number);
  ctx.out[0].data = std::move(tables.cosines);
  ctx.out[1].data = std::move(tables.sines);
}

constinit const OpDef ops::RopeTable = {
    .name = "rope_table",
    .summary =
        "The tables with which `rotate` turns `width` channels of each head as "
        "`rope` turns the `count` positions from `position` on, or, with a "
        "list, "
        "equally many from each of its positions on. The sines of "
        "the first elements of pairs are negative.",
    .family = "attention",
    .params = {value(param::position, {DType::Int32}, 0), integer(param::width),
               integer(param::count),
               mode(param::style, RopeStyle::Interleaved),
               number(param::theta, "10000", 0, {DType::FP32}),
               boolean(param::inverse, "false"),
               mode(param::scaling, RopeScalingKind::None),
               number(param::factor, "1", 0, {DType::FP32}),
               integer(param::originalPositions, "0"),
               number(param::slowTurns, "1", 0, {DType::FP32}),
               number(param::fastTurns, "32", 0, {DType::FP32}),
               number(param::magnitude, "1", 0, {DType::FP32}),
               factorsOfPairs(param::shortFactors),
               factorsOfPairs(param::longFactors),
               described(integer(param::positions, "0"),
                         "the length that scaling is for; 0 is `count`"),
               dtypeName(param::dtype, DType::FP16)},
    .traits = trait::NotCallable,
    .constraints = {"`position` is a scalar, or a list whose length divides "
                    "`count`",
                    "`width` is even and at least 2, and `count` at least 1",
                    oneOf<"`style` is ", RopeStyle>,
                    "`theta`, `factor` and `magnitude` are positive",
                    "there are at most 2^26 angles",
                    "`scaling` and what belongs to it are as `rope` takes them",
                    "`dtype` is fp16 or fp32"},
    .resultNames = {"cosines", "sines"},
    .infer = inferRopeTable,
    .eval = evalRopeTable,
    .positions = {positions::apart},
};

static bool inferRotate(InferContext &ctx) {
  if (!checkRank(ctx, 0, 3, 4)) // C1
    return false;
  Shape shape = headShape(ctx.type(0).shape);
  if (shape[1] % 2) // C2
    return ctx.fail(diag::RopeOdd(ctx.opName(), ctx.describeOperand(0)), {0});
  Shape table = {1, shape[1], shape[2]};
  // Fewer channels, if they are pairs.
  if (llvm::ArrayRef<int64_t> given = ctx.type(1).shape;
      given.size() == 3 && given[1] > 0 && given[1] < shape[1] &&
      given[1] % 2 == 0)
    table[1] = given[1];
  return checkShape(ctx, 1, table) && checkShape(ctx, 2, table) && // C3
         checkMode(ctx, param::style) &&                           // C4
         inferSame(ctx);
}

static void evalRotate(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  Shape shape = headShape(x.type.shape);
  int64_t width = shape[1], positions = shape[2];
  int64_t rotary = ctx.in[1]->type.shape[1];
  bool interleaved = ctx.get(param::style) == RopeStyle::Interleaved;
  ctx.out[0].data = x.data;
  for (int64_t h = 0; h < shape[0]; ++h)
    for (int64_t row = 0; row < rotary; ++row) {
      int64_t partner = interleaved ? row ^ 1 : (row + rotary / 2) % rotary;
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
        "element of its pair times its sine. Channels that the tables lack "
        "stay as they are.",
    .family = "attention",
    .params = {value(param::x),
               value(param::cosines, floats, 'T', "[1, channels, positions]"),
               value(param::sines, floats, 'T', "[1, channels, positions]"),
               mode(param::style, RopeStyle::Interleaved)},
    .traits = trait::NotCallable,
    .constraints = {"`x` has rank 3, or 4 with a batch", "the width is even",
                    "the tables are [1, channels, positions], with an even "
                    "number of channels, at most the width",
                    oneOf<"`style` is ", RopeStyle>},
    .infer = inferRotate,
    .eval = evalRotate,
    .decompose = decomposeRotate,
    .flops = flopsRope,
    .positions = {positions::apart},
};
