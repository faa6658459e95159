//===- Attention.h - what the attention ops share ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_ATTENTION_H
#define ANEC_LIB_OPS_ATTENTION_H

#include "Infer.h"
#include "lib/Ops/HiddenScore.h"

namespace anec {

/// Reports that operands `a` and `b` differ in `what`, and returns false.
bool failMismatch(InferContext &ctx, unsigned a, unsigned b, const char *what);

/// Of two products, and a softmax between them.
int64_t attentionFlops(int64_t scores, int64_t width, int64_t outWidth);

} // namespace anec

#endif // ANEC_LIB_OPS_ATTENTION_H
