//===- HostArray.cpp - an input or output in host memory ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostArray.h"
#include "anec/Support/Half.h"
#include <cstring>

using namespace anec;
using namespace anec::ane;

HostArray::HostArray(const Port &port, DType elements)
    : ownPort(port), elements(elements) {
  TensorType type(elements, port.type.shape);
  layout = denseLayout(type);
  memory.resize(layout.bytes);
}

void HostArray::write(const Region &region, const float *values) {
  std::vector<uint16_t> rounded;
  forEachRow(ownPort.type, layout, region,
             [&](uint64_t offset, size_t from, size_t count) {
               uint8_t *to = memory.data() + offset;
               if (isWidened()) {
                 rounded.resize(count);
                 floatsToHalves(values + from, rounded.data(), count);
                 halvesToFloats(rounded.data(), reinterpret_cast<float *>(to),
                                count);
                 return;
               }
               if (elements == DType::FP16)
                 floatsToHalves(values + from, reinterpret_cast<uint16_t *>(to),
                                count);
               else
                 std::memcpy(to, values + from, count * sizeof(float));
             });
}

void HostArray::read(const Region &region, float *values) const {
  std::vector<uint16_t> rounded;
  forEachRow(ownPort.type, layout, region,
             [&](uint64_t offset, size_t to, size_t count) {
               const uint8_t *from = memory.data() + offset;
               if (isWidened()) {
                 rounded.resize(count);
                 floatsToHalves(reinterpret_cast<const float *>(from),
                                rounded.data(), count);
                 halvesToFloats(rounded.data(), values + to, count);
                 return;
               }
               if (elements == DType::FP16)
                 halvesToFloats(reinterpret_cast<const uint16_t *>(from),
                                values + to, count);
               else
                 std::memcpy(values + to, from, count * sizeof(float));
             });
}

void HostArray::write(llvm::ArrayRef<uint8_t> bytes) {
  if (isWidened())
    halvesToFloats(reinterpret_cast<const uint16_t *>(bytes.data()),
                   reinterpret_cast<float *>(memory.data()), bytes.size() / 2);
  else
    std::copy(bytes.begin(), bytes.end(), memory.begin());
}

void HostArray::read(llvm::MutableArrayRef<uint8_t> bytes) const {
  if (isWidened())
    floatsToHalves(reinterpret_cast<const float *>(memory.data()),
                   reinterpret_cast<uint16_t *>(bytes.data()),
                   bytes.size() / 2);
  else
    std::copy(memory.begin(), memory.begin() + long(bytes.size()),
              bytes.begin());
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
