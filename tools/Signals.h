//===- Signals.h - signals that end a tool ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_SIGNALS_H
#define ANEC_TOOLS_SIGNALS_H

#include <atomic>

namespace anec {

/// From now on, a signal that ends the process removes unfinished output first.
/// The exit status shows the signal. Signals that the parent process ignores,
/// as with nohup, stay ignored.
void catchSignals();

/// Makes the first SIGINT, SIGTERM or SIGHUP a request to stop. A second one
/// ends the process.
void catchRequestsToStop();

/// Set by a request to stop.
const std::atomic<bool> &stopRequested();

} // namespace anec

#endif // ANEC_TOOLS_SIGNALS_H
