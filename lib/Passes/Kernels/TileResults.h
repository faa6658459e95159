//===- TileResults.h - results with more channels than a chip has *- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PASSES_TILERESULTS_H
#define ANEC_LIB_PASSES_TILERESULTS_H

#include "OpenedModule.h"
#include "anec/Passes/Pass.h"

namespace anec {

/// Computes a product of a weight that has more rows than the target's values
/// have channels, such as the logits of a large vocabulary, in parts of equal
/// size: the kernel gets a result for each, which the host joins.
///
///   call @classifier(%x) -> fp16[151936, 1]
///   ==> concat(call @classifier(%x) -> 3 x fp16[50646, 1])
///
/// What follows the product in the kernel, element by element, is computed in
/// parts too. Returns how many products there are.
unsigned tileResults(OpenedBody &body, PassContext &ctx);

/// Whether a kernel of `module` has such a product.
bool hasResultsToTile(const Module &module, const PassContext &ctx);

} // namespace anec

#endif // ANEC_LIB_PASSES_TILERESULTS_H
