//===- Diags.h - diagnostics of files and text ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_DIAGS_H
#define ANEC_LIB_SUPPORT_DIAGS_H

#include "anec/Support/Diagnostics.h"

namespace anec::diag {
#define DIAG ANEC_DECLARE_DIAG
#include "lib/Support/Diags.def"
} // namespace anec::diag

#endif // ANEC_LIB_SUPPORT_DIAGS_H
