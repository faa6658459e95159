//===- Place.h - predict where Core ML runs ops -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TARGET_PLACE_H
#define ANEC_LIB_TARGET_PLACE_H

#include "anec/Target/Check.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

/// Where Core ML is expected to run an op: on the engine, or on the CPU or GPU
/// since an op breaks a rule there.
struct PlacedOp {
  const Op *op;
  /// The rule that keeps the op off the engine; null on the engine.
  const Rule *rule = nullptr;
  /// How the op breaks it.
  std::string why;

  bool onEngine() const { return rule == nullptr; }
};

/// Predicts the place of each op of `function` that computes, in order, by the
/// rules of `target` about what the engine does not take. Core ML may also keep
/// ops off the engine that it takes, when little work lies between others.
std::vector<PlacedOp> predictPlacement(const Function &function,
                                       const Target &target,
                                       std::optional<OSVersion> macOS);
/// The same, without the rules that `assumptions` allows to break.
std::vector<PlacedOp> predictPlacement(const Function &function,
                                       const Target &target,
                                       const Assumptions &assumptions);

/// Where ops lie among those that the engine does.
struct OpsAroundEngine {
  /// Those that have no work of the engine before them, or none after them:
  /// what they use, and what uses them, directly or not. Core ML can do them on
  /// the processor without stopping the engine.
  llvm::DenseSet<const Op *> atEnds;
  /// Casts from or to what an op computes that the engine does not take.
  llvm::DenseSet<const Op *> castsOfOthers;
  bool hasWork = false; ///< of the engine

  static OpsAroundEngine find(const Function &function, const Target &target,
                              const Assumptions &assumptions);
};

/// Whether what breaks the rule is no finding for Core ML.
bool isFineForCoreML(const Op &op, const Rule &rule,
                     const OpsAroundEngine &around);

/// How often the place changes from one op to the next.
size_t countMoves(llvm::ArrayRef<PlacedOp> ops);

} // namespace anec

#endif // ANEC_LIB_TARGET_PLACE_H
