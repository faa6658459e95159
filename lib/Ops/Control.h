//===- Control.h - branches and loops ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// How the ops with blocks (IR/Blocks.h) are computed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_CONTROL_H
#define ANEC_LIB_OPS_CONTROL_H

#include "lib/IR/Blocks.h"
#include "lib/IR/OpDef.h"

namespace anec {

/// Runs a block with one tensor for each parameter.
using RunBlock = llvm::function_ref<bool(
    const Function &, llvm::ArrayRef<RefTensor>, std::vector<RefTensor> &)>;

/// Computes a `cond` or a `while_loop`; false when a block cannot be run.
bool runBlocks(const OpDef &def, const Blocks &blocks,
               llvm::ArrayRef<const RefTensor *> operands,
               llvm::MutableArrayRef<RefTensor> results, RunBlock run);

} // namespace anec

#endif // ANEC_LIB_OPS_CONTROL_H
