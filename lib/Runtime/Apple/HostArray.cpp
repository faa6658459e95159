//===- HostArray.cpp - an input or output in host memory ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostArray.h"
#include "lib/Runtime/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace anec;
using namespace anec::apple;

HostArray::HostArray(const Port &port, DType elements)
    : ownPort(port), elements(elements) {
  TensorType type(elements, port.type.shape);
  layout = denseLayout(type);
  memory.resize(layout.bytes);
}

/// Words, floats or int32, to elements of type `to` of a port of type `port`.
static void storeWords(DType port, DType to, const float *words, size_t count,
                       uint8_t *memory) {
  if (to == DType::FP16)
    return floatsToHalves(words, reinterpret_cast<uint16_t *>(memory), count);
  if (to == DType::Int8) {
    for (size_t i = 0; i < count; ++i)
      memory[i] = uint8_t(llvm::bit_cast<int32_t>(words[i]));
    return;
  }
  if (port != DType::FP16) {
    std::memcpy(memory, words, count * sizeof(float));
    return;
  }
  std::vector<uint16_t> rounded(count);
  floatsToHalves(words, rounded.data(), count);
  halvesToFloats(rounded.data(), reinterpret_cast<float *>(memory), count);
}

/// The reverse of storeWords.
static void loadWords(DType port, DType from, const uint8_t *memory,
                      size_t count, float *words) {
  if (from == DType::FP16)
    return halvesToFloats(reinterpret_cast<const uint16_t *>(memory), words,
                          count);
  if (from == DType::Int8) {
    for (size_t i = 0; i < count; ++i)
      words[i] = llvm::bit_cast<float>(int32_t(int8_t(memory[i])));
    return;
  }
  if (port != DType::FP16) {
    std::memcpy(words, memory, count * sizeof(float));
    return;
  }
  std::vector<uint16_t> rounded(count);
  floatsToHalves(reinterpret_cast<const float *>(memory), rounded.data(),
                 count);
  halvesToFloats(rounded.data(), words, count);
}

void HostArray::write(const Region &region, const float *values) {
  forEachRow(ownPort.type, layout, region,
             [&](uint64_t offset, size_t from, size_t count) {
               storeWords(ownPort.type.dtype, elements, values + from, count,
                          memory.data() + offset);
             });
}

void HostArray::read(const Region &region, float *values) const {
  forEachRow(ownPort.type, layout, region,
             [&](uint64_t offset, size_t to, size_t count) {
               loadWords(ownPort.type.dtype, elements, memory.data() + offset,
                         count, values + to);
             });
}

void HostArray::write(llvm::ArrayRef<uint8_t> bytes) {
  if (elements == ownPort.type.dtype) {
    std::copy(bytes.begin(), bytes.end(), memory.begin());
    return;
  }
  std::vector<uint32_t> words(size_t(ownPort.type.numElements()));
  Executor caller(1);
  loadElements(ownPort.type, bytes, words.data(), caller);
  storeWords(ownPort.type.dtype, elements,
             reinterpret_cast<const float *>(words.data()), words.size(),
             memory.data());
}

void HostArray::read(llvm::MutableArrayRef<uint8_t> bytes) const {
  if (elements == ownPort.type.dtype) {
    std::copy(memory.begin(), memory.begin() + long(bytes.size()),
              bytes.begin());
    return;
  }
  std::vector<uint32_t> words(size_t(ownPort.type.numElements()));
  loadWords(ownPort.type.dtype, elements, memory.data(), words.size(),
            reinterpret_cast<float *>(words.data()));
  Executor caller(1);
  storeElements(ownPort.type, words.data(), bytes, caller);
}

/// Little-endian: the halves are 0x7ea5 and the floats 0x7fe57ea5, NaNs.
static constexpr uint8_t unwritten[] = {0xa5, 0x7e, 0xe5, 0x7f};

/// Calls `visit` with the place of every marked byte, and the mark, until it
/// returns false. 64 elements are enough to see that nothing was written, and
/// take no time of the run.
template <typename Visit>
static void eachMark(size_t count, size_t elementBytes, Visit visit) {
  size_t marks = std::min<size_t>(count, 64);
  for (size_t i = 0; i < marks; ++i) {
    size_t element = marks < 2 ? 0 : i * (count - 1) / (marks - 1);
    for (size_t byte = 0; byte < elementBytes; ++byte)
      if (!visit(element * elementBytes + byte, unwritten[byte % 4]))
        return;
  }
}

void HostArray::markUnwritten(uint8_t *to) const {
  eachMark(layout.rows * layout.columns, layout.elementBytes,
           [&](size_t at, uint8_t mark) {
             to[at] = mark;
             return true;
           });
}

bool HostArray::isUnwritten() const {
  bool isMarked = !memory.empty();
  eachMark(layout.rows * layout.columns, layout.elementBytes,
           [&](size_t at, uint8_t mark) {
             isMarked &= memory[at] == mark;
             return isMarked;
           });
  return isMarked;
}
