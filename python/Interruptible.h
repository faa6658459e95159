//===- Interruptible.h - Ctrl-C ends a call ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Python runs its handlers of signals between its own instructions, after a
/// call has ended. While a call computes, SIGINT also interrupts the session:
///
///   Interruptible guard(handle);
///   status = unlocked([&] { return anec_session_run(handle, ...); });
///   guard.check();  // raises KeyboardInterrupt
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PYTHON_INTERRUPTIBLE_H
#define ANEC_PYTHON_INTERRUPTIBLE_H

#include "Bindings.h"
#include <atomic>
#include <csignal>

namespace anec::python {

class Interruptible {
public:
  /// Does nothing where SIGINT would not raise KeyboardInterrupt: in another
  /// thread than the main one, or with another handler. Needs the interpreter
  /// lock, as `check` does.
  explicit Interruptible(anec_session *session) {
    if (!raises())
      return;
    computing = session;
    struct sigaction action = {};
    action.sa_handler = interrupt;
    sigemptyset(&action.sa_mask);
    isInstalled = sigaction(SIGINT, &action, &before) == 0;
  }
  ~Interruptible() { end(); }
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

  void check() {
    end();
    if (PyErr_CheckSignals())
      throw py::error_already_set();
  }

private:
  static bool raises() {
    py::module_ signals = py::module_::import("signal");
    if (!signals.attr("getsignal")(SIGINT).is(
            signals.attr("default_int_handler")))
      return false;
    py::module_ threads = py::module_::import("threading");
    return threads.attr("current_thread")().is(threads.attr("main_thread")());
  }
  /// Python's own handler notes the signal.
  static void interrupt(int signal) {
    if (anec_session *session = computing)
      anec_session_interrupt(session);
    bool takesNumber = !(before.sa_flags & SA_SIGINFO);
    if (takesNumber && before.sa_handler != SIG_DFL &&
        before.sa_handler != SIG_IGN)
      before.sa_handler(signal);
  }
  void end() {
    if (isInstalled)
      sigaction(SIGINT, &before, nullptr);
    isInstalled = false;
    computing = nullptr;
  }

  // Only the main thread changes these.
  static inline std::atomic<anec_session *> computing{nullptr};
  static inline struct sigaction before = {};
  bool isInstalled = false;
};

} // namespace anec::python

#endif // ANEC_PYTHON_INTERRUPTIBLE_H
