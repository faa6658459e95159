//===- StopRequest.cpp - a signal asks a command to end -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StopRequest.h"
#include "llvm/Support/Signals.h"
#include <csignal>

static std::atomic<bool> isRequested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

const std::atomic<bool> &anec::stopRequested() { return isRequested; }

void anec::catchRequestsToStop() {
  // Installs LLVM's handlers first, which remove unfinished files; otherwise
  // LLVM would later replace the handlers below.
  llvm::sys::SetInterruptFunction(nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) { isRequested = true; };
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(signal, &action, nullptr);
}
