//===- RopeAngles.h - the angles of rotary embedding -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The angles by which `rope` rotates: the one place where they are computed.
/// Code that rotates other positions than 0, 1, 2, ... (a block of a longer
/// sequence) asks here for theirs.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ROPEANGLES_H
#define ANEC_LIB_OPS_ROPEANGLES_H

#include "lib/IR/OpDef.h"

namespace anec {

/// What the angles of a `rope`, or of the tables of one, depend on: its
/// constants, and the width of its heads. Sources of the kinds of scaling:
/// transformers' modeling_rope_utils.py; arXiv 2309.00071 (yarn), 2402.13753
/// (longrope).
class RopeAngles {
public:
  explicit RopeAngles(const Op &op);
  explicit RopeAngles(const EvalContext &ctx);
  /// The same for a `rope_table`.
  static RopeAngles ofTable(const EvalContext &ctx);

  /// The channels that are rotated, from the first of each head: an even
  /// number, 0 for none.
  int64_t channels() const { return rotary; }
  /// Radians per position of the pair `pair` of `channels() / 2`; negative for
  /// an inverse rotation.
  double step(int64_t pair) const { return steps[pair]; }
  /// The cosine and sine for a pair at any position, times the magnitude.
  double cosine(int64_t pair, int64_t position) const;
  double sine(int64_t pair, int64_t position) const;
  /// The channels of a pair.
  int64_t first(int64_t pair) const { return isInterleaved ? 2 * pair : pair; }
  int64_t second(int64_t pair) const {
    return isInterleaved ? 2 * pair + 1 : pair + rotary / 2;
  }

private:
  RopeAngles() = default;
  /// Of `rotated` channels of heads at `length` positions.
  template <typename Context>
  void read(const Context &ctx, int64_t rotated, int64_t length);

  int64_t rotary = 0;
  bool isInterleaved = true;
  double magnitude = 1;
  std::vector<double> steps;
};

} // namespace anec

#endif // ANEC_LIB_OPS_ROPEANGLES_H
