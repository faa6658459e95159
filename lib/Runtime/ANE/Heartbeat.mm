//===- Heartbeat.mm - keeps the engine awake ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Heartbeat.h"

using namespace anec;
using namespace anec::ane;

Heartbeat::Heartbeat(std::shared_ptr<Engine> engine,
                     std::unique_ptr<Executable> program, double seconds)
    : engine(std::move(engine)), program(std::move(program)), period(seconds) {
  thread.emplace(*this->engine->options.executor, [this] { run(); });
}

Heartbeat::~Heartbeat() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  wake.notify_all();
  thread.reset();
}

void Heartbeat::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!ends) {
    std::chrono::steady_clock::time_point last;
    {
      std::lock_guard<std::mutex> use(engine->use);
      last = engine->lastUse;
    }
    auto due =
        last +
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(period);
    if (wake.wait_until(lock, due, [&] { return ends; }))
      return;
    bool isIdle;
    {
      std::lock_guard<std::mutex> use(engine->use);
      isIdle = engine->lastUse == last;
    }
    if (!isIdle)
      continue;
    // A failed beat is ignored: the next run of a program reports what is
    // wrong.
    Diagnostics ignored;
    if (program->execute(ignored))
      ++count;
    else if (wake.wait_for(lock, period, [&] { return ends; }))
      return;
  }
}
