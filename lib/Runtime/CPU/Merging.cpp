//===- Merging.cpp - ops that are part of the one before them
//-----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Merging.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
using namespace anec::cpu;

/// The constant that `value` is a name of; null if it is none, or is computed.
static const Constant *constantOf(const Value *value,
                                  const Schedule &schedule) {
  const Op *op = value ? schedule.root(value)->definingOp() : nullptr;
  return op && op->is(ops::Const) ? op->constant(param::val) : nullptr;
}

/// The factor of each channel.
static std::vector<double> factorsOf(const Op &norm, const Schedule &schedule) {
  std::vector<double> factors =
      constantOf(norm.operand(param::variance), schedule)->asDoubles();
  const Constant *gamma = constantOf(norm.operand(param::gamma), schedule);
  double epsilon = norm.get(param::epsilon);
  for (auto [channel, factor] : llvm::enumerate(factors))
    factor = (gamma ? gamma->doubleAt(int64_t(channel)) : 1.0) /
             std::sqrt(factor + epsilon);
  return factors;
}

/// Whether only one op reads `value`, which is not rounded.
static bool isPassedOn(const Value *value, Numerics numerics) {
  return value->hasOneUse() &&
         (value->type.dtype != DType::FP16 || numerics == Numerics::FP32);
}

bool cpu::isNormOfConv(const Op &op, const Schedule &schedule,
                       Numerics numerics) {
  if (!op.is(ops::BatchNorm))
    return false;
  const Value *x = op.operand(param::x);
  const Op *conv = x->definingOp();
  if (!conv || !conv->is(ops::Conv) || !isPassedOn(x, numerics))
    return false;
  auto isKnown = [&](const Value *value) {
    return !value || constantOf(value, schedule);
  };
  const Constant *weight = constantOf(conv->operand(param::weight), schedule);
  if (!weight || weight->dtype() != DType::FP32 ||
      !isKnown(conv->operand(param::bias)) ||
      !llvm::all_of(llvm::drop_begin(op.operandValues()), isKnown))
    return false;
  return llvm::all_of(factorsOf(op, schedule),
                      [](double factor) { return std::abs(factor) < 0x1p60; });
}

/// The slot of what an addition adds to a matmul; 0 or 1.
static unsigned biasSlot(const Op &op) {
  const Op *first = op.operand(0u)->definingOp();
  return first && first->is(ops::Matmul) ? 1 : 0;
}
const Value *cpu::biasOf(const Op &op) { return op.operand(biasSlot(op)); }
const Value *cpu::summandOf(const Op &op) {
  return op.operand(1 - biasSlot(op));
}

bool cpu::isBiasOfMatmul(const Op &op, const Schedule &schedule,
                         Numerics numerics) {
  if (!op.is(ops::Add))
    return false;
  const Value *bias = biasOf(op), *x = summandOf(op);
  const Op *matmul = x->definingOp();
  if (!matmul || !matmul->is(ops::Matmul) || !isPassedOn(x, numerics) ||
      !isFloat(x->type.dtype) || !isFloat(bias->type.dtype) ||
      !schedule.isConstant(bias) || schedule.isConstant(matmul->operand(0u)) ||
      !schedule.isConstant(matmul->operand(1u)) || x->type.numElements() == 0 ||
      x->type.shape != op.result()->type.shape)
    return false;
  const Shape &shape = bias->type.shape;
  return matmul->operand(0u)->type.rank() >= 2 &&
         matmul->operand(1u)->type.rank() >= 2 && !shape.empty() &&
         shape.back() == x->type.shape.back() &&
         bias->type.numElements() == shape.back();
}

FoldedConv::FoldedConv(const Op &conv, const Op &norm,
                       const Schedule &schedule) {
  const Constant *weight = constantOf(conv.operand(param::weight), schedule),
                 *bias = constantOf(conv.operand(param::bias), schedule),
                 *mean = constantOf(norm.operand(param::mean), schedule),
                 *beta = constantOf(norm.operand(param::betaValue), schedule);
  std::vector<double> factors = factorsOf(norm, schedule);
  auto elements = size_t(weight->numElements());
  size_t terms = factors.empty() ? 0 : elements / factors.size();
  weights = makeAlignedArray(elements);
  weight->copyToFloats(weights.get());
  biases = makeAlignedArray(factors.size());
  count = elements + factors.size();
  for (auto [channel, factor] : llvm::enumerate(factors)) {
    auto at = int64_t(channel);
    for (size_t term = 0; term < terms; ++term) {
      float &element = weights[channel * terms + term];
      element = float(double(element) * factor);
    }
    biases[channel] = float(
        ((bias ? bias->doubleAt(at) : 0.0) - mean->doubleAt(at)) * factor +
        (beta ? beta->doubleAt(at) : 0.0));
  }
}
