//===- Executor.cpp - threads and parallel loops --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// One atomic ticket per job distributes its tasks. Workers spin during the
/// short gaps between jobs and wait on a condition variable in longer ones. A
/// worker checks the calling thread's job first, then the job of a queue's
/// task, then for a queue that no thread is running.
///
//===----------------------------------------------------------------------===//

#include "anec/Support/Executor.h"
#include "lib/Support/MemoryLimit.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <system_error>

using namespace anec;

namespace {

/// How long an idle thread spins before it sleeps. Waking a sleeper costs
/// about as much, so spinning never costs more than twice the best choice.
constexpr std::chrono::microseconds spinTime{60};

constexpr uint64_t remainingMask = 0xffffffffu;

/// The executor that this thread works for, and its worker number.
/// Thread-local, so that a nested call finds its worker.
struct CurrentWorker {
  const Executor *executor = nullptr;
  unsigned worker = 0;
  bool isInTask = false; ///< of a parallelFor
};
thread_local CurrentWorker current;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns true as soon as `ready` does, and false when the spin time is over.
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

/// Returns no thread where the system starts none, by its limits or for want of
/// memory. std::thread says so only by an exception.
static std::thread startThread(std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error &) {
    return {};
  }
}

/// How many threads may start. Each takes addresses for its stack (8 MB) and
/// for the first of its allocations (mimalloc: a segment of 64 MB): where they
/// are limited, threads get a quarter of them, and the data the rest.
static uint64_t mostStarted() {
  constexpr uint64_t each = uint64_t(80) << 20;
  return addressLimit() / 4 / each;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

Executor::Executor(unsigned threads) {
  // More than any machine can use.
  constexpr unsigned mostThreads = 1024;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  scratches.resize(std::min(threads, mostThreads));
  outerScratches.resize(scratches.size());
}

void Executor::startWorkers() {
  if (isStarted.load(std::memory_order_acquire))
    return;
  std::lock_guard lock(sleep);
  if (isStarted)
    return;
  // The calling thread does what missing workers do not: only the number of
  // workers, not of threads, decides how work is cut.
  auto most = unsigned(std::min<uint64_t>(size() - 1, mostStarted()));
  workers.reserve(most);
  for (unsigned worker = 1; worker <= most; ++worker) {
    std::thread thread = startThread([this, worker] { work(worker); });
    if (!thread.joinable())
      break;
    workers.push_back(std::move(thread));
  }
  startedThreads += unsigned(workers.size());
  isStarted.store(true, std::memory_order_release);
}

Executor::~Executor() {
  {
    std::lock_guard lock(sleep);
    assert(queues.empty() && "a queue outlives its executor");
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

bool Executor::mayWork() const {
  return foreground.hasTasks() || background.hasTasks() || waitingQueues ||
         stopping;
}

void Executor::work(unsigned worker) {
  current = {this, worker, false};
  while (!stopping) {
    if (runOne(foreground, worker) || runOne(background, worker) ||
        runQueued() || spinUntil([this] { return mayWork(); }))
      continue;
    std::unique_lock lock(sleep);
    // Increment this before reading the tickets again. A caller publishes its
    // ticket before it reads `sleepers`, so one of the two sees the other.
    ++sleepers;
    wake.wait(lock, [this] { return mayWork(); });
    --sleepers;
  }
}

void Executor::wakeSleepers() {
  if (!sleepers)
    return;
  // Locking orders this after a sleeper's last check.
  { std::lock_guard lock(sleep); }
  wake.notify_all();
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

bool Executor::Job::hasTasks() const { return ticket & remainingMask; }

void Executor::Job::publish(const Task &what, size_t number) {
  task = &what;
  tasks = number;
  finished = 0;
  uint64_t generation = (ticket >> 32) + 1;
  ticket = generation << 32 | number;
}

/// Keeps what the task throws: the caller of the job may be another thread, and
/// returns only when all tasks are done.
void Executor::runTask(Job &job, const Task &task, size_t number) {
  try {
    task(number, current.worker);
  } catch (...) {
    std::lock_guard lock(sleep);
    if (!job.thrown)
      job.thrown = std::current_exception();
  }
}

/// Runs one task of `job`, if any is left.
bool Executor::runOne(Job &job, unsigned worker) {
  uint64_t seen = job.ticket.load();
  while (seen & remainingMask) {
    // These belong to the job of `seen` if the exchange succeeds: the job is
    // unfinished then, and only a finished job is replaced.
    const Task *task = job.task.load();
    size_t tasks = job.tasks.load();
    if (!job.ticket.compare_exchange_weak(seen, seen - 1))
      continue;
    CurrentWorker outer = std::exchange(current, {this, worker, true});
    runTask(job, *task, tasks - (seen & remainingMask));
    current = outer;
    if (job.finished.fetch_add(1) + 1 == tasks && job.callerSleeps) {
      std::lock_guard lock(sleep);
      job.done.notify_one();
    }
    return true;
  }
  return false;
}

void Executor::waitUntilFinished(Job &job, size_t tasks) {
  auto isFinished = [&job, tasks] { return job.finished == tasks; };
  if (spinUntil(isFinished))
    return;
  std::unique_lock lock(sleep);
  job.callerSleeps = true;
  job.done.wait(lock, isFinished);
  job.callerSleeps = false;
}

unsigned Executor::currentWorker() const {
  return current.executor == this ? current.worker : 0;
}

void Executor::runJob(Job &job, size_t tasks, const Task &task,
                      unsigned worker) {
  assert(tasks <= remainingMask && "too many tasks for one ticket");
  startWorkers();
  job.publish(task, tasks);
  wakeSleepers();
  while (runOne(job, worker))
    ;
  waitUntilFinished(job, tasks);
}

/// Throws what a task has thrown, if one has.
static void rethrow(std::exception_ptr &thrown) {
  if (thrown)
    std::rethrow_exception(std::exchange(thrown, nullptr));
}

void Executor::parallelFor(size_t tasks, Task task) {
  bool isWorker = current.executor == this && current.worker != 0;
  if (size() > 1 && tasks > 1 && !isInTask()) {
    if (!isWorker) {
      runJob(foreground, tasks, task, 0);
      return rethrow(foreground.thrown);
    }
    // A task of a queue; a task of another queue can be using the job.
    if (!background.isTaken.exchange(true)) {
      runJob(background, tasks, task, current.worker);
      std::exception_ptr thrown = std::exchange(background.thrown, nullptr);
      background.isTaken = false;
      return rethrow(thrown);
    }
  }
  unsigned worker = currentWorker();
  for (size_t i = 0; i < tasks; ++i)
    task(i, worker);
}

void Executor::parallelRanges(size_t count, size_t grain, Range range) {
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

bool Executor::isInTask() const {
  return current.executor == this && current.isInTask;
}

float *Executor::Scratch::atLeast(size_t count) {
  if (capacity < count) {
    memory.reset(); // first, so that both never exist at once
    memory = makeAlignedArray(count);
    capacity = count;
  }
  return memory.get();
}

float *Executor::scratch(unsigned worker, size_t count) {
  return scratches[worker].atLeast(count);
}

float *Executor::outerScratch(unsigned worker, size_t count) {
  return outerScratches[worker].atLeast(count);
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// Runs the tasks of a queue that no thread is running, if there is one.
bool Executor::runQueued() {
  if (!waitingQueues)
    return false;
  std::unique_lock lock(sleep);
  auto queue = llvm::find_if(
      queues, [](const TaskQueue *each) { return each->isWaiting(); });
  if (queue == queues.end())
    return false;
  (*queue)->drive(UINT64_MAX, lock);
  return true;
}

void Executor::helpUntil(llvm::function_ref<bool()> isDone) {
  auto isWanted = [&] { return isDone() || background.hasTasks(); };
  while (!isDone()) {
    if (runOne(background, currentWorker()) || spinUntil(isWanted))
      continue;
    std::unique_lock lock(sleep);
    ++sleepers;
    wake.wait(lock, isWanted);
    --sleepers;
  }
}

TaskQueue::TaskQueue(Executor &executor, size_t capacity)
    : executor(executor), ring(std::max<size_t>(capacity, 1)) {
  std::lock_guard lock(executor.sleep);
  executor.queues.push_back(this);
}

TaskQueue::~TaskQueue() {
  finish(submitted);
  std::unique_lock lock(executor.sleep);
  // The worker that ran the last task may not have returned yet.
  executor.wake.wait(lock, [this] { return !isDriven; });
  llvm::erase(executor.queues, this);
}

uint64_t TaskQueue::submit(const Task &task) {
  if (executor.size() == 1) {
    task();
    completed = ++submitted;
    return submitted;
  }
  executor.startWorkers();
  {
    std::lock_guard lock(executor.sleep);
    if (count == ring.size()) {
      std::rotate(ring.begin(), ring.begin() + first, ring.end());
      first = 0;
      ring.resize(2 * ring.size());
    }
    bool wasWaiting = isWaiting();
    ring[(first + count++) % ring.size()] = &task;
    if (!wasWaiting && isWaiting())
      ++executor.waitingQueues;
  }
  executor.wake.notify_all();
  return ++submitted;
}

void TaskQueue::drive(uint64_t number, std::unique_lock<std::mutex> &lock) {
  isDriven = true;
  --executor.waitingQueues;
  while (count > 0 && completed < number) {
    const Task *task = ring[first];
    first = (first + 1) % ring.size();
    --count;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*task)();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (!thrown)
      thrown = std::move(failure);
    ++completed;
    executor.wake.notify_all();
  }
  isDriven = false;
  if (isWaiting())
    ++executor.waitingQueues;
  executor.wake.notify_all();
}

void TaskQueue::wait(uint64_t number) {
  finish(number);
  std::unique_lock lock(executor.sleep);
  std::exception_ptr failure = std::exchange(thrown, nullptr);
  lock.unlock();
  rethrow(failure);
}

void TaskQueue::finish(uint64_t number) {
  while (completed < number) {
    {
      std::unique_lock lock(executor.sleep);
      if (isWaiting()) {
        drive(number, lock);
        continue;
      }
    }
    executor.helpUntil([&] { return completed >= number; });
  }
}

//===----------------------------------------------------------------------===//
// Service threads
//===----------------------------------------------------------------------===//

ServiceThread::ServiceThread(Executor &executor, std::function<void()> body)
    : executor(executor), thread(startThread(std::move(body))) {
  if (isRunning())
    ++executor.startedThreads;
}

ServiceThread::~ServiceThread() {
  if (!isRunning())
    return;
  thread.join();
  --executor.startedThreads;
}
