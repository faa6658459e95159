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

/// The same as such a signal, by this process.
void requestToStop();

/// The opposite of catchRequestsToStop, and forgets a request: the next signal
/// ends the process.
void endOnRequestsToStop();

/// The signal that requested to stop; 0 for none.
int stopSignal();

/// Set by a request to stop.
const std::atomic<bool> &stopRequested();

} // namespace anec

#endif // ANEC_TOOLS_SIGNALS_H
