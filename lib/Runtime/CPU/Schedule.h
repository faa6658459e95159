//===- Schedule.h - which ops run together ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A step is one op, an op with its norm or bias, several tile ops of one shape
/// (elementwise ones, and softmax along rows) that are computed tile by tile,
/// so that values between them stay in the cache, or the ops of attention.
/// Constants and aliases need no step, and ops on constants are computed once,
/// when the program is loaded.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_SCHEDULE_H
#define ANEC_LIB_RUNTIME_CPU_SCHEDULE_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include "lib/Runtime/CPU/VectorKernels.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace anec::cpu {

/// Whether the op's result is its operand under another name and shape.
bool isAlias(const Op &op, Numerics numerics);

/// The vector kernel that computes an op on some rows of its result, reading no
/// other rows of its operands.
struct TileKernel {
  enum class Kind : uint8_t { Unary, Binary, Softmax } kind;
  Unary unary = Unary::Copy;
  Binary binary = Binary::Add;
  float p = 0, q = 0; ///< the parameters of `unary`
};
/// Returns nothing when the op is not of these kinds, is not on floats, or has
/// no kernel.
std::optional<TileKernel> tileKernel(const Op &op);

struct Step {
  llvm::SmallVector<const Op *, 4> ops;
  /// The ops have a tile kernel each, and one shape.
  bool fused = false;

  /// Whether the second of two ops is part of the first (Merging.h).
  bool isMerged() const { return !fused && ops.size() == 2; }
  /// Whether the ops are those of AttentionOps.h.
  bool isAttention() const { return !fused && ops.size() > 2; }
  /// A convolution with the norm after it in its weights.
  bool hasFoldedNorm() const;
};

struct PortParts;

struct Schedule {
  Schedule(const Function &function, const PortParts &parts, Numerics numerics);

  std::vector<Step> steps;
  /// Ops whose operands are constants, in order: their results are constants,
  /// too.
  std::vector<const Op *> folded;
  /// The value that each value is an alias of; most are their own root.
  llvm::DenseMap<const Value *, const Value *> roots;
  /// How many elements of its root precede an alias that is a part of it.
  llvm::DenseMap<const Value *, int64_t> offsets;
  /// Values that exist only inside one step.
  llvm::DenseSet<const Value *> internal;

  const Value *root(const Value *value) const { return roots.lookup(value); }
  /// Whether the value is known on loading.
  bool isConstant(const Value *value) const {
    return constants.contains(root(value));
  }

private:
  bool isFoldable(const Op &op) const;
  Step &stepFor(const Op &op);
  bool joins(const Op &op, const Step &step) const;
  bool canMoveToEnd(size_t number) const;
  void merge(const Op &op, const Value *x);
  void findInternalValues();
  void findAttention(Numerics numerics);
  bool writesState(size_t begin, size_t end) const;

  /// False for an emulated engine, where each op is a step.
  bool fuses;
  llvm::DenseSet<const Value *> constants;   ///< roots
  llvm::DenseMap<const Op *, size_t> stepOf; ///< of ops that have one so far
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_SCHEDULE_H
