//===- Schedule.h - which ops run together ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A step is one op, or a run of elementwise ops of one shape that are computed
/// tile by tile, so that what passes between them stays in the cache. Constants
/// and aliases need no step.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_SCHEDULE_H
#define ANEC_LIB_RUNTIME_CPU_SCHEDULE_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include "anec/Runtime/CPU/VectorKernels.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace anec::cpu {

/// Whether the op's result is its operand under another name and shape.
bool isAlias(const Op &op, Numerics numerics);

/// The vector kernel that computes an elementwise op on floats.
struct ElementwiseKernel {
  enum class Kind : uint8_t { Unary, Binary } kind;
  Unary unary = Unary::Copy;
  Binary binary = Binary::Add;
  float p = 0, q = 0; ///< the parameters of `unary`
};
/// Nothing when the op is not elementwise on floats, or has no such kernel.
std::optional<ElementwiseKernel> elementwiseKernel(const Op &op);

struct Step {
  llvm::SmallVector<const Op *, 4> ops;
  /// The ops are elementwise with a kernel each.
  bool fused = false;
};

struct Schedule {
  Schedule(const Function &function, Numerics numerics);

  std::vector<Step> steps;
  /// The value that a value is another name of; itself for most.
  llvm::DenseMap<const Value *, const Value *> roots;
  /// Values that exist only inside one fused step.
  llvm::DenseSet<const Value *> internal;

  const Value *root(const Value *value) const { return roots.lookup(value); }
};

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_SCHEDULE_H
