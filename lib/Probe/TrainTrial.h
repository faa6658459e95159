//===- TrainTrial.h - trains a model as a trial -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_TRAINTRIAL_H
#define ANEC_PROBE_TRAINTRIAL_H

#include "Trials.h"
#include "lib/Probe/Doctor.h"

namespace anec {

/// Trains the model of a trial for some steps, on the backend of `options` and
/// on the CPU backend, and compares the losses and the weights. Returns an
/// object with the outcome.
llvm::json::Object trainTrial(const Trial &trial, const TrialOptions &options);

} // namespace anec

#endif // ANEC_PROBE_TRAINTRIAL_H
