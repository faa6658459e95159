//===- StoredSteps.cpp - ops that read weights as stored ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A product of a few columns streams the weight once, each thread some of its
/// rows. One of many columns unpacks slices of rows, which fit in the cache of
/// a core, for the kernels of large products.
///
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "Products/Cutting.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

namespace {

/// Products with one weight. `shape` is that of `Products`, whose operand on
/// the side of the weight has no memory.
struct StoredProducts {
  std::shared_ptr<const StoredWeight> weight;
  GemmShape shape;
  std::vector<GemmOperands> operands;
  bool isLeft =
      false; ///< the weight; otherwise it is the right one, transposed
  Rounding rounding = Rounding::None;
  /// Whether a factor of few columns is converted to fixed point.
  bool isFixed = false;

  const StoredMatrix &matrix() const { return weight->matrix; }
  /// Columns of what the weight is multiplied with.
  size_t columns() const { return isLeft ? shape.n : shape.m; }

  void multiplyFew(Executor &pool, const GemmOperands &product) const;
  void multiplyManyColumns(Executor &pool, const ProductKernels &kernels) const;
  void multiplyManyRows(Executor &pool, const ProductKernels &kernels) const;

private:
  const float *factor(Executor &pool, const GemmOperands &product,
                      size_t &stride) const;
  bool toFixed(Executor &pool, const StoredProduct &product,
               FixedFactor &fixed) const;
  void finish(const GemmOperands &product, size_t begin, size_t end) const;
};

} // namespace

//===----------------------------------------------------------------------===//
// Few columns
//===----------------------------------------------------------------------===//

/// Each column with its elements in sequence, and zeros up to whole vectors: as
/// it is, or copied.
const float *StoredProducts::factor(Executor &pool, const GemmOperands &product,
                                    size_t &stride) const {
  size_t k = shape.k, n = columns();
  const float *x = isLeft ? product.b : product.a;
  size_t leading = isLeft ? shape.ldb : shape.lda;
  bool inSequence =
      isLeft ? shape.transB == Transpose::Yes : shape.transA == Transpose::No;
  if (n == 1 && !inSequence && leading == 1)
    inSequence = true;
  if (inSequence && k % storedPadding == 0) {
    stride = leading == 1 ? k : leading;
    return x;
  }
  stride = llvm::alignTo(k, storedPadding);
  float *copy = pool.scratch(pool.currentWorker(), n * stride);
  for (size_t column = 0; column < n; ++column)
    std::fill_n(copy + column * stride + k, stride - k, 0.0f);
  if (inSequence) {
    for (size_t column = 0; column < n; ++column)
      std::copy_n(x + column * leading, k, copy + column * stride);
    return copy;
  }
  // A cache line of each column at a time.
  constexpr size_t line = 16;
  for (size_t first = 0; first < k; first += line)
    for (size_t column = 0; column < n; ++column)
      for (size_t i = first; i < std::min(k, first + line); ++i)
        copy[column * stride + i] = x[i * leading + column];
  return copy;
}

/// Converts a factor to fixed point, where all its elements are finite.
bool StoredProducts::toFixed(Executor &pool, const StoredProduct &product,
                             FixedFactor &fixed) const {
  constexpr size_t most = 16; // groups of the widest vector
  fixed.groups = llvm::alignTo(matrix().columns / fixedGroup, most);
  size_t groups = fixed.groups * product.n;
  constexpr size_t valueFloats = fixedGroup * sizeof(int16_t) / sizeof(float);
  fixed.scales =
      pool.outerScratch(pool.currentWorker(), groups * (2 + valueFloats));
  fixed.sums = fixed.scales + groups;
  fixed.values = reinterpret_cast<int16_t *>(fixed.sums + groups);
  return storedKernels().toFixed(matrix(), product, fixed);
}

/// Adds the bias to results [begin, end), and rounds them.
void StoredProducts::finish(const GemmOperands &product, size_t begin,
                            size_t end) const {
  GemmShape part = shape;
  GemmOperands operands = product;
  if (!isLeft || shape.n == 1) {
    // One row for each column, or the only column as a row.
    part.m = isLeft ? 1 : shape.m;
    part.n = end - begin;
    operands.c += begin;
    const float *bias = isLeft ? product.rowBias : product.columnBias;
    operands.columnBias = bias ? bias + begin : nullptr;
    operands.rowBias = nullptr;
    return finishProduct(part, operands, rounding);
  }
  operands.c += begin * shape.ldc;
  if (product.rowBias)
    for (size_t row = begin; row < end; ++row)
      for (size_t column = 0; column < shape.n; ++column)
        product.c[row * shape.ldc + column] += product.rowBias[row];
  operands.rowBias = nullptr;
  part.m = 1;
  part.n = (end - begin) * shape.n;
  finishProduct(part, operands, rounding);
}

void StoredProducts::multiplyFew(Executor &pool,
                                 const GemmOperands &product) const {
  StoredProduct stored;
  stored.n = columns();
  stored.x = factor(pool, product, stored.strideX);
  stored.out = product.c;
  stored.rowOut = isLeft ? shape.ldc : 1;
  stored.columnOut = isLeft ? 1 : shape.ldc;
  const StoredKernels &kernels = storedKernels();
  FixedFactor fixed;
  bool useFixed = isFixed && toFixed(pool, stored, fixed);
  auto multiply = [&](size_t begin, size_t end, unsigned) {
    if (useFixed)
      kernels.multiplyRowsFixed(matrix(), begin, end - begin, fixed, stored);
    else
      kernels.multiplyRows(matrix(), begin, end - begin, stored);
    finish(product, begin, end);
  };
  constexpr size_t grain = 16;
  if (isSmall(shape))
    return multiply(0, matrix().rows, 0);
  pool.parallelRanges(matrix().rows, grain, multiply);
}

//===----------------------------------------------------------------------===//
// Many columns
//===----------------------------------------------------------------------===//

/// Unpacked a few rows at a time, the weight is a left operand.
void StoredProducts::multiplyManyColumns(Executor &pool,
                                         const ProductKernels &kernels) const {
  auto unpack = [&](const RowBlock &block) {
    for (size_t i = 0; i < block.rows; ++i)
      storedKernels().unpack(matrix(), block.row + i, block.column,
                             block.columns, block.elements + i * block.stride);
  };
  kernels.multiplyRowsOf(pool, unpack, shape, operands, {rounding});
}

/// Rows of the weight are columns of the right operand.
void StoredProducts::multiplyManyRows(Executor &pool,
                                      const ProductKernels &kernels) const {
  size_t slice = rowsOfSlice(matrix().rows, shape.k);
  size_t slices = divideUp(matrix().rows, slice);
  pool.parallelFor(operands.size() * slices, [&](size_t task, unsigned worker) {
    size_t row = task % slices * slice;
    size_t count = std::min(slice, matrix().rows - row);
    float *rows = pool.outerScratch(worker, slice * shape.k);
    for (size_t i = 0; i < count; ++i)
      storedKernels().unpack(matrix(), row + i, 0, shape.k, rows + i * shape.k);
    GemmShape part = shape;
    part.n = count;
    part.ldb = shape.k;
    part.transB = Transpose::Yes;
    GemmOperands product = operands[task / slices];
    product.b = rows;
    product.c += row;
    if (product.columnBias)
      product.columnBias += row;
    kernels.multiply(pool, part, product, {rounding});
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static StepFn makeProduct(const Op &op,
                          std::shared_ptr<const StoredWeight> weight,
                          StepContext &ctx) {
  std::shared_ptr<Products> products = op.is(ops::Conv) ? convProducts(op, ctx)
                                       : op.is(ops::Linear)
                                           ? linearProducts(op, ctx)
                                           : matmulProducts(op, ctx);
  StoredProducts stored;
  stored.isLeft = op.is(ops::Conv) || (op.is(ops::Matmul) && weight->slot == 0);
  stored.weight = std::move(weight);
  stored.shape = products->shape;
  stored.operands = products->operands;
  stored.rounding = ctx.rounding(op.result());
  // What fixed point rounds is less than what fp16 has rounded of the largest
  // element of a group.
  const Value *factor = op.operand(stored.weight->slot == 0 ? 1u : 0u);
  stored.isFixed = stored.rounding == Rounding::FP16 &&
                   factor->type.dtype == DType::FP16 &&
                   hasFixedProducts(stored.matrix());
  // A right weight is the same for the whole batch, whose rows are adjacent.
  if (!stored.isLeft) {
    stored.shape.m *= stored.operands.size();
    stored.operands.resize(1);
  }
  if (stored.columns() > fewColumns)
    return [stored, &pool = ctx.pool, &kernels = ctx.products] {
      if (stored.isLeft)
        return stored.multiplyManyColumns(pool, kernels);
      stored.multiplyManyRows(pool, kernels);
    };
  return [stored, &pool = ctx.pool] {
    for (const GemmOperands &product : stored.operands)
      stored.multiplyFew(pool, product);
  };
}

static StepFn makeRows(const Op &op, std::shared_ptr<const StoredWeight> table,
                       StepContext &ctx) {
  const Value *indices = op.operand(param::indices);
  const int32_t *numbers = ctx.storage.ints(indices);
  size_t count = size_t(indices->type.numElements());
  float *out = ctx.storage.floats(op.result());
  Rounding rounding = ctx.rounding(op.result());
  return [=, &pool = ctx.pool] {
    const StoredMatrix &matrix = table->matrix;
    size_t width = matrix.columns;
    size_t grain = std::max<size_t>(1, 16384 / width);
    pool.parallelRanges(count, grain, [&](size_t begin, size_t end, unsigned) {
      for (size_t i = begin; i < end; ++i) {
        int64_t extent = int64_t(matrix.rows), row = numbers[i];
        row += row < 0 ? extent : 0;
        // An index out of range reads the nearest row, as in the op's
        // reference.
        row = std::clamp<int64_t>(row, 0, extent - 1);
        float *to = out + i * width;
        storedKernels().unpack(matrix, size_t(row), 0, width, to);
        if (rounding == Rounding::FP16)
          roundToHalf(width, to, to);
      }
    });
  };
}

StepFn cpu::makeWithStoredWeight(const Op &op,
                                 std::shared_ptr<const StoredWeight> weight,
                                 StepContext &ctx) {
  return op.is(ops::Gather) ? makeRows(op, std::move(weight), ctx)
                            : makeProduct(op, std::move(weight), ctx);
}
