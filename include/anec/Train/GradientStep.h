//===- GradientStep.h - from gradients to changed weights ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The arithmetic of a training step once its gradients are there: their norm,
/// the loss's scale, clipping, AdamW. The training loop and the embedding API
/// share it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_GRADIENTSTEP_H
#define ANEC_TRAIN_GRADIENTSTEP_H

#include "anec/Train/AdamW.h"
#include "anec/Train/LossScale.h"
#include "anec/Train/TrainLog.h"

namespace anec {

/// What a run of `numerics` starts with: in fp32 the loss needs no scale.
Hyperparameters defaultHyperparameters(Numerics numerics);

/// Fills `record`, whose step and loss are known, with the gradients' norm, the
/// loss's scale, the learning rate and whether the step is skipped because a
/// number is not finite; and updates the scale. Gradients are sums over
/// `hyper.batch` runs of a loss that `state.lossScale` scaled. False, with the
/// reason reported, when neither loss nor gradients can become finite again.
[[nodiscard]] bool measureGradients(AdamW &optimizer,
                                    const Hyperparameters &hyper,
                                    StepState &state, StepRecord &record,
                                    Diagnostics &diags);

/// Changes the weights by the gradients that were measured; not for a step that
/// is skipped.
void applyGradients(AdamW &optimizer, const Hyperparameters &hyper,
                    StepState &state, const StepRecord &record);

} // namespace anec

#endif // ANEC_TRAIN_GRADIENTSTEP_H
