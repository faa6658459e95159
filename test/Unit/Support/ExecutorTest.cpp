//===- ExecutorTest.cpp - the threads of the library ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Executor.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>
#ifdef __linux__
#include <filesystem>
#endif

using namespace anec;

namespace {

TEST(Executor, RunsEveryTaskOnce) {
  for (unsigned threads : {1, 2, 4}) {
    Executor executor(threads);
    EXPECT_EQ(executor.size(), threads);
    for (size_t tasks : {0, 1, 2, 3, 100, 1000}) {
      std::vector<std::atomic<int>> runs(tasks);
      executor.parallelFor(tasks, [&](size_t task, unsigned worker) {
        EXPECT_LT(worker, threads);
        EXPECT_EQ(worker, executor.currentWorker());
        ++runs[task];
      });
      for (std::atomic<int> &count : runs)
        EXPECT_EQ(count, 1);
    }
  }
}

TEST(Executor, ManySmallJobs) {
  Executor executor(3);
  size_t total = 0;
  for (size_t job = 0; job < 20000; ++job) {
    std::atomic<size_t> sum{0};
    executor.parallelFor(job % 5,
                         [&](size_t task, unsigned) { sum += task + 1; });
    total += sum;
  }
  EXPECT_EQ(total, 20000u / 5 * (1 + 3 + 6 + 10));
}

TEST(Executor, WakesAfterSleeping) {
  Executor executor(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> count{0};
    executor.parallelFor(8, [&](size_t, unsigned) { ++count; });
    EXPECT_EQ(count, 8);
  }
}

TEST(Executor, WaitsForASlowTask) {
  Executor executor(2);
  std::atomic<int> count{0};
  executor.parallelFor(2, [&](size_t task, unsigned) {
    if (task == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++count;
  });
  EXPECT_EQ(count, 2);
}

TEST(Executor, NestedCallsRunInline) {
  Executor executor(2);
  std::atomic<int> count{0};
  executor.parallelFor(4, [&](size_t, unsigned outer) {
    executor.parallelFor(4, [&](size_t, unsigned inner) {
      EXPECT_EQ(inner, outer);
      ++count;
    });
  });
  EXPECT_EQ(count, 16);
}

TEST(Executor, RangesCoverTheCount) {
  Executor executor(2);
  for (size_t count : {0, 1, 63, 64, 65, 1000, 100003})
    for (size_t grain : {0, 1, 64, 5000}) {
      std::vector<std::atomic<int>> seen(count);
      executor.parallelRanges(count, grain,
                              [&](size_t begin, size_t end, unsigned) {
                                EXPECT_LT(begin, end);
                                for (size_t i = begin; i < end; ++i)
                                  ++seen[i];
                              });
      for (std::atomic<int> &each : seen)
        ASSERT_EQ(each, 1);
    }
}

TEST(Executor, ScratchIsAlignedAndKept) {
  Executor executor(2);
  float *first = executor.scratch(1, 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(executor.scratch(1, 50), first);
  EXPECT_NE(executor.scratch(0, 50), first);
}

/// How many threads this process has; 0 where that is not known.
unsigned threadsOfProcess() {
  unsigned count = 0;
#ifdef __linux__
  for ([[maybe_unused]] const auto &entry :
       std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
#endif
  return count;
}

// Threads come with the first work for them, and go with the executor.
TEST(Executor, StartsThreadsForWork) {
  unsigned before = threadsOfProcess();
  {
    Executor executor(4);
    EXPECT_EQ(executor.threadsStarted(), 0u);
    executor.parallelFor(1, [](size_t, unsigned) {});
    EXPECT_EQ(executor.threadsStarted(), 0u);
    executor.parallelFor(2, [](size_t, unsigned) {});
    EXPECT_EQ(executor.threadsStarted(), 3u);
    if (before)
      EXPECT_EQ(threadsOfProcess(), before + 3);
  }
  EXPECT_EQ(threadsOfProcess(), before);
}

// One thread is the one that calls, whatever it is asked for.
TEST(Executor, OfOneThreadStartsNone) {
  Executor executor(1);
  unsigned before = threadsOfProcess();
  std::thread::id caller = std::this_thread::get_id();
  int runs = 0;
  auto note = [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(threadsOfProcess(), before);
    ++runs;
  };
  executor.parallelFor(100, [&](size_t, unsigned) { note(); });
  executor.parallelRanges(1000, 10, [&](size_t, size_t, unsigned) { note(); });
  EXPECT_EQ(runs, 104);
  TaskQueue queue(executor);
  TaskQueue::Task task = note;
  uint64_t number = queue.submit(task);
  EXPECT_EQ(runs, 105);
  queue.wait(number);
  EXPECT_EQ(executor.threadsStarted(), 0u);
}

TEST(TaskQueue, RunsInOrder) {
  for (unsigned threads : {1, 2, 4}) {
    Executor executor(threads);
    std::vector<int> order; // of one thread at a time
    std::vector<TaskQueue::Task> tasks;
    for (int i = 0; i < 100; ++i)
      tasks.push_back([&order, i] { order.push_back(i); });
    {
      TaskQueue queue(executor, 4);
      for (const TaskQueue::Task &task : tasks)
        queue.submit(task);
      queue.wait(50);
      EXPECT_GE(order.size(), 50u);
    }
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i)
      EXPECT_EQ(order[i], i);
  }
}

// A task goes on while its submitter does something else, jobs of both share
// the workers, and no worker runs two tasks at once.
TEST(TaskQueue, WorksBesideItsSubmitter) {
  for (unsigned threads : {2, 3, 5}) {
    Executor executor(threads);
    std::vector<std::atomic<int>> isBusy(threads);
    std::atomic<size_t> sums[2] = {0, 0};
    auto work = [&](size_t which) {
      for (int job = 0; job < 200; ++job)
        executor.parallelFor(16, [&](size_t task, unsigned worker) {
          EXPECT_EQ(isBusy[worker]++, 0);
          EXPECT_EQ(executor.currentWorker(), worker);
          EXPECT_EQ(executor.scratch(worker, 8), executor.scratch(worker, 8));
          sums[which] += task;
          --isBusy[worker];
        });
    };
    TaskQueue queue(executor);
    TaskQueue::Task task = [&] { work(1); };
    for (int round = 0; round < 5; ++round) {
      uint64_t number = queue.submit(task);
      work(0);
      queue.wait(number);
    }
    for (std::atomic<size_t> &sum : sums)
      EXPECT_EQ(sum, 5u * 200 * 120);
  }
}

// What one waits for does not wait for the other, even with one worker.
TEST(TaskQueue, OfOneExecutorDoNotWaitForEachOther) {
  Executor executor(2);
  TaskQueue slow(executor), quick(executor);
  std::atomic<bool> mayEnd{false};
  TaskQueue::Task waits = [&] {
    while (!mayEnd)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    executor.parallelFor(4, [](size_t, unsigned) {});
  };
  int runs = 0;
  TaskQueue::Task counts = [&] {
    executor.parallelFor(4, [](size_t, unsigned) {});
    ++runs;
  };
  slow.submit(waits);
  for (int i = 0; i < 10; ++i)
    quick.wait(quick.submit(counts));
  EXPECT_EQ(runs, 10);
  mayEnd = true;
  slow.waitForAll();
}

// A task can run on any thread, and its caller has to learn of it.
TEST(Executor, ThrowsWhatATaskThrows) {
  for (unsigned threads : {1u, 3u}) {
    Executor executor(threads);
    std::atomic<int> runs{0};
    for (size_t failing : {0, 50, 99})
      EXPECT_THROW(executor.parallelFor(100,
                                        [&](size_t task, unsigned) {
                                          if (task == failing)
                                            throw std::bad_alloc();
                                          ++runs;
                                        }),
                   std::bad_alloc);
    if (threads > 1) // all tasks are done before it throws
      EXPECT_EQ(runs, 3 * 99);
    runs = 0;
    executor.parallelFor(100, [&](size_t, unsigned) { ++runs; });
    EXPECT_EQ(runs, 100);
  }
}

TEST(TaskQueue, ThrowsWhatATaskThrows) {
  Executor executor(2);
  std::atomic<int> runs{0};
  TaskQueue::Task fails = [] { throw std::bad_alloc(); };
  TaskQueue::Task counts = [&] { ++runs; };
  TaskQueue::Task failsInside = [&] {
    executor.parallelFor(10, [](size_t, unsigned) { throw std::bad_alloc(); });
  };
  TaskQueue queue(executor);
  for (TaskQueue::Task *failing : {&fails, &failsInside}) {
    queue.submit(*failing);
    queue.submit(counts);
    EXPECT_THROW(queue.waitForAll(), std::bad_alloc);
    queue.waitForAll(); // once
  }
  EXPECT_EQ(runs, 2);
  TaskQueue(executor).submit(fails); // its destructor throws nothing
}

TEST(TaskQueue, WaitsAtItsEnd) {
  Executor executor(2);
  std::atomic<int> count{0};
  TaskQueue::Task task = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++count;
  };
  for (int i = 1; i <= 5; ++i) {
    TaskQueue queue(executor);
    queue.submit(task);
    queue.submit(task);
    // The destructor waits for both.
  }
  EXPECT_EQ(count, 10);
}

TEST(ServiceThread, IsCountedWhileItRuns) {
  Executor executor(1);
  std::atomic<bool> ends{false};
  {
    ServiceThread thread(executor, [&] {
      while (!ends)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    EXPECT_EQ(executor.threadsStarted(), 1u);
    ends = true;
  }
  EXPECT_EQ(executor.threadsStarted(), 0u);
}

} // namespace
