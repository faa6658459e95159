//===- StoredArray.cpp - an array of a file -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Arrays/StoredArray.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/Support/Half.h"
#include <cstring>

using namespace anec;

ConstantRef StoredArray::get(DType dtype) const {
  if (elements)
    return elements->dtype() == dtype ? elements : declaredAs(elements, dtype);
  ConstantRef made = dtype == DType::FP16 ? unpacked(DType::FP16) : nullptr;
  return declaredAs(made ? made : unpacked(DType::FP32), dtype);
}

/// The elements in memory, as fp32 or fp16; null when fp16 has no room for one
/// of them, since whoever writes wider elements counts those.
ConstantRef StoredArray::unpacked(DType dtype) const {
  int64_t total = arrayType.numElements();
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(
      byteSize(dtype, uint64_t(total)));
  // Chunks that stay in the cache between the two passes.
  int64_t step = std::max<int64_t>(1, 4096 / blockSize);
  std::vector<float> chunk(size_t(step * blockSize));
  for (int64_t block = 0, end = total / blockSize; block < end; block += step) {
    int64_t blocks = std::min(step, end - block);
    size_t count = size_t(blocks * blockSize), at = size_t(block * blockSize);
    unpack(block, blocks, chunk.data());
    if (dtype == DType::FP32) {
      std::memcpy(bytes.get() + at * sizeof(float), chunk.data(),
                  count * sizeof(float));
      continue;
    }
    if (countHalfOverflows(chunk.data(), count))
      return nullptr;
    floatsToHalves(chunk.data(), reinterpret_cast<uint16_t *>(bytes.get()) + at,
                   count);
  }
  return Constant::view({dtype, arrayType.shape}, dtype,
                        {bytes.get(), byteSize(dtype, uint64_t(total))}, bytes);
}
