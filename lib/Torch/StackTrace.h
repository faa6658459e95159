//===- StackTrace.h - places in the user's Python ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_STACKTRACE_H
#define ANEC_LIB_TORCH_STACKTRACE_H

#include "Program.h"

namespace anec::torch {

/// Where the model has a node: `model.py:12, in forward: y = x + 1 (module
/// layers.0)`, of the innermost frame outside of PyTorch. Empty if the archive
/// does not say.
std::string placeOf(const GraphNode &node);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_STACKTRACE_H
