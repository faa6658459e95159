//===- Backends.cpp - the backends of the C API ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// This file is compiled twice: libanec-c includes the ane backend if that is
/// built, the static library does not.
///
//===----------------------------------------------------------------------===//

#include "Handles.h"
#ifdef ANEC_HAS_ANE
#include "anec/Runtime/ANE/AneBackend.h"
#endif

using namespace anec;

Backends anec::c::makeBackends() {
  Backends backends = Backends::builtin();
#ifdef ANEC_HAS_ANE
  backends.add(aneBackend());
#endif
  return backends;
}
