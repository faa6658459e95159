//===- RandomMask.h - how the elements of a mask are drawn ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_RANDOMMASK_H
#define ANEC_IR_RANDOMMASK_H

namespace anec {

/// How the elements of a parameter with the role `random-mask` are drawn: each
/// is 0, or `value()` with the probability `keep`.
struct RandomMask {
  float keep = 1;
  /// Whether the elements that are kept make up for the others, so that the
  /// mean is 1, as `dropout` does.
  bool scaled = false;

  double value() const { return scaled ? 1 / double(keep) : 1; }
  /// What stands for every element when nothing is drawn.
  double mean() const { return scaled ? 1 : double(keep); }
  bool isValid() const { return keep > 0 && keep <= 1; }
  bool operator==(const RandomMask &) const = default;
};

} // namespace anec

#endif // ANEC_IR_RANDOMMASK_H
