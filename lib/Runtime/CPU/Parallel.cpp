//===- Parallel.cpp - A persistent worker pool ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The pool: one atomic ticket hands out tasks, spinning bridges the gap
/// between two operations, a condition variable bridges longer ones.
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CPU/Parallel.h"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

using namespace anec::cpu;

namespace {

/// How long an idle thread spins before it sleeps. Waking a sleeper costs
/// about as much, so spinning never costs more than twice the best choice.
constexpr std::chrono::microseconds spinTime{60};

constexpr uint64_t remainingMask = 0xffffffffu;

/// The pool whose task this thread is in, and as which worker.
thread_local const ThreadPool *taskPool = nullptr;
thread_local unsigned taskWorker = 0;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// True as soon as \p ready is; false when the spin time is over.
template <typename Ready>
bool spinUntil(Ready ready) {
  auto deadline = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

} // namespace

ThreadPool::ThreadPool(unsigned threads) {
  // More than any machine has use for; the system refuses some number of them,
  // which would end the process.
  constexpr unsigned mostThreads = 1024;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, mostThreads);
  scratches.resize(threads);
  workers.reserve(threads - 1);
  for (unsigned worker = 1; worker < threads; ++worker)
    workers.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(sleep);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

/// Takes and runs one task of the current job, if one is left.
bool ThreadPool::runOne(unsigned worker) {
  uint64_t seen = ticket.load();
  while (seen & remainingMask) {
    // These belong to the job of `seen` if the exchange succeeds: the job is
    // then unfinished, and only a finished one is replaced.
    const Task *task = job.load();
    size_t tasks = jobTasks.load();
    if (!ticket.compare_exchange_weak(seen, seen - 1))
      continue;
    (*task)(tasks - (seen & remainingMask), worker);
    if (finished.fetch_add(1) + 1 == tasks && callerSleeps) {
      std::lock_guard lock(sleep);
      done.notify_one();
    }
    return true;
  }
  return false;
}

void ThreadPool::work(unsigned worker) {
  taskPool = this;
  taskWorker = worker;
  auto mayWork = [this] { return (ticket & remainingMask) || stopping; };
  while (!stopping) {
    if (runOne(worker) || spinUntil(mayWork))
      continue;
    std::unique_lock lock(sleep);
    // Announced before the ticket is read again, as the caller publishes the
    // ticket before it reads the announcement: one of the two sees the other.
    ++sleepers;
    wake.wait(lock, mayWork);
    --sleepers;
  }
}

void ThreadPool::waitUntilFinished(size_t tasks) {
  auto isFinished = [this, tasks] { return finished == tasks; };
  if (spinUntil(isFinished))
    return;
  std::unique_lock lock(sleep);
  callerSleeps = true;
  done.wait(lock, isFinished);
  callerSleeps = false;
}

unsigned ThreadPool::currentWorker() const {
  return taskPool == this ? taskWorker : 0;
}

void ThreadPool::parallelFor(size_t tasks, Task task) {
  if (workers.empty() || tasks <= 1 || taskPool == this) {
    for (size_t i = 0; i < tasks; ++i)
      task(i, currentWorker());
    return;
  }

  assert(tasks <= remainingMask && "too many tasks for one ticket");
  const ThreadPool *outerPool = std::exchange(taskPool, this);
  unsigned outerWorker = std::exchange(taskWorker, 0);

  job = &task;
  jobTasks = tasks;
  finished = 0;
  uint64_t generation = (ticket >> 32) + 1;
  ticket = generation << 32 | tasks;
  if (sleepers) {
    // Taking the lock orders this after a sleeper's last look at the ticket.
    { std::lock_guard lock(sleep); }
    wake.notify_all();
  }

  while (runOne(0))
    ;
  waitUntilFinished(tasks);
  taskPool = outerPool;
  taskWorker = outerWorker;
}

void ThreadPool::parallelRanges(size_t count, size_t grain, Range range) {
  constexpr size_t rangesPerWorker = 4;
  grain = std::max<size_t>(grain, 1);
  size_t grains = (count + grain - 1) / grain;
  size_t tasks = std::min(grains, rangesPerWorker * size());
  parallelFor(tasks, [&](size_t task, unsigned worker) {
    size_t begin = grains * task / tasks * grain;
    size_t end = std::min(count, grains * (task + 1) / tasks * grain);
    range(begin, end, worker);
  });
}

float *ThreadPool::scratch(unsigned worker, size_t count) {
  Scratch &scratch = scratches[worker];
  if (scratch.capacity < count) {
    scratch.memory.reset(); // first, so that both never exist at once
    scratch.memory = makeAlignedArray(count);
    scratch.capacity = count;
  }
  return scratch.memory.get();
}
