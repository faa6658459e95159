//===- OpKinds.cpp - what ops do to values that fp16 lacks ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OpKinds.h"
#include "KnownArrays.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Ops/Rows/Sort.h"

using namespace anec;

/// Whether `op` is of one of `rows`.
static bool isOneOf(const Op &op, llvm::ArrayRef<const OpDef *> rows) {
  return llvm::is_contained(rows, &op.def());
}

bool anec::takesMixedConstants(const Op &op) {
  if (op.is(ops::Log))
    return true;
  if (!isOneOf(op, {&ops::LayerNorm, &ops::BatchNorm, &ops::InstanceNorm}))
    return false;
  // The operands have one type with the epsilon.
  return llvm::all_of(llvm::ArrayRef(op.operandValues()).drop_front(),
                      [](const Value *operand) {
                        return !operand || definedBy(operand, ops::Const);
                      });
}

bool anec::amplifiesSmall(const Op &op, const Value &value) {
  if (isOneOf(op, {&ops::Rsqrt, &ops::Inverse, &ops::Log, &ops::Sqrt}))
    return true;
  if (op.is(ops::RealDiv))
    return op.operand(1u) == &value;
  if (op.is(ops::Pow)) {
    std::optional<double> exponent = knownNumber(op.operand(1u));
    return op.operand(0u) == &value && (!exponent || *exponent < 1);
  }
  return false;
}

bool anec::keepsSmall(const Op &op, const Value &value) {
  if (op.def().has(trait::DataMovement) ||
      isOneOf(op, {&ops::Minimum, &ops::Maximum, &ops::Clip, &ops::Relu,
                   &ops::Abs}))
    return true;
  if (!isOneOf(op, {&ops::Mul, &ops::RealDiv}))
    return false;
  const Value *other = op.operand(op.operand(0u) == &value ? 1u : 0u);
  return definedBy(other, ops::Const);
}

bool anec::settlesScale(const Op &op) {
  return isOneOf(op, {&ops::Sigmoid,
                      &ops::Tanh,
                      &ops::Softmax,
                      &ops::Erf,
                      &ops::Log,
                      &ops::Sqrt,
                      &ops::Relu6,
                      &ops::Clip,
                      &ops::Sin,
                      &ops::Cos,
                      &ops::Sign,
                      &ops::Softsign,
                      &ops::LayerNorm,
                      &ops::BatchNorm,
                      &ops::InstanceNorm,
                      &ops::L2Norm,
                      &ops::RmsNorm,
                      &ops::SigmoidHard,
                      &ops::ReduceLogSum,
                      &ops::Conv,
                      &ops::ConvTranspose,
                      &ops::Linear,
                      &ops::Matmul,
                      &ops::Einsum,
                      &ops::Lstm,
                      &ops::Gru,
                      &ops::Rnn,
                      &ops::ScaledDotProductAttention,
                      &ops::ReduceLogSumExp});
}

bool anec::passesIntegers(const Op &op) {
  return op.def().has(trait::Elementwise) ||
         op.def().has(trait::DataMovement) || op.is(ops::Matmul) ||
         op.is(ops::Cumsum) || op.is(ops::Einsum) ||
         op.def().has(trait::Reduction);
}

bool anec::isPartOfSquares(const Op &op) {
  return isOneOf(op, {&ops::Mul, &ops::Square, &ops::Pow, &ops::Add, &ops::Abs,
                      &ops::Sqrt, &ops::RealDiv}) ||
         op.def().has(trait::Reduction) || op.def().has(trait::DataMovement);
}

bool anec::isPartOfAngle(const Op &op) {
  return isOneOf(op, {&ops::Mul, &ops::Add, &ops::Sub, &ops::RealDiv,
                      &ops::Matmul, &ops::Cast, &ops::Exp}) ||
         op.def().has(trait::DataMovement);
}
