//===- StopRequest.h - a signal asks a command to end -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_STOPREQUEST_H
#define ANEC_TOOLS_ANE_RUN_STOPREQUEST_H

#include <atomic>

namespace anec {

/// Set by SIGINT, SIGTERM or SIGHUP, once they are caught.
const std::atomic<bool> &stopRequested();

/// Makes the first signal a request to stop. A second one ends the process at
/// once.
void catchRequestsToStop();

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_STOPREQUEST_H
