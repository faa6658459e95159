//===- Elements.cpp - elements in memory during runs ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Elements.h"
#include "anec/IR/Constant.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/CPU/VectorKernels.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <cstring>

using namespace anec;

/// The least number of elements that is worth a task.
static constexpr size_t grain = 16384;

/// Whether elements of `dtype` are stored as words.
static bool isWord(DType dtype) {
  return dtype == DType::FP32 || dtype == DType::Int32;
}

/// The word of a value that `dtype` can represent.
static uint32_t wordOf(DType dtype, double value) {
  return isFloat(dtype) ? std::bit_cast<uint32_t>(float(value))
                        : uint32_t(int32_t(int64_t(value)));
}

void anec::loadElements(const TensorType &type, llvm::ArrayRef<uint8_t> bytes,
                        uint32_t *words, Executor &executor) {
  assert(bytes.size() == type.numBytes());
  size_t count = size_t(type.numElements());
  if (count == 0)
    return;
  if (isWord(type.dtype)) {
    std::memcpy(words, bytes.data(), count * sizeof(uint32_t));
    return;
  }
  if (type.dtype == DType::FP16) {
    const auto *halves = reinterpret_cast<const uint16_t *>(bytes.data());
    auto *floats = reinterpret_cast<float *>(words);
    executor.parallelRanges(
        count, grain, [&](size_t begin, size_t end, unsigned) {
          halvesToFloats(halves + begin, floats + begin, end - begin);
        });
    return;
  }
  ConstantRef constant = Constant::view(type, type.dtype, bytes, nullptr);
  for (size_t i = 0; i < count; ++i)
    words[i] = wordOf(type.dtype, constant->doubleAt(int64_t(i)));
}

void anec::storeElements(const TensorType &type, const uint32_t *words,
                         llvm::MutableArrayRef<uint8_t> bytes,
                         Executor &executor) {
  assert(bytes.size() == type.numBytes());
  size_t count = size_t(type.numElements());
  if (count == 0)
    return;
  if (isWord(type.dtype)) {
    std::memcpy(bytes.data(), words, count * sizeof(uint32_t));
    return;
  }
  if (type.dtype == DType::FP16) {
    const auto *floats = reinterpret_cast<const float *>(words);
    auto *halves = reinterpret_cast<uint16_t *>(bytes.data());
    executor.parallelRanges(
        count, grain, [&](size_t begin, size_t end, unsigned) {
          floatsToHalves(floats + begin, halves + begin, end - begin);
        });
    return;
  }
  std::vector<double> values(count);
  loadDoubles(type.dtype, words, values);
  llvm::copy(Constant::fromDoubles(type, values)->bytes(), bytes.begin());
}

void anec::loadDoubles(DType dtype, const uint32_t *words,
                       llvm::MutableArrayRef<double> values) {
  const auto *floats = reinterpret_cast<const float *>(words);
  const auto *ints = reinterpret_cast<const int32_t *>(words);
  bool real = isFloat(dtype);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = real ? double(floats[i]) : double(ints[i]);
}

void anec::storeDoubles(DType dtype, llvm::ArrayRef<double> values,
                        uint32_t *words) {
  for (size_t i = 0; i < values.size(); ++i)
    words[i] = wordOf(dtype, roundToDType(values[i], dtype));
}

void anec::roundToHalves(const float *from, float *to, size_t count,
                         Executor &executor) {
  executor.parallelRanges(
      count, 4 * grain, [&](size_t begin, size_t end, unsigned) {
        cpu::roundToHalf(end - begin, from + begin, to + begin);
      });
}
