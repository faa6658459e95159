//===- RowLayout.cpp - the memory layout of an input or output ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RowLayout.h"
#include "anec/Target/Target.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::ane;

RowLayout ane::rowLayout(const TensorType &type, uint64_t stride) {
  const SurfaceRule &rule = genericTarget().surface;
  RowLayout layout;
  layout.elementBytes = byteSize(type.dtype, 1);
  layout.columns = type.isScalar() ? 1 : uint64_t(type.shape.back());
  for (int64_t extent : llvm::ArrayRef(type.shape).drop_back(!type.isScalar()))
    layout.rows *= uint64_t(extent);
  layout.stride =
      stride ? stride : llvm::alignTo(layout.rowBytes(), rule.rowAlignment);
  layout.bytes =
      std::max<uint64_t>(layout.rows * layout.stride, surfaceBytes(rule, type));
  return layout;
}

RowLayout ane::denseLayout(const TensorType &type) {
  RowLayout layout = rowLayout(type);
  layout.stride = layout.rowBytes();
  layout.bytes = layout.rows * layout.stride;
  return layout;
}
