//===- Context.h - what the entries of a session share ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_CONTEXT_H
#define ANEC_LIB_RUNTIME_SESSION_CONTEXT_H

#include "Arrays.h"
#include "States.h"
#include "anec/Runtime/Session.h"

namespace anec::session {

struct SessionContext {
  const ModelPackage &package;
  Backend &backend;
  const SessionOptions &options;
  Arrays &arrays;
  States &states;
  /// Of kernels on the processor and of host ops.
  std::shared_ptr<Workspace> workspace;
  /// Of gradients that are computed while kernels run; null when none are. Its
  /// executor is that of `workspace`, its memory is not.
  std::shared_ptr<Workspace> besideKernels;

  bool bindsMemory() const {
    return options.bindMemory && backend.capabilities().bindsMemory;
  }
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_CONTEXT_H
