//===- Predict.h - what a program costs on a target ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Predictions from a program's operations and bytes and a target's anchors,
/// and the published measurements that they are compared with. Nothing here is
/// measured.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_PREDICT_H
#define ANEC_TARGET_PREDICT_H

#include "anec/Ops/Report.h"
#include "anec/Target/Target.h"

namespace anec {

struct Prediction {
  FunctionReport numbers;
  /// Ops on the longest way from an input to an output.
  unsigned depth = 0;
  Work work;
  double floor = 0;   ///< microseconds, as all below
  double compute = 0; ///< of convolutions and of all else
  double move = 0;    ///< on and off the chip
  double total = 0;   ///< the floor, and the longer of computing and moving
  double least = 0, most = 0; ///< within the anchors' error

  /// `dispatch`, `compute` or `bandwidth`: what takes longest.
  llvm::StringRef bound() const;
  /// Of the target's peak for convolutions, 0 to 1.
  double utilization(const Target &target) const;
  /// What is alive at once and the weights of one op, as a share of the chip's
  /// memory.
  double share(const Target &target) const;
};

Prediction predict(const Function &function, const Target &target);

/// A published measurement of `programs`, each run `count` times.
struct PublishedTime {
  struct Programs {
    unsigned count = 0;
    Work work;
  };
  llvm::StringLiteral target;
  llvm::StringLiteral what;
  llvm::StringLiteral source;
  std::array<Programs, 2> programs;
  double milliseconds;
  /// The target's anchors were chosen by it.
  bool fitted = false;
};
llvm::ArrayRef<PublishedTime> publishedTimes();
double predictMilliseconds(const PublishedTime &published);

} // namespace anec

#endif // ANEC_TARGET_PREDICT_H
