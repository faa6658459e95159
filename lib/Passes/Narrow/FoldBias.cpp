//===- FoldBias.cpp - biases of products with a matrix --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `matmul` has no bias: fp16 rounds the product, then the sum. `linear` rounds
/// once, as the exporter's source did.
///
//===----------------------------------------------------------------------===//

#include "FoldScales.h"
#include "KnownArrays.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Matmul.h"

using namespace anec;

/// The ranks that Core ML documents for `linear`.
static constexpr unsigned maxLinearRank = 3;

/// `matrix` as [outputs, inputs].
static Value *outputsFirst(Value *matrix, bool isTransposed, Builder &builder) {
  if (isTransposed)
    return matrix;
  RefTensor array = *knownArray(matrix), turned = array;
  auto inputs = size_t(array.type.shape[0]),
       outputs = size_t(array.type.shape[1]);
  turned.type.shape = {int64_t(outputs), int64_t(inputs)};
  for (size_t i = 0; i < inputs; ++i)
    for (size_t o = 0; o < outputs; ++o)
      turned.data[o * inputs + i] = array.data[i * outputs + o];
  return buildArray(builder, turned, matrix->name);
}

// matmul(x, w) + b == linear(x, transpose(w), b)
Value *anec::biasedProduct(Op &op, const RefTensor &addend, Builder &builder,
                           llvm::StringRef name) {
  if (!op.is(ops::Matmul) || op.get(param::transposeX))
    return nullptr;
  Value *x = op.operand(0u), *matrix = op.operand(1u);
  unsigned rank = op.result()->type.rank();
  if (matrix->type.rank() != 2 || !knownArray(matrix) ||
      x->type.rank() != rank || rank > maxLinearRank ||
      x->type.dtype != matrix->type.dtype)
    return nullptr;
  auto addends = alongAxis(addend, op.result()->type, rank - 1);
  if (!addends)
    return nullptr;
  RefTensor bias{TensorType(DType::FP32, {int64_t(addends->size())}),
                 std::move(*addends)};
  Value *weight = outputsFirst(matrix, op.get(param::transposeY), builder);
  return builder.build(
      ops::Linear,
      {x, weight, buildArray(builder, bias, (name + "_bias").str())}, {}, name);
}
