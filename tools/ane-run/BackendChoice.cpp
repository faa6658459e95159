//===- BackendChoice.cpp - the backend that programs run on ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendChoice.h"
#ifdef ANEC_HAS_APPLE
#include "anec/Runtime/ANE/AneBackend.h"
#include "anec/Runtime/CoreML/CoreMLBackend.h"
#endif

using namespace anec;

static Backends makeBackends() {
  Backends backends = Backends::builtin();
#ifdef ANEC_HAS_APPLE
  backends.add(aneBackend());
  backends.add(coreMLBackend());
#endif
  return backends;
}

const Backends &anec::toolBackends() {
  static const Backends backends = makeBackends();
  return backends;
}
