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
#include "NormSteps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Norm.h"

using namespace anec;

/// Whether `value` is `x` minus its mean over `axes`.
static bool isCentred(const Value *value, const Value *x,
                      llvm::ArrayRef<int64_t> axes) {
  const Op *difference = definedBy(value, ops::Sub);
  const Op *mean = difference ? meanOver(difference->operand(1u)) : nullptr;
  return mean && difference->operand(0u) == x && mean->operand(0u) == x &&
         llvm::equal(axesOf(*mean), axes);
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
