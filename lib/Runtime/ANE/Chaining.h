//===- Chaining.h - whether runs can be chained -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_CHAINING_H
#define ANEC_LIB_RUNTIME_ANE_CHAINING_H

#include "anec/Runtime/ANE/AneBackend.h"

namespace anec::ane {

/// Compiles and loads a small program by the client, and asks for a chain of
/// its runs, in which an output is the next input. Sets `chaining` and its
/// error.
void tryChaining(const AneOptions &options, AneInspection &found);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_CHAINING_H
