//===- StatesInPlace.h - states that are not copied -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What is read of a state is a copy of it: a later write must not change it.
/// Where nothing reads the copy after the next write, it can be the memory of
/// the state, and an update of some elements can be made in it:
///
///   %old = read_state(%cache)
///   %layer = slice_by_size(%old) {begin = [3, 0, 0], ...}   part of %cache
///   %new = slice_update(%old, %rows, %begin, %end)          writes %rows only
///   write_state(%cache, %new)                               does nothing
///
/// Caches of models are large, and a step changes a row of each.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STATESINPLACE_H
#define ANEC_LIB_RUNTIME_CPU_STATESINPLACE_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace anec::cpu {

struct StatesInPlace {
  StatesInPlace(const Function &function, Numerics numerics);

  /// Ops whose result is a part of their first operand, without gaps, and how
  /// many elements precede it: `read_state`, and slices of what was read.
  llvm::DenseMap<const Op *, int64_t> parts;
  /// Each `slice_update` whose result is its first operand.
  llvm::DenseSet<const Op *> updates;
  /// Each `write_state` of what is in the state already.
  llvm::DenseSet<const Op *> writes;

private:
  void analyze(const Value &state, Numerics numerics);
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STATESINPLACE_H
