//===- ArraySnapshot.cpp - arrays as they were ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ArraySnapshot.h"
#include <cstring>

using namespace anec;

ArraySnapshot::ArraySnapshot(llvm::ArrayRef<NamedFloats> arrays) {
  for (const NamedFloats &array : arrays)
    entries.push_back({array, nullptr});
}

ConstantRef ArraySnapshot::make(Entry &entry) {
  llvm::MutableArrayRef<float> elements = entry.array.elements;
  size_t bytes = elements.size() * sizeof(float);
  std::lock_guard lock(changes);
  if (!entry.copy) {
    entry.copy = makeAlignedArray(elements.size());
    std::memcpy(entry.copy.get(), elements.data(), bytes);
  }
  entry.isMade = true;
  std::shared_ptr<const float> owner(entry.copy.release(), AlignedDelete());
  return Constant::view(entry.array.type, DType::FP32,
                        {reinterpret_cast<const uint8_t *>(owner.get()), bytes},
                        owner);
}

std::vector<PlannedArray> ArraySnapshot::plan() {
  std::vector<PlannedArray> planned;
  for (Entry &entry : entries)
    planned.push_back({entry.array.name, entry.array.type,
                       [this, &entry] { return make(entry); }});
  return planned;
}

void ArraySnapshot::copyRest(Executor &executor) {
  if (isWhole)
    return;
  isWhole = true;
  struct Part {
    float *to;
    const float *from;
    size_t count;
  };
  constexpr size_t most = size_t(1) << 18;
  std::vector<Part> parts;
  std::lock_guard lock(changes);
  for (Entry &entry : entries) {
    if (entry.isMade)
      continue;
    size_t size = entry.array.elements.size();
    entry.copy = makeAlignedArray(size);
    for (size_t at = 0; at < size; at += most)
      parts.push_back({entry.copy.get() + at, entry.array.elements.data() + at,
                       std::min(most, size - at)});
  }
  executor.parallelFor(parts.size(), [&](size_t task, unsigned) {
    const Part &part = parts[task];
    std::memcpy(part.to, part.from, part.count * sizeof(float));
  });
}
