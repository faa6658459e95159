//===- Positions.h - which axis of a value is the positions -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Along one axis of a value, or along none, lie the positions of a text:
/// element i of this axis depends on position i of the text alone. A row's
/// `positions` says which axis of its results that is, and refuses an op that
/// combines positions. `sdpa`, `rope`, `call` and `repeat` are rewritten by the
/// pass `incremental` instead.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_POSITIONS_H
#define ANEC_LIB_OPS_POSITIONS_H

#include "lib/IR/Builder.h"
#include "lib/IR/OpDef.h"

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
  /// For operands that are aligned at their last axes: the distance of the
  /// positions from the end; nothing when two operands differ in it. What has
  /// no positions is the same for all of them, or varies along them.
  std::optional<unsigned> align();
};

/// Finds the axis of the results of `flow.op`, of which at least one operand
/// has positions, by the rule of its row. Returns false, with `problem` set,
/// when there is none.
[[nodiscard]] bool findPositionAxis(PositionFlow &flow);

/// Rules that several rows have.
namespace positions {

/// A rule of an op of which operands other than the first may have positions.
constexpr PositionRule ofSeveral(bool (*find)(PositionFlow &)) {
  return {find, true};
}

/// Operands broadcast to each other.
bool elementwise(PositionFlow &f);
/// The result has the axes of the first operand.
bool same(PositionFlow &f);
/// Elements stay in order: the axis of the result that has the same number of
/// elements before it.
bool reshape(PositionFlow &f);
/// Each line along `axis` by itself.
bool alongAxis(PositionFlow &f);
/// Each line along `axes` by itself.
bool alongAxes(PositionFlow &f);
/// Combines what lies along `axes` or `axis`.
bool reduction(PositionFlow &f);
/// A number for each channel, axis 1.
bool perChannel(PositionFlow &f);
/// Whether positions are before the last `count` axes, which are computed
/// along.
bool beforeLast(PositionFlow &f, unsigned count);
/// Along the last `count` axes.
template <unsigned count>
bool alongLast(PositionFlow &f) {
  return beforeLast(f, count);
}

// What refuses all positions.

/// Each result depends on what lies around it.
bool neighbors(PositionFlow &f);
/// Results depend on any position.
bool combined(PositionFlow &f);
/// Results are elements from any position, or at any.
bool moved(PositionFlow &f);
/// The op is not among those of models that decode.
bool apart(PositionFlow &f);

// What rules say of ops that they refuse.
inline constexpr llvm::StringLiteral relates =
    "relates positions with other positions";
inline constexpr llvm::StringLiteral along = "works along the positions";
inline constexpr llvm::StringLiteral sums = "sums over the positions";
inline constexpr llvm::StringLiteral takesPart =
    "takes positions out of their sequence";
inline constexpr llvm::StringLiteral joinsNeighbors =
    "combines neighboring positions";

} // namespace positions

} // namespace anec

#endif // ANEC_LIB_OPS_POSITIONS_H
