//===- MaskDraw.cpp - draws random masks ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/MaskDraw.h"
#include "lib/Support/Half.h"
#include "lib/Support/SplitMix.h"
#include <cstring>

using namespace anec;

/// Writes `value` where `isKept`, and 0 elsewhere, as elements of type T.
template <typename T, typename Condition>
static void fill(llvm::MutableArrayRef<uint8_t> bytes, T value,
                 Condition isKept) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T element = isKept() ? value : T(0);
    std::memcpy(bytes.data() + at, &element, sizeof(T));
  }
}

template <typename Condition>
static void fill(const TensorType &type, llvm::MutableArrayRef<uint8_t> bytes,
                 double value, Condition isKept) {
  if (type.dtype == DType::FP16)
    fill(bytes, floatToHalf(float(value)), isKept);
  else
    fill(bytes, float(value), isKept);
}

void MaskDraw::draw(const RandomMask &mask, const TensorType &type,
                    uint64_t input,
                    llvm::MutableArrayRef<uint8_t> elements) const {
  uint64_t key =
      splitMix(splitMix(splitMix(splitMix(seed) + step) + run) + input);
  // Numbers of 32 bits below this are kept: all of them for 1.
  uint64_t bound = uint64_t(double(mask.keep) * 4294967296.0);
  uint64_t next = 0;
  fill(type, elements, mask.value(),
       [&] { return (splitMix(key + next++) >> 32) < bound; });
}

void anec::fillMean(const RandomMask &mask, const TensorType &type,
                    llvm::MutableArrayRef<uint8_t> elements) {
  fill(type, elements, mask.mean(), [] { return true; });
}
