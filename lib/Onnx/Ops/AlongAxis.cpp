//===- AlongAxis.cpp - what several families need -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;
using namespace anec::onnx;

Val onnx::weighAlong(Emitter &e, Val x, int64_t axis,
                     llvm::ArrayRef<double> weights) {
  int64_t extent = x.dim(axis), count = int64_t(weights.size()) / extent;
  Val matrix =
      e.constant(Constant::fromDoubles({x.dtype(), {count, extent}}, weights));
  if (x.rank() == 1)
    return e.reshape(e.matmul(matrix, e.reshape(x, {extent, 1})), {count});
  if (axis == x.rank() - 2)
    return e.matmul(matrix, x);
  Shape perm;
  for (int64_t i = 0; i != x.rank(); ++i)
    perm.push_back(i);
  std::swap(perm[axis], perm.back());
  return e.transpose(e.matmul(e.transpose(x, perm), matrix, false, true), perm);
}

Val onnx::logSoftmax(Emitter &e, Val x, int64_t axis) {
  return e.sub(x, e.reduce(ops::ReduceLogSumExp, x, {axis}, true));
}

bool onnx::checkIndices(Node &n, Val indices, int64_t extent) {
  ConstantRef known = n.e.known(indices);
  if (!known)
    return true;
  if (!isInteger(known->dtype())) {
    n.fail("indices must be integers");
    return false;
  }
  for (int64_t index : known->asInts())
    if (index < -extent || index >= extent) {
      n.fail("index " + llvm::Twine(index) +
             " is out of range for an axis of " + llvm::Twine(extent));
      return false;
    }
  return true;
}

Val onnx::positionsOf(Emitter &e, llvm::ArrayRef<int64_t> shape, int64_t axis) {
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    inner *= extent;
  TensorType type(DType::Int32, shape);
  std::vector<double> positions(size_t(type.numElements()));
  for (size_t i = 0; i != positions.size(); ++i)
    positions[i] = double(int64_t(i) / inner % shape[axis]);
  return e.constant(Constant::fromDoubles(type, positions));
}
