//===- FoldLayerNorm.cpp - norms that are written as their steps ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Exporters write a norm as
///
///   (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)
///
/// of which the squares exceed fp16 where the norm does not. The gain and the
/// bias are factors and addends like others.
///
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "KnownArrays.h"
#include "anec/Ops/Ops.h"

using namespace anec;

/// The mean over `axes` that keeps them.
static const Op *meanOver(const Value *value) {
  const Op *mean = definedBy(value, ops::ReduceMean);
  return mean && mean->get(param::keepDims) ? mean : nullptr;
}

static Shape axesOf(const Op &reduction) {
  const Constant *given = reduction.constant(param::axes);
  unsigned rank = reduction.operand(0u)->type.rank();
  Shape axes;
  if (!given)
    for (unsigned axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
  else
    axes = given->asInts();
  for (int64_t &axis : axes)
    axis += axis < 0 ? rank : 0;
  llvm::sort(axes);
  return axes;
}

/// What `op` squares; null for other ops.
static Value *squared(const Value *value) {
  const Op *op = value->definingOp();
  if (!op)
    return nullptr;
  if (op->is(ops::Square))
    return op->operand(0u);
  if (op->is(ops::Mul) && op->operand(0u) == op->operand(1u))
    return op->operand(0u);
  if (op->is(ops::Pow) && knownNumber(op->operand(1u)) == 2.0)
    return op->operand(0u);
  return nullptr;
}

/// Whether `value` is `x` minus its mean over `axes`.
static bool isCentred(const Value *value, const Value *x,
                      llvm::ArrayRef<int64_t> axes) {
  const Op *difference = definedBy(value, ops::Sub);
  const Op *mean = difference ? meanOver(difference->operand(1u)) : nullptr;
  return mean && difference->operand(0u) == x && mean->operand(0u) == x &&
         llvm::equal(axesOf(*mean), axes);
}

namespace {
/// 1 / sqrt(variance + epsilon).
struct Deviation {
  const Value *variance = nullptr;
  double epsilon = 0;
};
} // namespace

/// The operand of a root, without the constant that is added to it.
static std::optional<Deviation> underRoot(const Value *value, double epsilon) {
  const Op *sum = definedBy(value, ops::Add);
  if (!sum)
    return Deviation{value, epsilon};
  for (unsigned slot : {0u, 1u})
    if (std::optional<double> number = knownNumber(sum->operand(slot)))
      return Deviation{sum->operand(1 - slot), epsilon + *number};
  return std::nullopt;
}

/// What the result of `op`, if it divides a value by a root, divides by.
static std::optional<Deviation> deviationOf(const Op &op, Value *&numerator) {
  if (op.is(ops::RealDiv)) {
    numerator = op.operand(0u);
    const Op *root = op.operand(1u)->definingOp();
    if (root && root->is(ops::Sqrt))
      return underRoot(root->operand(0u), 0);
    if (root && root->is(ops::Pow) && knownNumber(root->operand(1u)) == 0.5)
      return underRoot(root->operand(0u), 0);
    return std::nullopt;
  }
  if (!op.is(ops::Mul))
    return std::nullopt;
  for (unsigned slot : {0u, 1u}) {
    const Op *root = op.operand(slot)->definingOp();
    numerator = op.operand(1 - slot);
    if (root && root->is(ops::Rsqrt))
      return underRoot(root->operand(0u), root->get(param::epsilon));
    if (root && root->is(ops::Pow) && knownNumber(root->operand(1u)) == -0.5)
      return underRoot(root->operand(0u), 0);
    // 1 / sqrt(...) * x
    if (root && root->is(ops::RealDiv) && knownNumber(root->operand(0u)) == 1.0)
      if (const Op *inner = definedBy(root->operand(1u), ops::Sqrt))
        return underRoot(inner->operand(0u), 0);
    if (root && root->is(ops::Inverse) && root->get(param::epsilon) == 0)
      if (const Op *inner = definedBy(root->operand(0u), ops::Sqrt))
        return underRoot(inner->operand(0u), 0);
  }
  return std::nullopt;
}

Value *anec::asLayerNorm(Op &op, Builder &builder) {
  Value *numerator = nullptr;
  std::optional<Deviation> deviation = deviationOf(op, numerator);
  const Op *variance = deviation ? meanOver(deviation->variance) : nullptr;
  const Op *centred = variance ? definedBy(numerator, ops::Sub) : nullptr;
  if (!centred || deviation->epsilon < 0)
    return nullptr;
  Value *x = centred->operand(0u);
  Shape axes = axesOf(*variance);
  // Core ML's norms are over the last axes.
  for (auto [index, axis] : llvm::enumerate(llvm::reverse(axes)))
    if (axis != int64_t(x->type.rank() - 1 - index))
      return nullptr;
  const Value *root = squared(variance->operand(0u));
  if (!root || !isCentred(numerator, x, axes) || !isCentred(root, x, axes) ||
      op.result()->type != x->type)
    return nullptr;
  return builder.build(
      ops::LayerNorm, {x},
      {{param::axes, llvm::ArrayRef<int64_t>(axes)},
       {param::epsilon, Constant::scalar(DType::FP32, deviation->epsilon)}},
      op.result()->name);
}
