//===- Backends.cpp - the backends of the C API ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// This file is compiled twice: libanec-c includes the backends for macOS if
/// they are built, the static library does not.
///
//===----------------------------------------------------------------------===//

#include "Handles.h"
#ifdef ANEC_HAS_APPLE
#include "anec/Runtime/ANE/AneBackend.h"
#include "anec/Runtime/CoreML/CoreMLBackend.h"
#endif

using namespace anec;

Backends anec::c::makeBackends() {
  Backends backends = Backends::builtin();
#ifdef ANEC_HAS_APPLE
  backends.add(aneBackend());
  backends.add(coreMLBackend());
#endif
  return backends;
}
