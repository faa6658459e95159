//===- HostArray.h - an input or output in host memory ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_APPLE_HOSTARRAY_H
#define ANEC_LIB_RUNTIME_APPLE_HOSTARRAY_H

#include "RowLayout.h"
#include "anec/Runtime/Backend.h"

namespace anec::apple {

/// Contiguous elements of an input or output in host memory. Their type is that
/// of the port, or another that holds its values: fp32 for an fp16 port, whose
/// values are rounded to fp16 when written and when read, and int32 for smaller
/// integers and bool.
class HostArray {
public:
  HostArray(const Port &port, DType elements);

  /// Like Executable::writeInput and readOutput.
  void write(const Region &region, const float *elements);
  void read(const Region &region, float *elements) const;
  /// The whole array, in the port's own type.
  void write(llvm::ArrayRef<uint8_t> bytes);
  void read(llvm::MutableArrayRef<uint8_t> bytes) const;

  const Port &port() const { return ownPort; }
  DType elementType() const { return elements; }
  llvm::ArrayRef<uint8_t> bytes() const { return memory; }
  llvm::MutableArrayRef<uint8_t> bytes() { return memory; }

  /// Marks elements of the array, or of memory `to` like it, with a value that
  /// no program computes: a NaN with a payload of its own, or the same bits as
  /// an integer.
  void markUnwritten() { markUnwritten(memory.data()); }
  void markUnwritten(uint8_t *to) const;
  /// Whether all of them still have that value.
  bool isUnwritten() const;

private:
  Port ownPort;
  DType elements;
  RowLayout layout;
  std::vector<uint8_t> memory;
};

} // namespace anec::apple

#endif // ANEC_LIB_RUNTIME_APPLE_HOSTARRAY_H
