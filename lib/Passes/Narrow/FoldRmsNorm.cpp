//===- FoldRmsNorm.cpp - norms by the mean of squares ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Exporters write the norm that most language models have as
///
///   x / sqrt(mean(x^2) + epsilon) * gain
///
/// of which fp16 does not hold the squares, from 256 on, and rounds six results
/// where PyTorch rounds one. MIL has no op for it, but the mean of [x, -x] is
/// 0:
///
///   layer_norm([x, -x]) == [x, -x] / sqrt(mean(x^2) + epsilon)
///
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "KnownArrays.h"
#include "NormSteps.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// The `layer_norm` of [x, -x] over the last axis of which `op` is the first
/// half, x / sqrt(mean(x^2) + epsilon) * gamma; null for other ops.
static const Op *normOfHalves(const Op &op) {
  const Op *norm = op.is(ops::SliceBySize)
                       ? definedBy(op.operand(0u), ops::LayerNorm)
                       : nullptr;
  const Op *both = norm ? definedBy(norm->operand(0u), ops::Concat) : nullptr;
  if (!both || both->numOperands() != 2 || norm->operand(param::betaValue) ||
      both->operand(0u)->type != op.result()->type)
    return nullptr;
  const Op *negated = definedBy(both->operand(1u), ops::Mul);
  bool isNegated = negated && negated->operand(0u) == both->operand(0u) &&
                   knownNumber(negated->operand(1u)) == -1.0;
  Shape last = {int64_t(op.result()->type.rank()) - 1};
  return isNegated && axesOf(*norm) == last ? norm : nullptr;
}

Value *anec::scaledRmsNorm(Op &op, const RefTensor &factor, Builder &builder,
                           llvm::StringRef name) {
  const Op *norm = normOfHalves(op);
  if (!norm || !norm->result()->hasOneUse())
    return nullptr;
  auto factors =
      alongAxis(factor, op.result()->type, op.result()->type.rank() - 1);
  const Value *old = norm->operand(param::gamma);
  std::optional<RefTensor> gamma = knownArray(old);
  if (!factors || (old && !gamma))
    return nullptr;
  auto extent = int64_t(factors->size());
  if (!gamma)
    gamma = RefTensor{TensorType(DType::FP32, {2 * extent}),
                      std::vector<double>(size_t(2 * extent), 1)};
  for (size_t index = 0; index < gamma->data.size(); ++index)
    gamma->data[index] *= (*factors)[index % size_t(extent)];
  if (!isHeldByFloat(*gamma))
    return nullptr;
  Value *gain = buildArray(builder, *gamma, (name + "_gamma").str());
  Op *scaled =
      builder.createWithSlots(norm->def(), {norm->operand(0u), gain},
                              norm->constants(), {norm->result()->name});
  return builder
      .createWithSlots(op.def(), {scaled->result()}, op.constants(), {name})
      ->result();
}

Value *anec::asRmsNorm(Op &op, Builder &builder) {
  Value *x = nullptr;
  std::optional<Deviation> deviation = deviationOf(op, x);
  const Op *mean = deviation ? meanOver(deviation->variance) : nullptr;
  if (!mean || squared(mean->operand(0u)) != x || deviation->epsilon <= 0 ||
      op.result()->type != x->type)
    return nullptr;
  // Core ML's norms are over the last axes.
  Shape shape = x->type.shape;
  auto last = int64_t(shape.size()) - 1;
  if (axesOf(*mean) != Shape{last})
    return nullptr;
  const std::string &name = op.result()->name;
  Value *minusOne = buildArray(builder, scalarArray(-1), name + "_sign");
  Value *negated =
      builder.build(ops::Mul, {x, minusOne}, {}, name + "_negated");
  Value *both = builder.build(ops::Concat, {x, negated}, {{param::axis, last}},
                              name + "_both");
  Value *norm = builder.build(
      ops::LayerNorm, {both},
      {{param::axes, llvm::ArrayRef<int64_t>(last)},
       {param::epsilon, Constant::scalar(DType::FP32, deviation->epsilon)}},
      name + "_norm");
  return builder.build(
      ops::SliceBySize, {norm},
      {{param::begin, Shape(shape.size(), 0)}, {param::size, shape}}, name);
}
