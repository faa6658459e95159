//===- Weights.cpp - from a stored array to a weight's value --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Ops/Weights.h"
#include "anec/IR/OpDef.h"
#include <cstring>

using namespace anec;

TensorType anec::weightSourceType(const Op &weight) {
  const Constant *source = weight.constant("source_shape");
  return TensorType(weight.result()->type.dtype,
                    source ? source->asInts() : weight.intsAttr("shape"));
}

/// Calls `visit(target, source)` for the element indices of a transposition of
/// an array of `shape` by `perm`.
template <typename Visit>
static void forEachTransposed(llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<int64_t> perm, Visit visit) {
  Shape strides = rowMajorStrides(shape), index(shape.size(), 0);
  int64_t count = TensorType(DType::FP32, shape).numElements(), source = 0;
  for (int64_t target = 0; target < count; ++target) {
    visit(target, source);
    for (size_t axis = perm.size(); axis-- > 0;) {
      int64_t from = perm[axis];
      source += strides[from];
      if (++index[axis] < shape[from])
        break;
      source -= strides[from] * shape[from];
      index[axis] = 0;
    }
  }
}

ConstantRef anec::arrangeWeight(const Op &weight, ConstantRef source) {
  TensorType type = weightSourceType(weight);
  assert(source->type() == type);
  llvm::ArrayRef<int64_t> shape = weight.result()->type.shape;
  const Constant *perm = weight.constant("perm");
  if (!perm)
    return type.shape == Shape(shape) ? source : source->reshaped(shape);
  unsigned width = bitWidth(source->storedDType()) / 8;
  assert(width != 0 && "sub-byte weights are not transposed");
  auto bytes =
      std::make_shared_for_overwrite<uint8_t[]>(source->bytes().size());
  forEachTransposed(type.shape, perm->asInts(), [&](int64_t to, int64_t from) {
    std::memcpy(bytes.get() + to * width, source->bytes().data() + from * width,
                width);
  });
  llvm::ArrayRef<uint8_t> view(bytes.get(), source->bytes().size());
  return Constant::view(TensorType(type.dtype, shape), source->storedDType(),
                        view, bytes);
}

std::vector<double> anec::arrangeWeight(const Op &weight,
                                        llvm::ArrayRef<double> source) {
  const Constant *perm = weight.constant("perm");
  if (!perm)
    return source.vec();
  std::vector<double> result(source.size());
  forEachTransposed(
      weightSourceType(weight).shape, perm->asInts(),
      [&](int64_t to, int64_t from) { result[to] = source[from]; });
  return result;
}
