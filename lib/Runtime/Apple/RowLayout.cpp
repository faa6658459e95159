//===- RowLayout.cpp - where rows of an array lie -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RowLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::apple;

RowLayout apple::evenRows(const TensorType &type, uint64_t rowAlignment) {
  RowLayout layout;
  layout.elementBytes = byteSize(type.dtype, 1);
  layout.columns = type.isScalar() ? 1 : uint64_t(type.shape.back());
  for (int64_t extent : llvm::ArrayRef(type.shape).drop_back(!type.isScalar()))
    layout.rows *= uint64_t(extent);
  layout.stride = llvm::alignTo(layout.rowBytes(), rowAlignment);
  layout.planeRows = std::max<uint64_t>(layout.rows, 1);
  layout.planeStride = layout.batchStride = layout.planeRows * layout.stride;
  layout.bytes = layout.rows * layout.stride;
  return layout;
}
