//===- Predict.h - predict the cost of a program ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Predictions computed from the operations and bytes of a program and the cost
/// anchors of a target, and published measurements to compare them with.
/// Nothing here is measured.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_PREDICT_H
#define ANEC_TARGET_PREDICT_H

#include "anec/Ops/Report.h"
#include "anec/Target/Target.h"

namespace anec {

/// The predicted cost of one evaluation of a program.
struct Prediction {
  FunctionReport numbers;
  /// Number of ops on the longest path from an input to an output.
  unsigned depth = 0;
  unsigned tasks = 0; ///< see countTasks
  Work work;
  double floor = 0;           ///< microseconds, as all members below
  double compute = 0;         ///< all ops
  double move = 0;            ///< moving data on and off the chip
  double elements = 0;        ///< ops that are not products, see elementBytes
  double total = 0;           ///< floor + max(compute, move) + elements
  double least = 0, most = 0; ///< the total within the anchors' error

  /// What dominates the time: `dispatch`, `compute`, `bandwidth` or
  /// `elements`.
  llvm::StringRef bound() const;
  /// The share of the target's peak rate for convolutions that is used, 0 to 1.
  double utilization(const Target &target) const;
  /// The peak size of live values, as a share of the chip's memory.
  double share(const Target &target) const;
};

/// Predicts one evaluation of `function`.
Prediction predict(const Function &function, const Target &target);

/// The cost of all ops of one kind and shape in a program.
struct ShapeCost {
  const OpDef *def;
  std::string shape; ///< a product's `768 to 2048 over 256`, else the result's
  unsigned count = 0;
  int64_t flops = 0;
  uint64_t weightBytes = 0;
  double compute = 0; ///< microseconds, with what its elements take
  double stream = 0;  ///< microseconds to read the weights
  /// The highest possible share of the target's peak rate for convolutions:
  /// without dispatch, and with only weights to move.
  double utilization(const Target &target) const;
};
/// The ops that have operations, the slowest first.
std::vector<ShapeCost> costByShape(const Function &function,
                                   const Target &target);

/// The cost of the ops at one depth: their distance from the inputs.
struct DepthCost {
  unsigned ops = 0;
  int64_t flops = 0;
  double compute = 0; ///< microseconds, with what its elements take
};
/// One element per depth, from the inputs to the outputs.
std::vector<DepthCost> costByDepth(const Function &function,
                                   const Target &target);

/// The cost of programs that run one after another, and of the host ops between
/// them.
struct RunCost {
  struct Program {
    const Function *function;
    std::string name;
    unsigned runs;
    Prediction cost; ///< of one run
    double total() const { return runs * cost.total; }
  };
  std::string name;
  std::vector<Program> programs; ///< the slowest first
  unsigned hostOps = 0;
  int64_t hostFlops = 0;

  /// The number of runs of all programs.
  unsigned dispatches() const;
  /// The prediction for all runs together, without the host.
  Prediction sum() const;
  /// Adds `runs` runs of `function`.
  void add(const Function &function, llvm::StringRef name, unsigned runs,
           const Target &target);
};
/// The cost of running each program of `module` once.
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
  /// Whether the target's anchors were fitted to it.
  bool fitted = false;

  /// Whether no parameter may be fitted to it. That depends on the digest of
  /// its programs' work, and on whether they are those of a fitted row.
  bool isHeldOut() const;
};
/// All published measurements.
llvm::ArrayRef<PublishedTime> publishedTimes();
/// Describes the error of predictions: `within a factor of 2.6 of what was
/// published`, or that it is a guess.
std::string describeError(const Target &target);
/// Predicts the time of the programs of `published` on its target.
double predictMilliseconds(const PublishedTime &published);

/// A published rate of a chip, to compare with the anchor of its target. No
/// anchor is fitted to it.
struct PublishedRate {
  llvm::StringLiteral target;
  llvm::StringLiteral chips;
  bool isBandwidth; ///< 10^9 bytes per second; else 10^12 operations, `matmul`
  double rate;
  llvm::StringLiteral source;

  double anchor() const;
};
llvm::ArrayRef<PublishedRate> publishedRates();

/// How far predictions are from measurements: the factor between the two, in
/// either direction.
struct PredictionError {
  unsigned count = 0;
  double median = 1, worst = 1;
  double typical = 1; ///< of the root of the mean square of the logarithms
};
/// The error of predictions whose ratios to what was measured have the absolute
/// logarithms `logs`.
PredictionError summarizeErrors(llvm::SmallVector<double> logs);
/// The error of predictions for the rows that are held out, or for the others,
/// if ops other than products moved 10^9 times `elementRate` bytes per second
/// on all targets; 0 for no time at all, as before they were counted.
PredictionError errorOfPredictions(bool heldOut, double elementRate);

} // namespace anec

#endif // ANEC_TARGET_PREDICT_H
