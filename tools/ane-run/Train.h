//===- Train.h - ane-run train and ane-run plot -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_TRAIN_H
#define ANEC_TOOLS_ANE_RUN_TRAIN_H

#include <optional>

namespace anec {

/// Keeps flags of other commands out of their help.
void hideFlagsOfOthers();
/// Runs the one that the command line names; nothing when it names neither.
std::optional<int> runTrainCommands();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_TRAIN_H
