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

#include "PortParts.h"
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

/// Memory for what lives during a run only. Programs that never run at the same
/// time use the same: each takes one that is large enough, or a new one.
class SharedArenas {
public:
  uint32_t *atLeast(uint64_t words);

private:
  struct Block {
    AlignedArray memory;
    uint64_t words;
  };
  std::vector<Block> blocks;
};

class Storage {
public:
  /// Places that others gave to values.
  using Places = llvm::DenseMap<const Value *, uint32_t *>;

  /// Converts and computes the constants, and gives everything else that is not
  /// in `external` a place: inputs and outputs one of their own, the rest one
  /// in an arena.
  Storage(const Function &function, const Schedule &schedule,
          const PortParts &parts, Numerics numerics, const Places &external,
          SharedArenas &arenas);

  /// Null for values internal to a step.
  uint32_t *words(const Value *value) const { return places.lookup(value); }
  float *floats(const Value *value) const {
    return reinterpret_cast<float *>(words(value));
  }
  int32_t *ints(const Value *value) const {
    return reinterpret_cast<int32_t *>(words(value));
  }

  uint64_t constantBytes() const { return constantWords * 4; }
  uint64_t arenaBytes() const { return (arenaWords + ownWords) * 4; }

private:
  uint32_t *addConstant(const Value *value);
  void placeConstants(const Function &function,
                      const llvm::DenseSet<const Value *> &needed);
  void foldConstants(const Schedule &schedule,
                     const llvm::DenseSet<const Value *> &needed,
                     Numerics numerics);
  void placePorts(const Schedule &schedule, const PortParts &parts);
  void placeActivations(const Schedule &schedule, SharedArenas &arenas);

  Places places;
  std::vector<AlignedArray> constants; ///< each holds several
  uint32_t *chunk = nullptr;           ///< free memory of the last one
  uint64_t chunkLeft = 0;
  AlignedArray own; ///< inputs and outputs
  uint64_t constantWords = 0, arenaWords = 0, ownWords = 0;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STORAGE_H
