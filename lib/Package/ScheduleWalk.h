//===- ScheduleWalk.h - iterate over the host schedule ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Host functions as they run: every op of every iteration of a `repeat`, with
/// the instance of the repeated layer it uses.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_SCHEDULEWALK_H
#define ANEC_LIB_PACKAGE_SCHEDULEWALK_H

#include "anec/IR/IR.h"
#include "anec/IR/WeightView.h"
#include "lib/IR/WeightName.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Integers that are known before running: loop indices, and what is computed
/// from them.
using KnownIntegers = llvm::DenseMap<const Value *, int64_t>;

/// The host functions that can be run on their own.
std::vector<const Function *> entryPoints(const Module &module);

/// The instance that `op` (a call, weight or accumulation) uses; nothing when
/// it belongs to no repeated layer or the instance is not known before running.
std::optional<int64_t> instanceOf(const Op &op, const KnownIntegers &known);

/// Adds the result of `op` to `known` when it is an integer that follows from
/// integers that are known. Returns whether it is.
bool evaluateInteger(const Op &op, KnownIntegers &known);

/// The index of each iteration of `repeat`, in execution order.
std::vector<int64_t> turnsOf(const Op &repeat);

/// Calls `visit` for every op executed by `entry`, except `repeat` itself.
void walkSchedule(
    const Module &module, const Function &entry,
    llvm::function_ref<void(const Op &, const KnownIntegers &)> visit);

/// Calls `visit` for every weight that a call passes to a kernel while `entry`
/// runs: the index of the kernel input, and the view passed. The view's
/// instance is `own` when it equals that of the call or, for a call without
/// one, of the `repeat` iteration.
void walkPassedWeights(const Module &module, const Function &entry,
                       llvm::function_ref<void(const Op &call, unsigned input,
                                               const WeightView &view)>
                           visit);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_SCHEDULEWALK_H
