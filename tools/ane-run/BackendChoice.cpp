//===- BackendChoice.cpp - the backend that programs run on ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendChoice.h"
#ifdef ANEC_HAS_ANE
#include "anec/Runtime/ANE/AneBackend.h"
#endif

using namespace anec;

static Backends makeBackends() {
  Backends backends = Backends::builtin();
#ifdef ANEC_HAS_ANE
  backends.add(aneBackend());
#endif
  return backends;
}

const Backends &anec::toolBackends() {
  static const Backends backends = makeBackends();
  return backends;
}
