//===- ShownTraining.h - training that shows how it goes --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_SHOWNTRAINING_H
#define ANEC_TOOLS_ANE_RUN_SHOWNTRAINING_H

#include "anec/Train/Trainer.h"

namespace anec {

/// Trains, and prints the steps to standard output, if `isShown`; a request to
/// stop saves the run and ends it.
[[nodiscard]] bool trainShown(const TrainOptions &options, Backend &backend,
                              bool isShown, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_SHOWNTRAINING_H
