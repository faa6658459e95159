//===- Functionalize.h - in-place operators made functional -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What torch.export gives by default is not functional: operators write into
/// buffers, inputs and views of other values. This pass replaces such an
/// operator by the one that computes a new value, writes the result back
/// through the views to the value that they show, and reads other views of it
/// again where they are used later. What is written into a buffer or an input
/// becomes an output of the program, as in a decomposed program.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_FUNCTIONALIZE_H
#define ANEC_LIB_TORCH_FUNCTIONALIZE_H

#include "Program.h"

namespace anec::torch {

struct FunctionalizeError {
  std::string message;
  const GraphNode *node = nullptr; ///< may be null
};

/// Replaces regions that only set a mode (`torch.no_grad`, autocast) by their
/// nodes, and then in-place operators. Returns false, with `error` set, where
/// it is not known what a write changes.
bool functionalize(Program &program, FunctionalizeError &error);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_FUNCTIONALIZE_H
