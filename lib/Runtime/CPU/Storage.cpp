//===- Storage.cpp - where values live during a run -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Storage.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace anec;
using namespace anec::cpu;

/// A cache line, and the widest vector.
static constexpr uint64_t alignmentWords = 16;

namespace {

/// Hands out places of an arena that grows as needed, smallest fit first.
class Arena {
public:
  uint64_t allocate(uint64_t size) {
    auto best = free.end();
    for (auto it = free.begin(); it != free.end(); ++it)
      if (it->second >= size &&
          (best == free.end() || it->second < best->second))
        best = it;
    if (best == free.end())
      return grow(size);
    uint64_t offset = best->first, left = best->second - size;
    free.erase(best);
    if (left != 0)
      free[offset + size] = left;
    return offset;
  }
  void release(uint64_t offset, uint64_t size) {
    auto next = free.lower_bound(offset);
    if (next != free.end() && next->first == offset + size) {
      size += next->second;
      next = free.erase(next);
    }
    if (next != free.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    free[offset] = size;
  }
  uint64_t size() const { return end; }

private:
  /// Extends the last free place, or the arena.
  uint64_t grow(uint64_t size) {
    uint64_t offset = end;
    if (!free.empty()) {
      auto last = std::prev(free.end());
      if (last->first + last->second == end) {
        offset = last->first;
        free.erase(last);
      }
    }
    end = offset + size;
    return offset;
  }
  std::map<uint64_t, uint64_t> free; ///< offset -> size
  uint64_t end = 0;
};

} // namespace

static uint64_t sizeInWords(const Value *value) {
  return llvm::alignTo(std::max<int64_t>(value->type.numElements(), 1),
                       alignmentWords);
}

Storage::Storage(const Function &function, const Schedule &schedule) {
  placeConstants(function);
  placeActivations(function, schedule);
  for (auto [value, root] : schedule.roots)
    if (value != root)
      places[value] = places.lookup(root);
}

void Storage::placeConstants(const Function &function) {
  llvm::DenseMap<const Constant *, uint32_t *> seen;
  for (const Op &op : function.body()) {
    if (!op.is(ops::Const) || op.result()->type.dtype == DType::String)
      continue;
    const Constant *constant = op.constant("val");
    uint32_t *&place = seen[constant];
    if (!place) {
      uint64_t words = sizeInWords(op.result());
      constants.push_back(makeAlignedArray(words));
      constantWords += words;
      float *floats = constants.back().get();
      place = reinterpret_cast<uint32_t *>(floats);
      if (isFloat(constant->dtype())) {
        constant->copyToFloats(floats);
      } else {
        int32_t *ints = reinterpret_cast<int32_t *>(floats);
        for (int64_t i = 0, n = constant->numElements(); i < n; ++i)
          ints[i] = int32_t(constant->doubleAt(i));
      }
    }
    places[op.result()] = place;
  }
}

void Storage::placeActivations(const Function &function,
                               const Schedule &schedule) {
  // The number of the last step that reads a value; results are read after all.
  llvm::DenseMap<const Value *, size_t> lastUse;
  for (auto [number, step] : llvm::enumerate(schedule.steps))
    for (const Op *op : step.ops)
      for (const Value *operand : op->operandValues())
        if (operand)
          lastUse[schedule.root(operand)] = number;
  size_t end = schedule.steps.size();
  for (const Value *result : function.resultValues())
    lastUse[schedule.root(result)] = end;

  Arena memory;
  llvm::DenseMap<const Value *, uint64_t> offsets;
  std::vector<std::vector<const Value *>> freedAfter(end + 1);
  auto allocate = [&](const Value *value, size_t step) {
    offsets[value] = memory.allocate(sizeInWords(value));
    freedAfter[std::max<size_t>(lastUse.lookup(value), step)].push_back(value);
  };
  for (const auto &param : function.parameters())
    allocate(param.get(), 0);
  for (auto [number, step] : llvm::enumerate(schedule.steps)) {
    for (const Op *op : step.ops)
      for (const Value *result : op->resultValues())
        if (!schedule.internal.contains(result))
          allocate(result, number);
    for (const Value *dead : freedAfter[number])
      memory.release(offsets.lookup(dead), sizeInWords(dead));
  }
  arenaWords = memory.size();
  arena = makeAlignedArray(arenaWords);
  // First touch now rather than in the first run.
  std::fill_n(arena.get(), arenaWords, 0.0f);
  uint32_t *base = reinterpret_cast<uint32_t *>(arena.get());
  for (auto [value, offset] : offsets)
    places[value] = base + offset;
}
