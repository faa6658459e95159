//===- ScheduleWalk.h - the host schedule, turn by turn --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Host functions as they run: every op of every turn of a `repeat`, with the
/// instance of the repeated layer it is for.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PACKAGE_SCHEDULEWALK_H
#define ANEC_PACKAGE_SCHEDULEWALK_H

#include "anec/IR/IR.h"
#include "anec/IR/WeightName.h"
#include "anec/IR/WeightView.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace anec {

/// Integers that are known before running: indices of turns.
using KnownIntegers = llvm::DenseMap<const Value *, int64_t>;

/// The host functions that can be run by themselves.
std::vector<const Function *> entryPoints(const Module &module);

/// The instance that `op`, a call, a weight or an accumulation, is for; nothing
/// when it belongs to no repeated layer, or is not known before running.
std::optional<int64_t> instanceOf(const Op &op, const KnownIntegers &known);

/// The index of each turn of `repeat`, in the order they run in.
std::vector<int64_t> turnsOf(const Op &repeat);

/// Calls `visit` for every op that running `entry` runs, `repeat` itself not.
void walkSchedule(
    const Module &module, const Function &entry,
    llvm::function_ref<void(const Op &, const KnownIntegers &)> visit);

/// Calls `visit` for every weight that a call passes to a kernel while `entry`
/// runs: the number of the input among those of the kernel, and the view that
/// it is. Its instance is `own` where it is that of the call or, of a call
/// without one, of the turn of a `repeat`.
void walkPassedWeights(const Module &module, const Function &entry,
                       llvm::function_ref<void(const Op &call, unsigned input,
                                               const WeightView &view)>
                           visit);

} // namespace anec

#endif // ANEC_PACKAGE_SCHEDULEWALK_H
