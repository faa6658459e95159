//===- NormSteps.cpp - the steps that exporters write norms as ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "NormSteps.h"
#include "KnownArrays.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;

const Op *anec::meanOver(const Value *value) {
  const Op *mean = definedBy(value, ops::ReduceMean);
  return mean && mean->get(param::keepDims) ? mean : nullptr;
}

Shape anec::axesOf(const Op &reduction) {
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

Value *anec::squared(const Value *value) {
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

std::optional<Deviation> anec::deviationOf(const Op &op, Value *&numerator) {
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
