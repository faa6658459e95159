//===- Storage.h - where values live during a run --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Every value has four bytes per element: floats of any type are held as fp32
/// (already rounded to the type they are declared with), integers and booleans
/// as int32. Values whose lifetimes do not overlap share memory, and an op that
/// only renames its operand (reshape) shares the operand's.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STORAGE_H
#define ANEC_LIB_RUNTIME_CPU_STORAGE_H

#include "Schedule.h"
#include "anec/IR/OpDef.h"
#include "anec/Runtime/CPU/AlignedArray.h"

namespace anec::cpu {

/// Reads all elements of `tensor`, which has its type and size, from where a
/// value lives.
void loadElements(const uint32_t *words, RefTensor &tensor);
/// Writes them, rounded to the element type; of fp16, only when `rounding` says
/// so.
void storeElements(const RefTensor &tensor, Rounding rounding, uint32_t *words);

class Storage {
public:
  /// Converts and computes the constants, and gives everything else a place in
  /// one arena.
  Storage(const Function &function, const Schedule &schedule,
          Numerics numerics);

  /// Null for values internal to a step.
  uint32_t *words(const Value *value) const { return places.lookup(value); }
  float *floats(const Value *value) const {
    return reinterpret_cast<float *>(words(value));
  }
  int32_t *ints(const Value *value) const {
    return reinterpret_cast<int32_t *>(words(value));
  }

  uint64_t constantBytes() const { return constantWords * 4; }
  uint64_t arenaBytes() const { return arenaWords * 4; }

private:
  uint32_t *addConstant(const Value *value);
  void placeConstants(const Function &function,
                      const llvm::DenseSet<const Value *> &needed);
  void foldConstants(const Schedule &schedule,
                     const llvm::DenseSet<const Value *> &needed,
                     Numerics numerics);
  void placeActivations(const Function &function, const Schedule &schedule);

  llvm::DenseMap<const Value *, uint32_t *> places;
  std::vector<AlignedArray> constants; ///< each holds several
  uint32_t *chunk = nullptr;           ///< free memory of the last one
  uint64_t chunkLeft = 0;
  AlignedArray arena;
  uint64_t constantWords = 0, arenaWords = 0;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STORAGE_H
