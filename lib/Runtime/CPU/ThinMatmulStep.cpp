//===- ThinMatmulStep.cpp - thin products of activations ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// matmul where one operand is large and the other has a few rows or columns,
/// as in attention of a few queries over a long cache: the large one is read
/// once, where it is, and all products of a batch are one job.
///
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "Products/Cutting.h"
#include "Products/StoredMatrix.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

namespace {

/// The rows or columns of the smaller operand.
constexpr size_t mostThin = 8;

struct ThinProducts {
  GemmShape shape;
  std::vector<GemmOperands> operands;
  Rounding rounding;
  /// Elements of the results along the large operand, of each product and of
  /// each task.
  size_t length = 0, perTask = 0;

  size_t tasksOfProduct() const { return divideUp(length, perTask); }
  template <typename Part>
  StepFn inTasks(Executor &pool, Part part) const;
  void round(const GemmOperands &product, size_t begin, size_t count,
             bool alongRows) const;
};

} // namespace

template <typename Part>
StepFn ThinProducts::inTasks(Executor &pool, Part part) const {
  auto run = [self = *this, part, &pool](size_t task, unsigned worker) {
    size_t begin = task % self.tasksOfProduct() * self.perTask;
    size_t end = std::min(self.length, begin + self.perTask);
    part(self, self.operands[task / self.tasksOfProduct()], begin, end, pool,
         worker);
  };
  size_t tasks = operands.size() * tasksOfProduct();
  if (operands.size() * shape.m * shape.n * shape.k <= smallProduct)
    return [=, &pool] {
      unsigned worker = pool.currentWorker();
      for (size_t task = 0; task < tasks; ++task)
        run(task, worker);
    };
  return [=, &pool] { pool.parallelFor(tasks, run); };
}

/// Rounds what a task computed: `count` rows from `begin` on, or columns.
void ThinProducts::round(const GemmOperands &product, size_t begin,
                         size_t count, bool alongRows) const {
  if (rounding == Rounding::None)
    return;
  if (alongRows)
    return roundToHalf(count * shape.n, product.c + begin * shape.n,
                       product.c + begin * shape.n);
  for (size_t row = 0; row < shape.m; ++row) {
    float *c = product.c + row * shape.ldc + begin;
    roundToHalf(count, c, c);
  }
}

//===----------------------------------------------------------------------===//
// Rows of the large operand in sequence: dot products
//===----------------------------------------------------------------------===//

/// Rows [begin, end) of the large operand, which is the left one or,
/// transposed, the right one.
static void multiplyRows(const ThinProducts &products,
                         const GemmOperands &product, bool isLeft, size_t begin,
                         size_t end, Executor &pool, unsigned worker) {
  const GemmShape &shape = products.shape;
  StoredMatrix matrix;
  matrix.rows = products.length;
  matrix.columns = matrix.blockColumns = shape.k;
  matrix.blockRows = products.length;
  matrix.data =
      reinterpret_cast<const uint8_t *>(isLeft ? product.a : product.b);
  matrix.rowBytes = (isLeft ? shape.lda : shape.ldb) * sizeof(float);
  StoredProduct thin;
  thin.n = isLeft ? shape.n : shape.m;
  thin.x = isLeft ? product.b : product.a;
  thin.strideX = isLeft ? shape.ldb : shape.lda;
  thin.out = product.c;
  thin.rowOut = isLeft ? shape.ldc : 1;
  thin.columnOut = isLeft ? 1 : shape.ldc;
  if (shape.k % storedPadding != 0) {
    size_t stride = llvm::alignTo(shape.k, storedPadding);
    float *padded = pool.outerScratch(worker, thin.n * stride);
    for (size_t column = 0; column < thin.n; ++column) {
      float *to = padded + column * stride;
      std::copy_n(thin.x + column * thin.strideX, shape.k, to);
      std::fill_n(to + shape.k, stride - shape.k, 0.0f);
    }
    thin.x = padded;
    thin.strideX = stride;
  }
  storedKernels().multiplyRows(matrix, begin, end - begin, thin);
  products.round(product, begin, end - begin, isLeft);
}

//===----------------------------------------------------------------------===//
// Columns of the right operand: sums of its rows
//===----------------------------------------------------------------------===//

/// Columns [begin, end) of C = op(A) B: rows of B, weighted by rows of op(A).
static void addRows(const ThinProducts &products, const GemmOperands &product,
                    const uint32_t *offsets, const uint32_t *tailOffsets,
                    size_t begin, size_t end, Executor &pool, unsigned worker) {
  const GemmShape &shape = products.shape;
  constexpr size_t lanes = storedPadding;
  size_t whole = (end - begin) / lanes * lanes, rest = end - begin - whole;
  float *weights =
      pool.outerScratch(worker, shape.m * shape.k + lanes * shape.k);
  float *tail = weights + shape.m * shape.k;
  for (size_t row = 0; row < shape.m; ++row)
    for (size_t k = 0; k < shape.k; ++k)
      weights[row * shape.k + k] =
          product.a[at(row, k, shape.lda, shape.transA)];
  const float *b = product.b + begin;
  float *c = product.c + begin;
  SumWeights rows = {shape.m, weights, nullptr};
  weightedSums(whole, {shape.k, offsets, b}, rows, {c, shape.ldc},
               products.rounding);
  if (rest == 0)
    return;
  // The kernel reads whole vectors, so the last one is copied.
  for (size_t k = 0; k < shape.k; ++k) {
    std::copy_n(b + k * shape.ldb + whole, rest, tail + k * lanes);
    std::fill_n(tail + k * lanes + rest, lanes - rest, 0.0f);
  }
  weightedSums(rest, {shape.k, tailOffsets, tail}, rows, {c + whole, shape.ldc},
               products.rounding);
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

StepFn cpu::makeThinMatmul(const Products &products, Rounding rounding,
                           StepContext &ctx) {
  const GemmShape &shape = products.shape;
  if (shape.m == 0 || shape.n == 0 || shape.k == 0)
    return {};
  bool rowsOfLeft =
      shape.n <= mostThin && shape.transA == Transpose::No &&
      (shape.transB == Transpose::Yes || (shape.n == 1 && shape.ldb == 1));
  bool rowsOfRight =
      shape.m <= mostThin && shape.transB == Transpose::Yes &&
      (shape.transA == Transpose::No || (shape.m == 1 && shape.lda == 1));
  // With more rows, the columns of a task would touch too many pages.
  constexpr size_t mostRows = 1024;
  bool columnsOfRight = shape.m <= mostThin && shape.k <= mostRows &&
                        shape.transB == Transpose::No;
  // The larger operand is the one to read in sequence.
  bool isLeft = rowsOfLeft && (shape.m >= shape.n || !rowsOfRight);
  constexpr size_t mostOffset = UINT32_MAX;
  if (!rowsOfLeft && !rowsOfRight &&
      !(columnsOfRight && shape.k * shape.ldb < mostOffset))
    return {};
  ThinProducts thin{shape, products.operands, rounding};
  // Only one column or row: the distance to the next does not matter.
  if (rowsOfLeft && shape.n == 1)
    thin.shape.ldb = shape.k;
  if (rowsOfRight && shape.m == 1)
    thin.shape.lda = shape.k;
  constexpr size_t taskWork = 16384, grain = 64;
  thin.length = isLeft ? shape.m : shape.n;
  size_t each = taskWork / (shape.k * (isLeft ? shape.n : shape.m));
  thin.perTask = std::max(grain, each / grain * grain);
  if (isLeft || rowsOfRight)
    return thin.inTasks(ctx.pool, [isLeft](const ThinProducts &self,
                                           const GemmOperands &product,
                                           size_t begin, size_t end,
                                           Executor &pool, unsigned worker) {
      multiplyRows(self, product, isLeft, begin, end, pool, worker);
    });
  std::vector<uint32_t> offsets, tailOffsets;
  for (size_t k = 0; k < shape.k; ++k) {
    offsets.push_back(uint32_t(k * shape.ldb));
    tailOffsets.push_back(uint32_t(k * storedPadding));
  }
  return thin.inTasks(
      ctx.pool, [offsets, tailOffsets](
                    const ThinProducts &self, const GemmOperands &product,
                    size_t begin, size_t end, Executor &pool, unsigned worker) {
        addRows(self, product, offsets.data(), tailOffsets.data(), begin, end,
                pool, worker);
      });
}
