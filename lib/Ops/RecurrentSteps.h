//===- RecurrentSteps.h - recurrent layers step by step ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The rows of lstm, gru and rnn as products and elementwise ops, one group of
/// them for each step, which have gradients.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_RECURRENTSTEPS_H
#define ANEC_LIB_OPS_RECURRENTSTEPS_H

#include "lib/IR/Builder.h"
#include "llvm/ADT/SmallVector.h"

namespace anec {

/// `results`: those of the op.
void unrollLstm(Builder &builder, const Op &op,
                llvm::SmallVectorImpl<Value *> &results);
void unrollGru(Builder &builder, const Op &op,
               llvm::SmallVectorImpl<Value *> &results);
void unrollRnn(Builder &builder, const Op &op,
               llvm::SmallVectorImpl<Value *> &results);

} // namespace anec

#endif // ANEC_LIB_OPS_RECURRENTSTEPS_H
