//===- PeakWorker.cpp - the most multiply-adds of a machine ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Multiplies and adds floats in registers, on several threads, with the
/// vectors of the instruction set that the cpu backend would use: each run is
/// 2^27 multiply-adds a thread. Speaks the protocol of interleaved.Worker.
///
//===----------------------------------------------------------------------===//

#include "anec/Support/Executor.h"
#include "benchmarks/Instructions.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

using namespace anec;

static constexpr size_t multiplyAdds = size_t(1) << 27;

using Floats4 = float __attribute__((vector_size(16)));
using Floats8 = float __attribute__((vector_size(32)));
using Floats16 = float __attribute__((vector_size(64)));

/// Sums that differ, or compilers would compute one for all; as many as hide
/// the latency of an addition, and have registers.
template <typename Floats>
[[gnu::always_inline]] static inline float multiply() {
#if defined(__aarch64__)
  constexpr size_t count = 16;
#else
  constexpr size_t count = 12;
#endif
  constexpr size_t width = sizeof(Floats) / sizeof(float);
  Floats sums[count];
  for (size_t j = 0; j < count; ++j)
    sums[j] = Floats{} + float(j + 2);
  Floats x = Floats{} + 0.999f, y = Floats{} + 1e-3f;
  for (size_t i = 0; i < multiplyAdds / (count * width); ++i)
#pragma GCC unroll 16
    for (size_t j = 0; j < count; ++j)
      sums[j] = sums[j] * x + y;
  float total = 0;
  for (size_t j = 0; j < count; ++j)
    total += sums[j][0];
  return total;
}

#if defined(__x86_64__)
[[gnu::target("avx512f")]] static float multiplyAvx512() {
  return multiply<Floats16>();
}
[[gnu::target("avx2,fma")]] static float multiplyAvx2() {
  return multiply<Floats8>();
}
#endif

static float multiplyOnce() {
#if defined(__x86_64__)
  switch (cpu::instructionSet()) {
  case cpu::InstructionSet::AVX512:
    return multiplyAvx512();
  case cpu::InstructionSet::AVX2:
    return multiplyAvx2();
  default:
    break;
  }
#endif
  return multiply<Floats4>();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: anec-peak-worker THREADS\n";
    return 2;
  }
  if (!chooseInstructions())
    return 2;
  Executor executor(unsigned(std::atoi(argv[1])));
  std::vector<float> results(executor.size());
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << '[';
    for (int i = 0, count = std::atoi(line.c_str()); i < count; ++i) {
      auto start = std::chrono::steady_clock::now();
      executor.parallelFor(executor.size(), [&](size_t task, unsigned) {
        results[task] = multiplyOnce();
      });
      std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      std::cout << (i ? ", " : "") << elapsed.count();
    }
    std::cout << ']' << std::endl;
  }
  // Results are used.
  return results[0] == 0 ? 1 : 0;
}
