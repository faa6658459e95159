//===- Executor.h - threads and parallel loops ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Owns all threads of the library; no other code creates any. There are three
/// kinds of work:
///
/// - `parallelFor` shares the tasks of one job between the workers. A layer
///   runs dozens of jobs of 20 microseconds to 2 milliseconds, so starting one
///   must take only a few microseconds: idle workers spin for a short, bounded
///   time before they sleep.
/// - a TaskQueue runs tasks in order, on a worker, concurrently with the thread
///   that submits them.
/// - a ServiceThread waits most of the time, such as a heartbeat, and is not
///   one of the workers.
///
/// Workers start when there is work for them; an executor with one thread
/// starts none, and everything runs on the calling thread.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_EXECUTOR_H
#define ANEC_SUPPORT_EXECUTOR_H

#include "anec/Support/AlignedArray.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace anec {

class TaskQueue;

/// A fixed number of threads, including the calling one. Only one thread that
/// is not a worker can use an executor at a time; a `parallelFor` nested in a
/// task of another runs inline on its worker.
class Executor {
public:
  using Task = llvm::function_ref<void(size_t task, unsigned worker)>;
  using Range =
      llvm::function_ref<void(size_t begin, size_t end, unsigned worker)>;

  /// `threads` counts the calling thread; 0 means one per hardware thread.
  explicit Executor(unsigned threads = 0);
  /// Queues and service threads must have been destroyed.
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// The number of workers, including the calling thread, which is worker 0.
  /// Worker numbers are less than it.
  unsigned size() const { return unsigned(scratches.size()); }
  /// The number of running threads that this executor has started.
  unsigned threadsStarted() const { return startedThreads; }

  /// The worker number of the calling thread: 0 outside of workers.
  unsigned currentWorker() const;

  /// Runs `task` once for each number below `tasks` (fewer than 2^32), in any
  /// order, and returns when all are done. What one of them throws is thrown
  /// here then: std::bad_alloc, since anec itself throws nothing.
  void parallelFor(size_t tasks, Task task);

  /// Splits [0, `count`) into contiguous ranges of at least `grain` elements
  /// (the last can be shorter), a few per worker so that a preempted worker
  /// does not delay the others. Boundaries are multiples of `grain`.
  void parallelRanges(size_t count, size_t grain, Range range);

  /// Whether the calling thread runs a task, so that a `parallelFor` would run
  /// inline.
  bool isInTask() const;

  /// Scratch memory of `worker`: at least `count` floats, 64-byte aligned,
  /// contents unspecified. Valid until the next call for the same worker. Only
  /// that worker can request it.
  float *scratch(unsigned worker, size_t count);
  /// The same, separate from `scratch`: for tasks that call matrix products,
  /// which use that one.
  float *outerScratch(unsigned worker, size_t count);

private:
  friend class ServiceThread;
  friend class TaskQueue;

  struct Scratch {
    AlignedArray memory;
    size_t capacity = 0;
    float *atLeast(size_t count);
  };

  /// A running parallelFor. `ticket` is (generation << 32 | tasks not yet
  /// taken); taking a task is a compare-and-swap on both halves, so a worker
  /// that wakes late can neither take a task of a finished job nor delay the
  /// caller.
  struct Job {
    alignas(64) std::atomic<uint64_t> ticket{0};
    std::atomic<const Task *> task{nullptr};
    std::atomic<size_t> tasks{0};
    alignas(64) std::atomic<size_t> finished{0};
    std::atomic<bool> isTaken{false}; ///< of the background job
    std::atomic<bool> callerSleeps{false};
    std::condition_variable done;
    std::exception_ptr thrown; ///< by a task, the first; under `sleep`

    bool hasTasks() const;
    void publish(const Task &what, size_t count);
  };

  void startWorkers();
  void work(unsigned worker);
  void runTask(Job &job, const Task &task, size_t number);
  void runJob(Job &job, size_t tasks, const Task &task, unsigned worker);
  bool runOne(Job &job, unsigned worker);
  void waitUntilFinished(Job &job, size_t tasks);
  bool runQueued();
  bool mayWork() const;
  void wakeSleepers();
  /// Runs tasks of the background job until `isDone`.
  void helpUntil(llvm::function_ref<bool()> isDone);

  std::vector<Scratch> scratches, outerScratches; ///< of each worker
  std::vector<std::thread> workers; ///< under `sleep` until `isStarted`
  std::atomic<bool> isStarted{false};
  std::atomic<unsigned> startedThreads{0};

  /// The calling thread's job has priority over that of a queue's task.
  Job foreground, background;

  // Sleeping, after the spin: workers wait for a ticket or a queue's task.
  alignas(64) std::mutex sleep;
  std::condition_variable wake;
  std::atomic<unsigned> sleepers{0};
  std::atomic<bool> stopping{false};

  std::vector<TaskQueue *> queues;        ///< under `sleep`
  std::atomic<unsigned> waitingQueues{0}; ///< with tasks, not running
};

/// Tasks that run one after another, in submission order, on one worker at a
/// time; a `parallelFor` in a task uses workers that the calling thread leaves
/// idle. With one thread, `submit` runs them. Only one thread submits and
/// waits.
class TaskQueue {
public:
  using Task = std::function<void()>;

  /// Allocates room for `capacity` waiting tasks; submitting more allocates
  /// memory.
  explicit TaskQueue(Executor &executor, size_t capacity = 8);
  /// Waits for all tasks, and drops what they throw.
  ~TaskQueue();
  TaskQueue(const TaskQueue &) = delete;
  TaskQueue &operator=(const TaskQueue &) = delete;

  /// Returns the number of `task`, which is kept by reference until it has run.
  uint64_t submit(const Task &task);
  /// Returns when the task with this number, and those before it, have run. The
  /// calling thread takes part in the work. What one has thrown is thrown here,
  /// once.
  void wait(uint64_t number);
  void waitForAll() { wait(submitted); }

private:
  friend class Executor;

  bool isWaiting() const { return !isDriven && count > 0; }
  /// Runs tasks up to this number; `lock` holds Executor::sleep on entry and
  /// exit.
  void drive(uint64_t number, std::unique_lock<std::mutex> &lock);
  void finish(uint64_t number);

  Executor &executor;
  // Under Executor::sleep: a ring of `count` tasks from `first` on.
  std::vector<const Task *> ring;
  size_t first = 0, count = 0;
  bool isDriven = false;
  std::exception_ptr thrown; ///< by a task, the first
  uint64_t submitted = 0;    ///< used only by the submitting thread
  std::atomic<uint64_t> completed{0};
};

/// A dedicated thread for work that waits most of the time.
class ServiceThread {
public:
  /// `body` does not run where the system starts no thread.
  ServiceThread(Executor &executor, std::function<void()> body);
  /// Waits for `body` to return; its owner must have asked it to.
  ~ServiceThread();
  ServiceThread(const ServiceThread &) = delete;
  ServiceThread &operator=(const ServiceThread &) = delete;

  /// Whether there is a thread: from the constructor on, until the destructor.
  bool isRunning() const { return thread.joinable(); }

private:
  Executor &executor;
  std::thread thread;
};

} // namespace anec

#endif // ANEC_SUPPORT_EXECUTOR_H
