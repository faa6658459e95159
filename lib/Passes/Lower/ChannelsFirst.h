//===- ChannelsFirst.h - ops whose channels can come first ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// PyTorch and ONNX have the channels of sequences last, and the engine has
/// them first. A value is one or the other:
///
///                channels last       channels first
///   sequences    [N, S, C]           [N, C, 1, S]
///   heads        [N, heads, S, d]    [N, heads, d, S]
///
/// The choice is made for all ops at once, so that transposes and slow products
/// take the least time together: a minimum cut.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LOWER_CHANNELSFIRST_H
#define ANEC_LIB_PASSES_LOWER_CHANNELSFIRST_H

#include "anec/IR/IR.h"
#include "anec/Target/Target.h"
#include "llvm/ADT/DenseSet.h"

namespace anec {

/// How an op is written with channels first.
enum class SequenceRule : uint8_t {
  ChannelsLast, ///< not at all
  Renamed,      ///< the same op on other axes
  Product,      ///< of sequences with a constant: a convolution
  Matmul,       ///< of two activations: transposed, by its flags
  SplitHeads,   ///< the transpose of `splitOfHeads`
  JoinHeads,    ///< the reshape of `joinOfHeads`
  Transpose,    ///< [N, S, C] to [N, C, S]: either side has channels first
};

SequenceRule sequenceRuleOf(const Op &op);

/// Whether the operand is an array of the program, which is transposed there.
bool isSequenceConstant(const Value &value);

/// The ops that compute with channels first.
llvm::DenseSet<const Op *> chooseChannelsFirst(const Function &function,
                                               const Target &target);

} // namespace anec

#endif // ANEC_LIB_PASSES_LOWER_CHANNELSFIRST_H
