//===- States.cpp - states of the entries of a session --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "States.h"
#include "lib/Support/MemoryLimit.h"
#include <cstring>
#include <new>

using namespace anec;
using namespace anec::session;

void StateMemory::allocate(size_t count, uint64_t allocated) {
  constexpr size_t largeBytes = size_t(8) << 20;
  size_t bytes = count * sizeof(float);
  if (bytes < largeBytes) {
    small = makeAlignedArray(count);
    std::fill_n(small.get(), count, 0.0f);
    return;
  }
  using llvm::sys::Memory;
  std::error_code error = std::make_error_code(std::errc::not_enough_memory);
  if (hasMemoryFor(allocated + bytes))
    large = llvm::sys::OwningMemoryBlock(Memory::allocateMappedMemory(
        bytes, nullptr, Memory::MF_READ | Memory::MF_WRITE, error));
  if (error)
    throw std::bad_alloc();
}

std::vector<NamedFloats> States::of(const Function &entry) {
  std::vector<NamedFloats> states;
  for (const auto &param : entry.parameters()) {
    if (param->holder != Holder::State)
      continue;
    std::string key = entry.of().str() + "\n" + std::to_string(states.size()) +
                      "\n" + param->type.str();
    size_t count = size_t(param->type.numElements());
    StateMemory &array = memory[key];
    if (!array.elements()) {
      array.allocate(count, allocated);
      allocated += count * sizeof(float);
    }
    states.push_back({param->name,
                      TensorType(DType::FP32, param->type.shape),
                      {array.elements(), count}});
  }
  return states;
}

void StateUpdate::run(Executor &executor) const {
  for (int64_t part = 0; part < positions; ++part)
    runPart(part, executor);
}

void StateUpdate::runPart(int64_t part, Executor &executor) const {
  int64_t first = position ? int32_t(position[part]) : 0;
  if (parts > 1 && (first < 0 || first >= extent))
    return;
  int64_t run = length / positions, reach = extent / parts;
  int64_t end = parts > 1 ? (first / reach + 1) * reach : extent;
  int64_t skipped = std::max<int64_t>(-first, 0);
  int64_t kept = std::min(run, end - first) - skipped;
  if (kept <= 0)
    return;
  const float *from = rows + part * run + skipped;
  // Each vector touches a cache line of its own.
  constexpr size_t fewest = 4096;
  executor.parallelRanges(
      size_t(count), fewest, [&](size_t begin, size_t end, unsigned) {
        for (size_t i = begin; i < end; ++i)
          std::memcpy(state + int64_t(i) * extent + first + skipped,
                      from + int64_t(i) * length, size_t(kept) * sizeof(float));
      });
}
