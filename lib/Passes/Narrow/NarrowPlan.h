//===- NarrowPlan.h - which ops stay in fp32 --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops are computed in fp16, except those that would compute something else.
/// `wide` ops stay in fp32, all others are `narrow`; where a value of one kind
/// is read by the other, it is cast. docs/use/numerics.md has the reasons.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_NARROW_NARROWPLAN_H
#define ANEC_LIB_PASSES_NARROW_NARROWPLAN_H

#include "Coordinates.h"
#include "HalfConstants.h"
#include "ProvenRanges.h"
#include "anec/Passes/ExampleRanges.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

class NarrowPlan {
public:
  struct Options {
    /// Norms, roots and logarithms of fp16 can have their other constants in
    /// fp32, as from the opset ios17 on.
    bool takesMixedTypes = true;
    /// What the values of the function were for example inputs, if known.
    std::optional<FunctionRanges> examples = std::nullopt;
  };
  NarrowPlan(const Function &function, Options options);

  bool isWide(const Op &op) const { return reasons.contains(&op); }
  /// Why an op is wide; empty where it is so because its neighbors are.
  llvm::StringRef reason(const Op &op) const {
    auto found = reasons.find(&op);
    return found == reasons.end() ? "" : llvm::StringRef(found->second);
  }
  /// Whether a narrow op keeps its operands but the first, which are stored or
  /// computed in fp32, and its epsilon as they are.
  bool keepsConstants(const Op &op) const { return mixed.contains(&op); }
  /// The rows of a constant that keep their sums in fp16.
  std::optional<WeightRows> rowsOf(const Value *weight) const {
    auto found = weightRows.find(weight);
    return found == weightRows.end() ? std::nullopt
                                     : std::optional(found->second);
  }
  /// Whether fp16 has the value limited to `maskLimit`.
  bool isLimited(const Value *value) const { return limited.contains(value); }

private:
  /// What is known of a value that fp16 may not hold.
  struct Fact {
    /// It was scaled by about this; 0 for a value of ordinary numbers.
    double scale = 0;
    /// It has no element between 0 and a number that fp16 does not hold.
    bool isGuarded = false;
    /// 1 / a guarded value.
    bool isReciprocal = false;
    /// Computed from integers alone, which are to be exact.
    bool isInteger = false;
  };

  void widen(const Op &op, std::string reason);
  void setFact(const Op &op, Fact fact);
  Fact factOf(const Value *value) const { return facts.lookup(value); }

  void decide(const Op &op);
  bool decideByConstants(const Op &op);
  bool decideOperand(const Op &op, unsigned slot);
  bool decideParameter(const Op &op, const ParamDef &param);
  bool decideGuard(const Op &op);
  void passGuardOn(const Op &op);
  bool decideByGuards(const Op &op);
  bool decideByOperands(const Op &op);
  bool decideByScale(const Op &op, double scale);
  bool decideByKind(const Op &op);
  bool decideByFactor(const Op &op);
  bool decideByExamples(const Op &op);
  void extendUpwards(const Function &function);
  void fillGaps(const Function &function);

  const Options options;
  ProvenRanges proven;
  Coordinates coordinates;
  llvm::DenseMap<const Op *, std::string> reasons;
  llvm::DenseMap<const Value *, Fact> facts;
  llvm::DenseSet<const Op *> mixed;
  /// Wide ops whose operands near 0 matter.
  llvm::DenseSet<const Op *> precise;
  /// Wide ops of which the operands are angles.
  llvm::DenseSet<const Op *> angles;
  llvm::DenseSet<const Value *> limited;
  llvm::DenseMap<const Value *, WeightRows> weightRows;
};

} // namespace anec

#endif // ANEC_LIB_PASSES_NARROW_NARROWPLAN_H
