//===- Parallel.h - A persistent worker pool --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Threads that outlive one operation. A layer runs dozens of operations of
/// 20 microseconds to 2 milliseconds, so handing out work has to cost a few
/// microseconds: idle workers spin for a short, bounded time before they sleep.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_PARALLEL_H
#define ANEC_RUNTIME_CPU_PARALLEL_H

#include "anec/Runtime/CPU/AlignedArray.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace anec::cpu {

/// A fixed number of threads, the calling one included. One thread at a time
/// may use a pool; a call from inside a task runs inline on its worker.
class ThreadPool {
public:
  using Task = llvm::function_ref<void(size_t task, unsigned worker)>;
  using Range =
      llvm::function_ref<void(size_t begin, size_t end, unsigned worker)>;

  /// \p threads counts the calling thread; 0 means one per hardware thread.
  explicit ThreadPool(unsigned threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The number of workers, the calling thread included: worker numbers are
  /// below it, and the calling thread is worker 0.
  unsigned size() const { return unsigned(workers.size()) + 1; }

  /// The worker that the calling thread is: 0 outside tasks.
  unsigned currentWorker() const;

  /// Runs \p task once for each number below \p tasks (fewer than 2^32), in
  /// any order, and returns when all are done.
  void parallelFor(size_t tasks, Task task);

  /// Splits [0, \p count) into contiguous ranges of at least \p grain elements
  /// (the last may be shorter), a few per worker so that a disturbed worker
  /// does not hold up the rest. Boundaries are multiples of \p grain.
  void parallelRanges(size_t count, size_t grain, Range range);

  /// Scratch memory of \p worker: at least \p count floats, 64-byte aligned,
  /// contents unspecified. Valid until the next call for the same worker, and
  /// to be asked for by that worker alone.
  float *scratch(unsigned worker, size_t count);

private:
  struct Scratch {
    AlignedArray memory;
    size_t capacity = 0;
  };

  void work(unsigned worker);
  bool runOne(unsigned worker);
  void waitUntilFinished(size_t tasks);

  std::vector<std::thread> workers;
  std::vector<Scratch> scratches;

  // The job. `ticket` is (generation << 32 | tasks not yet taken); taking a
  // task is a compare-and-swap on both halves, so a worker that wakes late can
  // neither take a task of a finished job nor hold up the caller.
  alignas(64) std::atomic<uint64_t> ticket{0};
  std::atomic<const Task *> job{nullptr};
  std::atomic<size_t> jobTasks{0};
  alignas(64) std::atomic<size_t> finished{0};

  // Sleeping, after the spin: workers wait for a ticket, the caller for the
  // last task.
  alignas(64) std::mutex sleep;
  std::condition_variable wake;
  std::condition_variable done;
  std::atomic<unsigned> sleepers{0};
  std::atomic<bool> callerSleeps{false};
  std::atomic<bool> stopping{false};
};

} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_PARALLEL_H
