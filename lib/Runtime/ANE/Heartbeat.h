//===- Heartbeat.h - keeps the engine awake ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a small program whenever nothing else ran for a while. Work that
/// arrives while the engine powers down, some five seconds after the last, is
/// lost on some versions of macOS, and stopped machines on others.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_HEARTBEAT_H
#define ANEC_LIB_RUNTIME_ANE_HEARTBEAT_H

#include "Engine.h"
#include "anec/Runtime/Backend.h"
#include <condition_variable>

namespace anec::ane {

class Heartbeat {
public:
  /// Starts a thread that runs `program` when nothing ran for `seconds`.
  Heartbeat(std::shared_ptr<Engine> engine, std::unique_ptr<Executable> program,
            double seconds);
  ~Heartbeat();

  unsigned beats() const { return count; }

private:
  void run();

  std::shared_ptr<Engine> engine;
  std::unique_ptr<Executable> program;
  std::chrono::duration<double> period;
  std::mutex mutex;
  std::condition_variable wake;
  bool ends = false;
  std::atomic<unsigned> count{0};
  std::optional<ServiceThread> thread;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_HEARTBEAT_H
