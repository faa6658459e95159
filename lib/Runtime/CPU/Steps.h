//===- Steps.h - makes functions that run ops -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Loading turns each step of the schedule into a function without arguments:
/// all addresses are known by then, and all choices are made once. A file of
/// steps ends with the rows of its ops (StepFamilies.def). An op without a row
/// is evaluated by its reference.
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

/// An op that a family of steps runs. Of several rows of an op, the first whose
/// maker returns a function counts.
struct StepRow {
  const OpDef *op;
  StepMaker make;
};
#define STEP_FAMILY(NAME) llvm::ArrayRef<StepRow> NAME##Steps();
#include "lib/Runtime/CPU/StepFamilies.def"

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
