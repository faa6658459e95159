//===- Weights.cpp - from a stored array to a weight's value --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Ops/Weights.h"
#include "anec/IR/OpDef.h"
#include <cstring>

using namespace anec;

/// The shape of the array that a weight is, or is a part of.
static Shape wholeShape(const Op &weight) {
  return weight.get(weight.constant(param::wholeShape) ? param::wholeShape
                                                       : param::shape);
}

TensorType anec::weightSourceType(const Op &weight) {
  const Constant *source = weight.constant(param::sourceShape);
  return TensorType(weight.result()->type.dtype,
                    source ? source->asInts() : wholeShape(weight));
}

/// Calls `visit(target, source)` for the rows (along the last axis) of a part
/// of an array, as element indices.
template <typename Visit>
static void forEachRowOfPart(const Op &weight, Visit visit) {
  Shape whole = wholeShape(weight), part = weight.get(param::shape);
  Shape begin = weight.get(param::begin), strides = rowMajorStrides(whole);
  int64_t row = part.empty() ? 1 : part.back();
  int64_t count = TensorType(DType::FP32, part).numElements();
  for (int64_t target = 0; target < count; target += row) {
    int64_t source = 0, rest = target;
    for (size_t axis = part.size(); axis-- > 0; rest /= part[axis])
      source += (begin[axis] + rest % part[axis]) * strides[axis];
    visit(target, source);
  }
}

/// The part of an arranged weight that `weight` is.
static ConstantRef takePart(const Op &weight, ConstantRef whole) {
  if (!weight.constant(param::begin))
    return whole;
  unsigned width = bitWidth(whole->storedDType()) / 8;
  assert(width != 0 && "sub-byte weights are not cut");
  const TensorType &type = weight.result()->type;
  size_t size = size_t(type.numElements()) * width;
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(size);
  int64_t row = type.shape.empty() ? 1 : type.shape.back();
  forEachRowOfPart(weight, [&](int64_t to, int64_t from) {
    std::memcpy(bytes.get() + to * width, whole->bytes().data() + from * width,
                size_t(row) * width);
  });
  return Constant::view(type, whole->storedDType(), {bytes.get(), size}, bytes);
}

static std::vector<double> takePart(const Op &weight,
                                    std::vector<double> whole) {
  if (!weight.constant(param::begin))
    return whole;
  const TensorType &type = weight.result()->type;
  std::vector<double> part(type.numElements());
  int64_t row = type.shape.empty() ? 1 : type.shape.back();
  forEachRowOfPart(weight, [&](int64_t to, int64_t from) {
    std::copy_n(whole.begin() + from, row, part.begin() + to);
  });
  return part;
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
  Shape shape = wholeShape(weight);
  const Constant *perm = weight.constant(param::perm);
  if (!perm)
    return takePart(weight,
                    type.shape == shape ? source : source->reshaped(shape));
  unsigned width = bitWidth(source->storedDType()) / 8;
  assert(width != 0 && "sub-byte weights are not transposed");
  auto bytes =
      std::make_shared_for_overwrite<uint8_t[]>(source->bytes().size());
  forEachTransposed(type.shape, perm->asInts(), [&](int64_t to, int64_t from) {
    std::memcpy(bytes.get() + to * width, source->bytes().data() + from * width,
                width);
  });
  llvm::ArrayRef<uint8_t> view(bytes.get(), source->bytes().size());
  return takePart(weight, Constant::view(TensorType(type.dtype, shape),
                                         source->storedDType(), view, bytes));
}

std::vector<double> anec::arrangeWeight(const Op &weight,
                                        llvm::ArrayRef<double> source) {
  const Constant *perm = weight.constant(param::perm);
  if (!perm)
    return takePart(weight, source.vec());
  std::vector<double> result(source.size());
  forEachTransposed(
      weightSourceType(weight).shape, perm->asInts(),
      [&](int64_t to, int64_t from) { result[to] = source[from]; });
  return takePart(weight, std::move(result));
}
