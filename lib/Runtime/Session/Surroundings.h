//===- Surroundings.h - what entries of a session share ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_SURROUNDINGS_H
#define ANEC_LIB_RUNTIME_SESSION_SURROUNDINGS_H

#include "Arrays.h"
#include "anec/Runtime/Session.h"

namespace anec::session {

struct Surroundings {
  const ModelPackage &package;
  Backend &backend;
  const SessionOptions &options;
  Arrays &arrays;
  std::shared_ptr<cpu::Machine> machine;

  /// What gradients run on that are computed beside kernels; null when none
  /// are.
  std::shared_ptr<cpu::Machine> besideKernels;

  bool bindsMemory() const {
    return options.bindMemory && backend.takesBindings();
  }
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_SURROUNDINGS_H
