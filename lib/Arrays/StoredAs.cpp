//===- StoredAs.cpp - an array in its declared element type ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/StoredAs.h"
#include "lib/IR/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace anec;
using namespace llvm;

std::optional<uint64_t> anec::storedSize(const TensorType &type) {
  std::optional<int64_t> count = checkedNumElements(type.shape);
  if (!count || *count > INT64_MAX / 64)
    return std::nullopt;
  return byteSize(type.dtype, *count);
}

/// fp32 to fp16, the case that must run at memory speed.
static void narrowFloats(const uint8_t *in, uint16_t *out, size_t count,
                         uint64_t &overflows) {
  const float *floats = reinterpret_cast<const float *>(in);
  // A file can have its arrays at any byte offset.
  SmallVector<float, 0> aligned;
  if (reinterpret_cast<uintptr_t>(in) % alignof(float)) {
    aligned.resize_for_overwrite(count);
    std::memcpy(aligned.data(), in, count * sizeof(float));
    floats = aligned.data();
  }
  // The block size, such that blocks stay in the cache between the two passes.
  constexpr size_t block = 4096;
  for (size_t begin = 0; begin < count; begin += block) {
    size_t size = std::min(block, count - begin);
    overflows += countHalfOverflows(floats + begin, size);
    floatsToHalves(floats + begin, out + begin, size);
  }
}

/// bf16 to fp16: halves of floats.
static void narrowBrainFloats(const uint8_t *in, uint16_t *out, size_t count,
                              uint64_t &overflows) {
  constexpr size_t block = 4096;
  uint32_t words[block] = {};
  for (size_t begin = 0; begin < count; begin += block) {
    size_t size = std::min(block, count - begin);
    for (size_t i = 0; i < size; ++i)
      words[i] = uint32_t(llvm::support::endian::read16le(in + 2 * (begin + i)))
                 << 16;
    narrowFloats(reinterpret_cast<const uint8_t *>(words), out + begin, size,
                 overflows);
  }
}

/// Element by element. No array is declared as a minifloat but stored wider.
static void storeConverted(const Constant &array, int64_t begin, int64_t count,
                           uint8_t *out) {
  for (int64_t index = 0; index < count; ++index)
    storeElement(array.dtype(), out, index, array.doubleAt(begin + index));
}

/// The number of elements that are finite as stored and infinite as declared.
static uint64_t countNewInfinities(const Constant &array, int64_t begin,
                                   int64_t count) {
  ConstantRef wide =
      Constant::view({array.storedDType(), array.type().shape},
                     array.storedDType(), array.bytes(), nullptr);
  uint64_t overflows = 0;
  for (int64_t index = begin; index < begin + count; ++index)
    overflows +=
        std::isinf(array.doubleAt(index)) && !std::isinf(wide->doubleAt(index));
  return overflows;
}

ArrayRef<uint8_t> anec::elementsAsDeclared(const Constant &array, int64_t begin,
                                           int64_t count,
                                           SmallVectorImpl<uint8_t> &buffer,
                                           uint64_t &overflows) {
  assert(begin % 8 == 0 && "sub-byte elements are cut at bytes");
  DType stored = array.storedDType(), declared = array.dtype();
  if (stored == declared)
    return array.bytes().slice(byteSize(stored, begin),
                               byteSize(stored, count));
  buffer.resize_for_overwrite(byteSize(declared, count));
  if (stored == DType::FP32 && declared == DType::FP16) {
    narrowFloats(array.bytes().data() + byteSize(stored, begin),
                 reinterpret_cast<uint16_t *>(buffer.data()), count, overflows);
    return buffer;
  }
  if (stored == DType::BF16 && declared == DType::FP16) {
    narrowBrainFloats(array.bytes().data() + byteSize(stored, begin),
                      reinterpret_cast<uint16_t *>(buffer.data()), count,
                      overflows);
    return buffer;
  }
  overflows += countNewInfinities(array, begin, count);
  storeConverted(array, begin, count, buffer.data());
  return buffer;
}

void anec::writeElements(raw_ostream &out, const Constant &array) {
  constexpr int64_t block = 1 << 20;
  SmallVector<uint8_t, 0> buffer;
  uint64_t overflows = 0;
  for (int64_t begin = 0, end = array.numElements(); begin < end;
       begin += block) {
    ArrayRef<uint8_t> bytes = elementsAsDeclared(
        array, begin, std::min(block, end - begin), buffer, overflows);
    out.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  }
}

ConstantRef anec::declaredAs(const ConstantRef &array, DType dtype) {
  if (array->dtype() == dtype)
    return array;
  assert(isFloat(dtype) && isFloat(array->dtype()));
  return Constant::view({dtype, array->type().shape}, array->storedDType(),
                        array->bytes(), std::make_shared<ConstantRef>(array),
                        array->origin());
}
