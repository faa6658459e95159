//===- FieldHooks.cpp - libFuzzer changes fields of messages --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Linked into the targets whose input is a message. One change in ten is of
/// bytes, so that malformed messages are met too.
///
//===----------------------------------------------------------------------===//

#include "FieldMutator.h"
#include <cstring>

using namespace anec;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

/// The size of the message in `out`, 0 if there is none or it does not fit.
static size_t store(const std::optional<std::string> &message, uint8_t *out,
                    size_t maxSize) {
  if (!message || message->size() > maxSize)
    return 0;
  std::memcpy(out, message->data(), message->size());
  return message->size();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 10 != 0)
    if (size_t written =
            store(mutateFields({data, size}, random, LLVMFuzzerMutate), data,
                  maxSize))
      return written;
  return LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t oneSize,
                                            const uint8_t *other,
                                            size_t otherSize, uint8_t *out,
                                            size_t maxSize, unsigned seed) {
  std::mt19937 random(seed);
  return store(crossFields({one, oneSize}, {other, otherSize}, random), out,
               maxSize);
}
