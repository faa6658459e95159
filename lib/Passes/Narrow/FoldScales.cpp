//===- FoldScales.cpp - constant arithmetic in fewer constants ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Constants such as variances, divisors and numbers of elements are often far
/// from 1, while what they compute together is not. Folding them in double
/// leaves constants, and intermediate values, that fp16 holds. A program that
/// stays in fp32 does not need it, and keeps the ops of its source.
///
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "../Simplify/DeadOps.h"
#include "HalfConstants.h"
#include "KnownArrays.h"
#include "anec/Passes/Pass.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Reduce.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;

namespace {

/// `x` times, or plus, a constant.
struct Linear {
  Value *x = nullptr;
  RefTensor constant;
};

} // namespace

/// The other operand of an op that takes two in any order, one of them a
/// constant.
static std::optional<Linear> withConstant(const Op &op) {
  for (unsigned slot : {1u, 0u})
    if (std::optional<RefTensor> array = knownArray(op.operand(slot)))
      return Linear{op.operand(1 - slot), std::move(*array)};
  return std::nullopt;
}

/// What `op` multiplies by a constant.
static std::optional<Linear> asFactor(const Op &op) {
  if (op.is(ops::Mul))
    return withConstant(op);
  std::optional<RefTensor> divisor =
      op.is(ops::RealDiv) ? knownArray(op.operand(1u)) : std::nullopt;
  if (!divisor)
    return std::nullopt;
  RefTensor factor = computed(ops::RealDiv, scalarArray(1), *divisor);
  if (!isHeldByFloat(factor))
    return std::nullopt;
  return Linear{op.operand(0u), std::move(factor)};
}

/// What `op` adds a constant to.
static std::optional<Linear> asAddend(const Op &op) {
  if (op.is(ops::Add))
    return withConstant(op);
  std::optional<RefTensor> subtrahend =
      op.is(ops::Sub) ? knownArray(op.operand(1u)) : std::nullopt;
  if (!subtrahend)
    return std::nullopt;
  return Linear{op.operand(0u),
                computed(ops::Mul, scalarArray(-1), *subtrahend)};
}

/// The op that computes `value` for nothing else, and as `type`.
static Op *onlyFor(const Value *value, const TensorType &type) {
  Op *op = value->definingOp();
  return op && value->hasOneUse() && op->numResults() == 1 &&
                 value->type == type
             ? op
             : nullptr;
}

/// Two constants as one that is no larger than the larger of them; nothing
/// where fp32 does not hold it.
static std::optional<RefTensor> joined(const OpDef &def, const RefTensor &first,
                                       const RefTensor &second) {
  if (!broadcastShapes(first.type.shape, second.type.shape))
    return std::nullopt;
  RefTensor both = computed(def, first, second);
  bool isLarger =
      both.data.size() > std::max(first.data.size(), second.data.size());
  if (isLarger || !isHeldByFloat(both))
    return std::nullopt;
  return both;
}

//===----------------------------------------------------------------------===//
// batch_norm
//===----------------------------------------------------------------------===//

/// A batch_norm of constants: (x - mean) * scale + shift, by channel.
namespace {
struct KnownNorm {
  RefTensor mean, scale, shift;
  bool isPlain; ///< the factors are gamma
  static std::optional<KnownNorm> of(const Op &op);
  bool isHeldByHalf() const;
  Value *build(Builder &builder, Value *x, const std::string &name) const;
};
} // namespace

/// A variance and an epsilon whose sum is 1, also in fp16.
static constexpr double plainHalf = 0.5;

std::optional<KnownNorm> KnownNorm::of(const Op &op) {
  if (!op.is(ops::BatchNorm))
    return std::nullopt;
  std::optional<RefTensor> mean = knownArray(op.operand(param::mean)),
                           variance = knownArray(op.operand(param::variance)),
                           gamma = knownArray(op.operand(param::gamma)),
                           beta = knownArray(op.operand(param::betaValue));
  if (!mean || !variance || (op.operand(param::gamma) && !gamma) ||
      (op.operand(param::betaValue) && !beta))
    return std::nullopt;
  double epsilon = op.get(param::epsilon);
  KnownNorm norm{*mean, *mean, *mean, epsilon == plainHalf};
  for (size_t i = 0; i < mean->data.size(); ++i) {
    norm.isPlain &= variance->data[i] == plainHalf;
    norm.scale.data[i] =
        (gamma ? gamma->data[i] : 1) / std::sqrt(variance->data[i] + epsilon);
    norm.shift.data[i] = beta ? beta->data[i] : 0;
  }
  return norm;
}

/// Whether fp16 has the elements of `array` for this use.
static bool isHeldByHalf(const RefTensor &array, ConstantUse use) {
  ConstantRef constant = Constant::fromDoubles(
      TensorType(DType::FP32, array.type.shape), array.data);
  return !lossInHalf(*constant, use);
}

bool KnownNorm::isHeldByHalf() const {
  return ::isHeldByHalf(mean, ConstantUse::Addend) &&
         ::isHeldByHalf(scale, ConstantUse::Factor) &&
         ::isHeldByHalf(shift, ConstantUse::Addend);
}

Value *KnownNorm::build(Builder &builder, Value *x,
                        const std::string &name) const {
  RefTensor variance = scale;
  variance.data.assign(variance.data.size(), plainHalf);
  return builder.build(
      ops::BatchNorm,
      {x, buildArray(builder, mean, name + "_mean"),
       buildArray(builder, variance, name + "_variance"),
       buildArray(builder, scale, name + "_scale"),
       buildArray(builder, shift, name + "_shift")},
      {{param::epsilon, Constant::scalar(DType::FP32, plainHalf)}}, name);
}

/// Whether `value` is of an op whose constants take factors.
static bool takesFactors(const Value *value, const TensorType &type) {
  const Op *op = onlyFor(value, type);
  return op && (op->is(ops::Conv) || op->is(ops::ConvTranspose) ||
                op->is(ops::Linear) || op->is(ops::Matmul) ||
                op->is(ops::LayerNorm) || asFactor(*op));
}

// (x * k - mean) * scale == (x - mean / k) * (scale * k). Returns the operand
// without its factor, or null when it has none.
static Value *takeFactorBefore(KnownNorm &norm, const Op &op) {
  const TensorType &type = op.result()->type;
  const Op *inner = onlyFor(op.operand(0u), type);
  std::optional<Linear> factor = inner ? asFactor(*inner) : std::nullopt;
  auto factors = factor && factor->x->type == type
                     ? alongAxis(factor->constant, type, 1)
                     : std::nullopt;
  if (!factors || llvm::is_contained(*factors, 0.0))
    return nullptr;
  for (auto [channel, k] : llvm::enumerate(*factors)) {
    norm.mean.data[channel] /= k;
    norm.scale.data[channel] *= k;
  }
  return factor->x;
}

// batch_norm(x) stays one op, which rounds once: x * s + t rounds x * s, which
// may be much larger than the result, and t - mean * s no longer is 0 where s
// is rounded. Its variance and epsilon may be beyond fp16, their root is not.
static Value *plainNorm(Op &op, Builder &builder) {
  std::optional<KnownNorm> norm = KnownNorm::of(op);
  if (!norm)
    return nullptr;
  Value *before = takeFactorBefore(*norm, op);
  Value *x = before ? before : op.operand(0u);
  if ((norm->isPlain && !before) || takesFactors(x, op.result()->type) ||
      !norm->isHeldByHalf())
    return nullptr;
  return norm->build(builder, x, op.result()->name);
}

// x * s + t, by channel, is one op too, which rounds once.
static Value *normOfSteps(Op &op, Builder &builder) {
  const TensorType &type = op.result()->type;
  std::optional<Linear> outer = asAddend(op);
  const Op *inner = outer ? onlyFor(outer->x, type) : nullptr;
  std::optional<Linear> factor = inner ? asFactor(*inner) : std::nullopt;
  if (!factor || factor->x->type != type || type.rank() < 3 ||
      type.rank() > 5 || takesFactors(factor->x, type))
    return nullptr;
  std::optional<std::vector<double>> scale =
                                         alongAxis(factor->constant, type, 1),
                                     shift =
                                         alongAxis(outer->constant, type, 1);
  bool isByChannel =
      factor->constant.data.size() > 1 || outer->constant.data.size() > 1;
  if (!scale || !shift || !isByChannel || llvm::any_of(*scale, [](double k) {
        return std::abs(k) > largestFactor;
      }))
    return nullptr;
  TensorType vector(DType::FP32, {type.shape[1]});
  KnownNorm norm{{vector, std::vector<double>(scale->size())},
                 {vector, *scale},
                 {vector, *shift},
                 true};
  return norm.isHeldByHalf() ? norm.build(builder, factor->x, op.result()->name)
                             : nullptr;
}

// batch_norm(x) == x * s + t, with s = gamma / sqrt(variance + epsilon) and
// t = beta - mean * s, where s becomes part of other constants
static Value *scaledNorm(Op &op, Builder &builder) {
  std::optional<KnownNorm> norm = KnownNorm::of(op);
  if (!norm ||
      (norm->isPlain && !takesFactors(op.operand(0u), op.result()->type)))
    return nullptr;
  Shape shape(op.result()->type.rank() - 1, 1);
  shape[0] = int64_t(norm->scale.data.size());
  TensorType type(DType::FP32, shape);
  RefTensor scale{type, norm->scale.data}, shift{type, norm->shift.data};
  for (size_t i = 0; i < scale.data.size(); ++i)
    shift.data[i] -= norm->mean.data[i] * scale.data[i];
  if (!isHeldByFloat(scale) || !isHeldByFloat(shift))
    return nullptr;
  const std::string &name = op.result()->name;
  Value *scaled = builder.build(
      ops::Mul, {op.operand(0u), buildArray(builder, scale, name + "_scale")},
      {}, name + "_scaled");
  return builder.build(ops::Add,
                       {scaled, buildArray(builder, shift, name + "_shift")},
                       {}, name);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

// reduce_sum(x) * c == reduce_mean(x) * (c * n), which does not overflow;
// reduce_sum_square(x) * c == reduce_mean(x * x) * (c * n)
static Value *asMean(Op &sum, const RefTensor &factor, const Op &op,
                     Builder &builder) {
  if ((!sum.is(ops::ReduceSum) && !sum.is(ops::ReduceSumSquare)) ||
      factor.data.size() != 1)
    return nullptr;
  Value *x = sum.operand(0u);
  double count = double(x->type.numElements()) /
                 double(std::max<int64_t>(1, sum.result()->type.numElements()));
  double rest = factor.data.front() * count;
  const std::string &name = op.result()->name;
  if (sum.is(ops::ReduceSumSquare))
    x = builder.build(ops::Mul, {x, x}, {}, name + "_squares");
  // c is 1 / n, rounded.
  bool isMean = std::abs(rest - 1) < 1e-6;
  Value *mean =
      builder.build(ops::ReduceMean, {x},
                    {{param::axes, sum.constant(param::axes)},
                     {param::keepDims, sum.constant(param::keepDims)}},
                    isMean ? name : name + "_mean");
  if (isMean)
    return mean;
  RefTensor scale = scalarArray(rest);
  return builder.build(
      ops::Mul, {mean, buildArray(builder, scale, name + "_scale")}, {}, name);
}

//===----------------------------------------------------------------------===//
// Factors and addends
//===----------------------------------------------------------------------===//

// (x * a) * b == x * (a * b), and in the constants of other ops
static Value *foldedFactor(Op &op, Builder &builder) {
  std::optional<Linear> outer = asFactor(op);
  Op *inner = outer ? onlyFor(outer->x, op.result()->type) : nullptr;
  if (!inner)
    return nullptr;
  llvm::StringRef name = op.result()->name;
  if (Value *mean = asMean(*inner, outer->constant, op, builder))
    return mean;
  if (std::optional<Linear> first = asFactor(*inner)) {
    auto factor = joined(ops::Mul, first->constant, outer->constant);
    return factor ? builder.build(
                        ops::Mul,
                        {first->x, buildArray(builder, *factor,
                                              op.result()->name + "_scale")},
                        {}, name)
                  : nullptr;
  }
  return absorbFactor(*inner, outer->constant, builder, name);
}

// (x + a) + b == x + (a + b), and in biases
static Value *foldedAddend(Op &op, Builder &builder) {
  std::optional<Linear> outer = asAddend(op);
  Op *inner = outer ? onlyFor(outer->x, op.result()->type) : nullptr;
  if (!inner)
    return nullptr;
  llvm::StringRef name = op.result()->name;
  if (std::optional<Linear> first = asAddend(*inner)) {
    auto addend = joined(ops::Add, first->constant, outer->constant);
    return addend ? builder.build(
                        ops::Add,
                        {first->x, buildArray(builder, *addend,
                                              op.result()->name + "_shift")},
                        {}, name)
                  : nullptr;
  }
  return absorbAddend(*inner, outer->constant, builder, name);
}

/// Whether fp16 has every element in full precision.
static bool isPrecise(const RefTensor &array) {
  return llvm::all_of(array.data, [](double element) {
    return element == 0 || isNormalHalf(element);
  });
}

// x / c == x * (1 / c), where fp16 holds 1 / c and not c
static Value *asReciprocal(Op &op, Builder &builder) {
  std::optional<RefTensor> divisor =
      op.is(ops::RealDiv) ? knownArray(op.operand(1u)) : std::nullopt;
  std::optional<Linear> factor = divisor ? asFactor(op) : std::nullopt;
  if (!factor || isPrecise(*divisor) || !isPrecise(factor->constant))
    return nullptr;
  return builder.build(ops::Mul,
                       {factor->x, buildArray(builder, factor->constant,
                                              op.result()->name + "_scale")},
                       {}, op.result()->name);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

using Folding = Value *(*)(Op &op, Builder &builder);

/// Rewrites `op` and what becomes of it, as long as a rewrite applies; returns
/// how often one did.
static size_t rewrite(Op &op, llvm::ArrayRef<Folding> foldings) {
  size_t count = 0;
  Op *current = &op;
  auto once = [&](Folding folding) {
    Builder builder(*current->parent());
    builder.setInsertionPoint(current);
    Value *value = folding(*current, builder);
    if (!value)
      return false;
    current->result()->replaceAllUsesWith(value);
    current->erase();
    current = value->definingOp();
    return true;
  };
  while (current && current->result()->hasUses() &&
         llvm::any_of(foldings, once))
    ++count;
  return count;
}

/// Rewrites all ops, as long as a rewrite applies.
static size_t rewriteAll(Function &function, llvm::ArrayRef<Folding> foldings) {
  size_t folded = 0, before;
  // A rewrite may enable one at an earlier op. Each removes an op or makes one
  // of fewer kinds, so this ends.
  do {
    before = folded;
    for (Op &op : llvm::make_early_inc_range(function.body()))
      if (op.numResults() == 1 && op.result()->type.dtype == DType::FP32 &&
          !op.def().has(trait::Stored))
        folded += rewrite(op, foldings);
    // What a rewrite left behind would count as a use.
    if (folded != before)
      removeDeadOps(function);
  } while (folded != before);
  return folded;
}

size_t anec::foldScales(Function &function) {
  size_t folded =
      rewriteAll(function, {plainNorm, scaledNorm, asLayerNorm, asRmsNorm,
                            foldedFactor, foldedAddend, asReciprocal});
  // What no other op takes.
  return folded + rewriteAll(function, {normOfSteps});
}

static bool foldScalesPass(Function &function, PassContext &ctx) {
  size_t folded = foldScales(function);
  ctx.count("folded", folded);
  return folded != 0;
}

constinit const PassDef passes::FoldScales = {
    .name = "fold-scales",
    .summary = "Fold constant factors, addends and norms of fp32 values into "
               "fewer constants, in double precision",
    .description =
        "batch_norm(conv(%x, %w, %b))  ==>  conv(%x, %w * s, %b * s + t)\n"
        "batch_norm(%x)  ==>  batch_norm(%x) whose factors are gamma\n"
        "%x * %s + %t, by channel  ==>  batch_norm(%x)\n"
        "(%x * 1e-9) / 2e-9  ==>  %x * 0.5\n"
        "reduce_sum(%x) * (1 / n)  ==>  reduce_mean(%x)\n"
        "matmul(%x, %w) + %b  ==>  linear(%x, transpose(%w), %b)\n"
        "%x / sqrt(reduce_mean(%x * %x) + e)  ==>  half of layer_norm([%x, "
        "-%x])",
    .stats = {{{"folded", "ops that became part of others"}}},
    // The folded constants are rounded to fp32.
    .tolerance = 1e-5,
    .run = foldScalesPass,
};
