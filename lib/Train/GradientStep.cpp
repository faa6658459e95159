//===- GradientStep.cpp - from gradients to changed weights ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/GradientStep.h"
#include "lib/Train/Diags.h"
#include <cmath>

using namespace anec;

Hyperparameters anec::defaultHyperparameters(Numerics numerics) {
  Hyperparameters hyper;
  // fp32 loses nothing.
  if (numerics == Numerics::FP32) {
    hyper.lossScale = 1;
    hyper.lossScaleGrowth = 0;
  }
  return hyper;
}

/// Whether a loss or gradients can still become finite; reported when not.
static bool checkFinite(const StepRecord &record, StepState &state,
                        Diagnostics &diags) {
  state.badLosses = std::isfinite(record.loss) ? 0 : state.badLosses + 1;
  // A single window may overflow fp16; a failure in the first step or several
  // in a row indicates a real problem.
  if (state.badLosses && (state.updates == 0 || state.badLosses == 5)) {
    std::string before;
    if (int64_t others = state.badLosses - 1)
      before = ", as are those of the " + std::to_string(others) + " before it";
    diags.report({}, diag::LossNotFinite, record.step, before,
                 state.updates == 0
                     ? "the data, or the weights that it begins with, are not "
                       "finite or too large for the numerics"
                     : "a lower `--lr` or a longer `--warmup` keeps it finite");
    return false;
  }
  if (record.skipped && state.lossScale.isLeast()) {
    diags.report({}, diag::GradientsNotFinite, record.step);
    return false;
  }
  return true;
}

bool anec::measureGradients(AdamW &optimizer, const Hyperparameters &hyper,
                            StepState &state, StepRecord &record,
                            Diagnostics &diags) {
  double unscale = 1 / (state.lossScale.factor * hyper.batch);
  double norm = optimizer.gradientNorm() * unscale;
  record.gradientNorm = norm;
  record.lossScale = state.lossScale.factor;
  record.learningRate = hyper.learningRateAt(record.step);
  record.skipped = !std::isfinite(norm) || !std::isfinite(record.loss);
  if (!checkFinite(record, state, diags))
    return false;
  state.lossScale.update(std::isfinite(norm), uint64_t(hyper.lossScaleGrowth));
  return true;
}

void anec::applyGradients(AdamW &optimizer, const Hyperparameters &hyper,
                          StepState &state, const StepRecord &record) {
  // The gradients still have the scale that the step ran with.
  double unscale = 1 / (record.lossScale * hyper.batch);
  double clipped = hyper.clip > 0 && record.gradientNorm > hyper.clip
                       ? hyper.clip / record.gradientNorm
                       : 1;
  optimizer.step(hyper, record.learningRate, unscale, clipped, ++state.updates);
}
