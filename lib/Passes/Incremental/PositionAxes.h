//===- PositionAxes.h - which axis of a value is the positions --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Along one axis of a value, or along none, lie the positions of a text:
/// element i of this axis depends on position i of the text alone. The rule of
/// an op says which axis of its results that is, and refuses an op that
/// combines positions. `sdpa`, `rope`, `call` and `repeat`, which the
/// `incremental` pass rewrites, have no rule.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_POSITIONAXES_H
#define ANEC_LIB_PASSES_POSITIONAXES_H

#include "lib/IR/Builder.h"

namespace anec {

/// The axis along which the positions of a value lie. Nothing for a value that
/// does not depend on the text.
using PositionAxis = std::optional<unsigned>;

/// An op, and what a rule finds out about it.
struct PositionFlow {
  PositionFlow(const Op &op, llvm::ArrayRef<PositionAxis> in, int64_t count)
      : op(op), in(in), count(count) {}

  const Op &op;
  llvm::ArrayRef<PositionAxis> in; ///< of each operand
  int64_t count;                   ///< positions of the derived op

  PositionAxis out; ///< of each result
  /// Operands that do not depend on the text, but vary along an axis that
  /// meets the positions of another operand: element i is for position i.
  struct Varying {
    unsigned slot, axis;
  };
  llvm::SmallVector<Varying, 2> varying;
  /// Constants of the derived op that differ because it has `count` positions.
  llvm::SmallVector<Attr, 2> changed;
  /// What the op does with positions that no derived op can do; a predicate of
  /// the op: `sums over the positions`.
  std::string problem;

  // For rules.

  const Shape &shape(unsigned slot) const {
    return op.operand(slot)->type.shape;
  }
  unsigned rank(unsigned slot) const { return shape(slot).size(); }
  bool keep(PositionAxis axis) {
    out = axis;
    return true;
  }
  bool fail(llvm::StringRef what) {
    problem = what.str();
    return false;
  }
  /// `axis` of an operand or result of `rank`, counted from its first axis.
  static unsigned normalized(int64_t axis, unsigned rank) {
    return unsigned(axis < 0 ? axis + rank : axis);
  }
};

/// Finds the axis of the results of `flow.op`, of which at least one operand
/// has positions. Returns false, with `problem` set, when there is none.
[[nodiscard]] bool findPositionAxis(PositionFlow &flow);

} // namespace anec

#endif // ANEC_LIB_PASSES_POSITIONAXES_H
