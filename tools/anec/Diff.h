//===- Diff.h - anec diff LEFT RIGHT ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_DIFF_H
#define ANEC_TOOLS_ANEC_DIFF_H

#include "anec/Support/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace anec {

/// Prints what differs between the programs at `left` and `right`, and returns
/// whether nothing does; nothing when one of them cannot be read.
std::optional<bool> diffPrograms(llvm::StringRef left, llvm::StringRef right,
                                 bool ignoreWeights, llvm::raw_ostream &out,
                                 Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANEC_DIFF_H
