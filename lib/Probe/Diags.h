//===- Diags.h - diagnostics of probing -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROBE_DIAGS_H
#define ANEC_LIB_PROBE_DIAGS_H

#include "anec/Support/Diagnostics.h"

namespace anec::diag {
#define DIAG ANEC_DECLARE_DIAG
#include "lib/Probe/Diags.def"
} // namespace anec::diag

#endif // ANEC_LIB_PROBE_DIAGS_H
