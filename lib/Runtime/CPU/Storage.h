//===- Storage.h - memory of values during a run ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Every value except stored weights has four bytes per element: floats of any
/// type are held as fp32 (already rounded to the type they are declared with),
/// integers and booleans as int32. Values whose lifetimes do not overlap share
/// memory, and an op that only renames its operand (reshape) shares the
/// operand's.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_STORAGE_H
#define ANEC_LIB_RUNTIME_CPU_STORAGE_H

#include "Merging.h"
#include "PortParts.h"
#include "Schedule.h"
#include "StoredWeight.h"
#include "anec/Runtime/Workspace.h"
#include "lib/IR/OpDef.h"

namespace anec::cpu {

/// The type that elements of `dtype` are rounded to: fp32 for fp16 without
/// rounding.
inline DType storedType(DType dtype, Rounding rounding) {
  return dtype == DType::FP16 && rounding == Rounding::None ? DType::FP32
                                                            : dtype;
}

class Storage {
public:
  /// Memory of values that is owned by others.
  using Places = llvm::DenseMap<const Value *, uint32_t *>;

  /// Converts and computes the constants, and allocates all other values that
  /// are not in `external`: inputs and outputs separately, the rest in an
  /// arena. Weights of products and gathered tables stay as they are stored,
  /// except with emulated numerics and those of the ops in `expanding`.
  Storage(const Function &function, const Schedule &schedule,
          const PortParts &parts, Numerics numerics, const Places &external,
          Workspace &workspace,
          const llvm::DenseSet<const Op *> &expanding = {});

  /// Null for values internal to a step.
  uint32_t *words(const Value *value) const { return places.lookup(value); }
  float *floats(const Value *value) const {
    return reinterpret_cast<float *>(words(value));
  }
  int32_t *ints(const Value *value) const {
    return reinterpret_cast<int32_t *>(words(value));
  }

  /// The weight that `op` reads as it is stored, and of which there are no
  /// words; null for none.
  std::shared_ptr<const StoredWeight> stored(const Op &op) const {
    return storedWeights.lookup(&op);
  }

  /// The weight of a convolution, with a norm that is part of it; and the bias,
  /// null for none.
  const float *convWeight(const Op &conv) const;
  const float *convBias(const Op &conv) const;

  /// The row that is added to a matmul as a part of it; null for none.
  const float *matmulBias(const Op &matmul) const {
    return matmulBiases.lookup(&matmul);
  }

  /// The memory of constants, without what is read from mapped files.
  uint64_t constantBytes() const;
  uint64_t arenaBytes() const { return (arenaWords + ownWords) * 4; }

private:
  void findStoredWeights(const Schedule &schedule,
                         const llvm::DenseSet<const Op *> &expanding);
  llvm::DenseSet<const Value *> neededRoots(const Function &function,
                                            const Schedule &schedule,
                                            const PortParts &parts) const;
  uint32_t *addConstant(const Value *value);
  void placeConstants(const Function &function,
                      const llvm::DenseSet<const Value *> &needed,
                      Numerics numerics);
  void foldConstants(const Schedule &schedule,
                     const llvm::DenseSet<const Value *> &needed,
                     Numerics numerics);
  void foldNorms(const Schedule &schedule);
  void placeMerged(const Schedule &schedule);
  void placePorts(const Schedule &schedule, const PortParts &parts);
  void placeActivations(const Schedule &schedule, Workspace &workspace);

  Places places;
  llvm::DenseMap<const Op *, std::shared_ptr<const StoredWeight>> storedWeights;
  llvm::DenseMap<const Op *, std::shared_ptr<const FoldedConv>> foldedConvs;
  llvm::DenseMap<const Op *, const float *> matmulBiases;
  std::vector<AlignedArray> constants; ///< each block holds several
  uint32_t *chunk = nullptr;           ///< free memory of the last block
  uint64_t chunkLeft = 0;
  AlignedArray own; ///< inputs and outputs
  uint64_t constantWords = 0, arenaWords = 0, ownWords = 0;
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_STORAGE_H
