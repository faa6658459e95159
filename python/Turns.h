//===- Turns.h - one call at a time on an object ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An object of the C API is for one thread at a time, and Python's threads
/// share objects: the interpreter lock, which calls release while they compute,
/// does not keep a second thread out. Calls take turns instead.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PYTHON_TURNS_H
#define ANEC_PYTHON_TURNS_H

#include "Bindings.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace anec::python {

/// The turns of an object.
class Turns {
public:
  /// Waits until no other thread has the turn, without the interpreter lock.
  /// Signals end the wait (Ctrl-C), and so does a call by the thread that has
  /// the turn, from a callback: it would wait for itself.
  void take() {
    if (owner == std::this_thread::get_id())
      throw std::runtime_error("the call that runs this callback still "
                               "uses the session");
    py::gil_scoped_release release;
    while (!mutex.try_lock_for(std::chrono::milliseconds(50))) {
      py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals())
        throw py::error_already_set();
    }
    owner = std::this_thread::get_id();
  }
  void give() {
    owner = std::thread::id();
    mutex.unlock();
  }

private:
  std::timed_mutex mutex;
  std::atomic<std::thread::id> owner{};
};

/// The turns of the objects that a call uses, while it is there. Nulls and
/// repetitions are left out.
class Turn {
public:
  explicit Turn(std::vector<Turns *> wanted) {
    // In one order, so that two threads do not wait for each other.
    std::sort(wanted.begin(), wanted.end(), std::less<Turns *>());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    try {
      for (Turns *turns : wanted)
        if (turns) {
          turns->take();
          taken.push_back(turns);
        }
    } catch (...) {
      giveAll();
      throw;
    }
  }
  ~Turn() { giveAll(); }
  Turn(const Turn &) = delete;
  Turn &operator=(const Turn &) = delete;

private:
  void giveAll() {
    for (Turns *turns : taken)
      turns->give();
    taken.clear();
  }
  std::vector<Turns *> taken;
};

} // namespace anec::python

#endif // ANEC_PYTHON_TURNS_H
