//===- Steps.h - makes functions that run ops -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Loading turns each step of the schedule into a function without arguments:
/// all addresses are known by then, and all choices are made once. An op
/// without a maker here is evaluated by its reference.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STEPS_H
#define ANEC_LIB_RUNTIME_CPU_STEPS_H

#include "Schedule.h"
#include "Storage.h"
#include "anec/Support/Executor.h"
#include "lib/Runtime/CPU/ProductKernels.h"
#include <functional>

namespace anec::cpu {

using StepFn = std::function<void()>;

class HazardList;

/// What steps are made from. Must outlive the steps.
struct StepContext {
  const Storage &storage;
  const Schedule &schedule;
  Executor &pool;
  Numerics numerics;
  const ProductKernels &products;
  /// Where emulated steps count hazards; null when nothing is emulated.
  HazardList *hazards = nullptr;
  /// Products that add to the memory of their results instead of overwriting
  /// it; null for none.
  const llvm::DenseSet<const Op *> *accumulating = nullptr;

  /// How results of `value`'s type are rounded.
  Rounding rounding(const Value *value) const {
    return numerics != Numerics::FP32 && value->type.dtype == DType::FP16
               ? Rounding::FP16
               : Rounding::None;
  }
};

/// Makes the step of one op; returns an empty function when the op has no fast
/// implementation for these operands.
using StepMaker = StepFn (*)(const Op &op, StepContext &ctx);

StepFn makeFused(const Step &step, StepContext &ctx);
StepFn makeAttentionOps(const Step &step, StepContext &ctx);

/// A product with, or a gather of rows from, a weight that stays as stored.
StepFn makeWithStoredWeight(const Op &op,
                            std::shared_ptr<const StoredWeight> weight,
                            StepContext &ctx);

// By family, one file each.
StepFn makeMatmul(const Op &op, StepContext &ctx);
StepFn makeLinear(const Op &op, StepContext &ctx);
StepFn makeConv(const Op &op, StepContext &ctx);
/// For groups of few outputs.
StepFn makeDirectConv(const Op &op, StepContext &ctx);
/// For results with more positions than a few, without unfolding the image.
StepFn makeTiledConv(const Op &op, StepContext &ctx);
/// For as many outputs as a vector has and more, and long sums.
StepFn makePanelConv(const Op &op, StepContext &ctx);
/// For kernels with more positions than the result.
StepFn makeWideKernelConv(const Op &op, StepContext &ctx);
StepFn makeConvTranspose(const Op &op, StepContext &ctx);
StepFn makeAttention(const Op &op, StepContext &ctx);
StepFn makeGru(const Op &op, StepContext &ctx);
StepFn makeRnn(const Op &op, StepContext &ctx);
StepFn makeLstm(const Op &op, StepContext &ctx);
StepFn makeReduction(const Op &op, StepContext &ctx);
StepFn makeEinsum(const Op &op, StepContext &ctx);
StepFn makeLocalResponseNorm(const Op &op, StepContext &ctx);
StepFn makeLogSumExp(const Op &op, StepContext &ctx);
StepFn makeExtremePlace(const Op &op, StepContext &ctx);
StepFn makeSort(const Op &op, StepContext &ctx);
StepFn makeCumsum(const Op &op, StepContext &ctx);
StepFn makeBatchNorm(const Op &op, StepContext &ctx);
StepFn makeInstanceNorm(const Op &op, StepContext &ctx);
StepFn makeL2Norm(const Op &op, StepContext &ctx);
StepFn makeLayerNorm(const Op &op, StepContext &ctx);
StepFn makeSoftmax(const Op &op, StepContext &ctx);
StepFn makeTranspose(const Op &op, StepContext &ctx);
StepFn makeSliceBySize(const Op &op, StepContext &ctx);
StepFn makeSliceUpdate(const Op &op, StepContext &ctx);
StepFn makeSliceByIndex(const Op &op, StepContext &ctx);
StepFn makePad(const Op &op, StepContext &ctx);
StepFn makeTile(const Op &op, StepContext &ctx);
StepFn makeReverse(const Op &op, StepContext &ctx);
StepFn makeStack(const Op &op, StepContext &ctx);
StepFn makeElements(const Op &op, StepContext &ctx);
StepFn makeResize(const Op &op, StepContext &ctx);
StepFn makePool(const Op &op, StepContext &ctx);
StepFn makeConcat(const Op &op, StepContext &ctx);
StepFn makeSplit(const Op &op, StepContext &ctx);
StepFn makeGather(const Op &op, StepContext &ctx);
StepFn makeOneHot(const Op &op, StepContext &ctx);
StepFn makeGatherAlongAxis(const Op &op, StepContext &ctx);
StepFn makeGatherNd(const Op &op, StepContext &ctx);
StepFn makeScatter(const Op &op, StepContext &ctx);
StepFn makeScatterAlongAxis(const Op &op, StepContext &ctx);
StepFn makeScatterNd(const Op &op, StepContext &ctx);
StepFn makeReverseSequence(const Op &op, StepContext &ctx);
StepFn makeBandPart(const Op &op, StepContext &ctx);
StepFn makeCrossEntropy(const Op &op, StepContext &ctx);
StepFn makeCrossEntropyGradient(const Op &op, StepContext &ctx);
StepFn makeQuantize(const Op &op, StepContext &ctx);
StepFn makeDequantize(const Op &op, StepContext &ctx);
StepFn makeReadState(const Op &op, StepContext &ctx);
StepFn makeWriteState(const Op &op, StepContext &ctx);

/// Moves elements along the way that the reference takes for positions; for ops
/// that only move their first operand, with other operands that are constants.
StepFn makeMap(const Op &op, StepContext &ctx);

/// Evaluates an elementwise op of one operand by its reference, in parts that
/// threads share.
StepFn makeUnaryReference(const Op &op, StepContext &ctx);

/// Evaluates the op by its reference in double precision, and rounds the
/// results.
StepFn makeReference(const Op &op, StepContext &ctx);

/// The fastest of the above for `step`.
StepFn makeStep(const Step &step, StepContext &ctx);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STEPS_H
