//===- Product.cpp - products of matrices ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Product.h"
#include "../Families.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

Val onnx::product(Emitter &e, Val x, Val y, bool transposeX, bool transposeY) {
  DType dtype = x.dtype();
  DType wide = dtype == DType::FP16 ? DType::FP16 : DType::FP32;
  x = e.cast(x, wide);
  y = e.cast(y, wide);
  bool row = x.rank() == 1, column = y.rank() == 1;
  if (row)
    x = e.reshape(x, {1, x.dim(0)});
  if (column)
    y = e.reshape(y, {y.dim(0), 1});
  Val result = e.matmul(x, y, transposeX && !row, transposeY && !column);
  Shape shape = result.shape();
  if (result && column)
    shape.pop_back();
  if (result && row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return e.cast(e.reshape(result, shape), dtype);
}

static void matMul(Node &node) {
  Val a = node.in(0), b = node.in(1);
  node.out(product(node.e, a, b));
}

/// alpha * A B + beta * C, with A and B transposed on demand.
static void gemm(Node &node) {
  Emitter &e = node.e;
  Val a = node.in(0), b = node.in(1);
  double alpha = node.attrNumber("alpha", 1), beta = node.attrNumber("beta", 1);
  DType dtype = a.dtype();
  DType wide = dtype == DType::FP16 ? DType::FP16 : DType::FP32;
  bool transA = node.attr("transA", 0) != 0;
  bool transB = node.attr("transB", 0) != 0;
  Val wideA = e.cast(a, wide), wideB = e.cast(b, wide);
  Val result = e.matmul(wideA, wideB, transA, transB);
  if (alpha != 1)
    result = e.mul(result, alpha);
  if (node.has(2)) {
    Val c = e.cast(node.in(2), wide);
    result = e.add(result, beta == 1 ? c : e.mul(c, beta));
  }
  node.out(e.cast(result, dtype));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow productTable[] = {
    {"Gemm", gemm},
    {"MatMul", matMul},
};

llvm::ArrayRef<OpRow> onnx::productRows() { return productTable; }
