//===- ThreadPoolTest.cpp - The CPU backend's threads ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CPU/Parallel.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace anec::cpu;

namespace {

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (unsigned threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (size_t tasks : {0, 1, 2, 3, 100, 1000}) {
      std::vector<std::atomic<int>> runs(tasks);
      pool.parallelFor(tasks, [&](size_t task, unsigned worker) {
        EXPECT_LT(worker, threads);
        EXPECT_EQ(worker, pool.currentWorker());
        ++runs[task];
      });
      for (std::atomic<int> &count : runs)
        EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ManySmallJobs) {
  ThreadPool pool(3);
  size_t total = 0;
  for (size_t job = 0; job < 20000; ++job) {
    std::atomic<size_t> sum{0};
    pool.parallelFor(job % 5, [&](size_t task, unsigned) { sum += task + 1; });
    total += sum;
  }
  EXPECT_EQ(total, 20000u / 5 * (1 + 3 + 6 + 10));
}

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(2);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> count{0};
    pool.parallelFor(8, [&](size_t, unsigned) { ++count; });
    EXPECT_EQ(count, 8);
  }
}

TEST(ThreadPool, WaitsForASlowTask) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.parallelFor(2, [&](size_t task, unsigned) {
    if (task == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++count;
  });
  EXPECT_EQ(count, 2);
}

TEST(ThreadPool, NestedCallsRunInline) {
  ThreadPool pool(2);
  std::atomic<int> count{0};
  pool.parallelFor(4, [&](size_t, unsigned outer) {
    pool.parallelFor(4, [&](size_t, unsigned inner) {
      EXPECT_EQ(inner, outer);
      ++count;
    });
  });
  EXPECT_EQ(count, 16);
}

TEST(ThreadPool, RangesCoverTheCount) {
  ThreadPool pool(2);
  for (size_t count : {0, 1, 63, 64, 65, 1000, 100003})
    for (size_t grain : {0, 1, 64, 5000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.parallelRanges(count, grain,
                          [&](size_t begin, size_t end, unsigned) {
                            EXPECT_LT(begin, end);
                            for (size_t i = begin; i < end; ++i)
                              ++seen[i];
                          });
      for (std::atomic<int> &each : seen)
        ASSERT_EQ(each, 1);
    }
}

TEST(ThreadPool, ScratchIsAlignedAndKept) {
  ThreadPool pool(2);
  float *first = pool.scratch(1, 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(pool.scratch(1, 50), first);
  EXPECT_NE(pool.scratch(0, 50), first);
}

} // namespace
