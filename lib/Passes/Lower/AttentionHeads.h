//===- AttentionHeads.h - how heads are cut out of channels -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The reshape and transpose that cut the channels of sequences into heads,
/// [N, S, C] to [N, heads, S, C / heads], and the same in reverse.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_LOWER_ATTENTIONHEADS_H
#define ANEC_LIB_PASSES_LOWER_ATTENTIONHEADS_H

#include "anec/IR/IR.h"

namespace anec {

/// The reshape before `transpose`, if the two cut [N, S, C] into heads; else
/// null.
Op *splitOfHeads(const Op &transpose);
/// The transpose before `reshape`, if the two join heads to [N, S, C]; else
/// null.
Op *joinOfHeads(const Op &reshape);

/// Writes heads so that the two above find them: transposes of matrices become
/// flags of the products that read them, and projections that were computed
/// together are cut apart before their heads are. Returns whether anything
/// changed.
bool writeHeads(Function &function);

} // namespace anec

#endif // ANEC_LIB_PASSES_LOWER_ATTENTIONHEADS_H
