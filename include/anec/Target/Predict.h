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

/// What ops of one kind and shape take of a program.
struct ShapeCost {
  const OpDef *def;
  std::string shape; ///< `768 to 2048 over 256` of a product, else the result's
  unsigned count = 0;
  int64_t flops = 0;
  uint64_t weightBytes = 0;
  double compute = 0; ///< microseconds, as in Prediction
  double stream = 0;  ///< of their weights alone
  /// Of the target's peak for convolutions, at most: when dispatch costs
  /// nothing, and nothing but weights is moved.
  double utilization(const Target &target) const;
};
/// The ops that have operations to do, those that take longest first.
std::vector<ShapeCost> costByShape(const Function &function,
                                   const Target &target);

/// What the ops do that are as far from the inputs as each other.
struct DepthCost {
  unsigned ops = 0;
  int64_t flops = 0;
  double compute = 0; ///< microseconds
};
/// From the inputs on.
std::vector<DepthCost> costByDepth(const Function &function,
                                   const Target &target);

/// Programs that run one after another, and what the host does in between.
struct RunCost {
  struct Program {
    const Function *function;
    std::string name;
    unsigned runs;
    Prediction cost; ///< of one run
    double total() const { return runs * cost.total; }
  };
  std::string name;
  std::vector<Program> programs; ///< that which takes longest first
  unsigned hostOps = 0;
  int64_t hostFlops = 0;

  unsigned dispatches() const;
  /// Of all runs. The host is not predicted.
  Prediction sum() const;
  void add(const Function &function, llvm::StringRef name, unsigned runs,
           const Target &target);
};
/// Each program of `module` once.
RunCost predictOnce(const Module &module, const Target &target);

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
/// `within a factor of 2.6 of what was published`, or that it is a guess.
std::string describeError(const Target &target);
double predictMilliseconds(const PublishedTime &published);

} // namespace anec

#endif // ANEC_TARGET_PREDICT_H
