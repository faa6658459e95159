//===- Hyperparameters.h - what a training run can be told ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The hyperparameters of training, each a row of one table, which the command
/// line, checkpoints and messages read. A checkpoint stores them, and a resumed
/// run continues with them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_HYPERPARAMETERS_H
#define ANEC_TRAIN_HYPERPARAMETERS_H

#include "anec/Support/Diagnostics.h"

namespace anec {

struct Hyperparameters {
  double batch = 1; ///< runs per step
  double learningRate = 1e-3;
  double minLearningRate = 1e-4;
  double warmup = 50;    ///< steps
  double decaySteps = 0; ///< 0: the rate does not decay
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weightDecay = 0.1;
  double clip = 1; ///< 0: gradients are not clipped
  double lossScale = 1024;
  double lossScaleGrowth = 1000; ///< steps; 0: it never grows

  /// The learning rate of `step`, which counts from 1.
  double learningRateAt(uint64_t step) const;
};

/// A row of the table.
struct HyperparameterDef {
  llvm::StringLiteral name; ///< of the flag: `weight-decay`
  llvm::StringLiteral help;
  double Hyperparameters::*member;
  double least, most;
  bool isCount = false; ///< a whole number

  /// What it takes instead of `value`: `a number of at least 0 and at most 1`.
  /// Empty for a valid value.
  std::string wantedFor(double value) const;
};
llvm::ArrayRef<HyperparameterDef> hyperparameterTable();
const HyperparameterDef *findHyperparameter(llvm::StringRef name);

using GivenHyperparameters =
    std::vector<std::pair<const HyperparameterDef *, double>>;
/// Hyperparameters with `given` values. A decay ends at a tenth of the learning
/// rate unless `given` says where.
Hyperparameters withHyperparameters(Hyperparameters hyper,
                                    const GivenHyperparameters &given);
/// The rate at which a decay from `learningRate` ends unless another is given.
inline double defaultMinLearningRate(double learningRate) {
  return learningRate / 10;
}

/// Whether a decay does not end above the learning rate; reports an error when
/// it does.
[[nodiscard]] bool checkRates(const Hyperparameters &hyper, Diagnostics &diags);
/// Whether `value` is valid for `def`; reports an error when it is not.
[[nodiscard]] bool checkHyperparameter(const HyperparameterDef &def,
                                       double value, Diagnostics &diags);
/// The same for all of `hyper`.
[[nodiscard]] bool checkHyperparameters(const Hyperparameters &hyper,
                                        Diagnostics &diags);
/// `0.001`, `50`.
std::string formatNumber(double value);

} // namespace anec

#endif // ANEC_TRAIN_HYPERPARAMETERS_H
