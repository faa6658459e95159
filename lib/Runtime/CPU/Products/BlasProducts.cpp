//===- BlasProducts.cpp - products by the platform's BLAS -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Cuts products into slices of rows or columns, one for each worker of the
/// pool, and calls BLAS for each.
///
//===----------------------------------------------------------------------===//

#include "Cutting.h"
#include <algorithm>
#include <mutex>
#if defined(__APPLE__)
#include <Accelerate/Accelerate.h>
#else
#include <cblas.h>
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);
extern "C" __attribute__((weak)) int openblas_get_num_threads();
#endif

using namespace anec;
using namespace anec::cpu;

namespace {
/// Limits OpenBLAS to one thread while products are cut here. Its thread count
/// belongs to the process, so it is restored when no product runs any more;
/// because products can run at the same time, running products are counted per
/// process. This count is the library's only state that no object owns.
class OneBlasThread {
public:
  OneBlasThread() {
#if !defined(__APPLE__)
    if (!openblas_set_num_threads || !openblas_get_num_threads)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (products++ > 0)
      return;
    before = openblas_get_num_threads();
    if (before != 1)
      openblas_set_num_threads(1);
#endif
  }
  ~OneBlasThread() {
#if !defined(__APPLE__)
    if (!openblas_set_num_threads || !openblas_get_num_threads)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (--products == 0 && before != 1)
      openblas_set_num_threads(before);
#endif
  }
  OneBlasThread(const OneBlasThread &) = delete;
  OneBlasThread &operator=(const OneBlasThread &) = delete;

private:
#if !defined(__APPLE__)
  static constinit inline std::mutex mutex;
  static constinit inline unsigned products = 0;
  static constinit inline int before = 1;
#endif
};
} // namespace

static void multiplyBlas(const GemmShape &shape, const GemmOperands &operands,
                         const GemmEpilogue &epilogue) {
  auto flag = [](Transpose trans) {
    return trans == Transpose::Yes ? CblasTrans : CblasNoTrans;
  };
  float beta = epilogue.accumulate ? 1.0f : 0.0f;
  if (shape.k == 0 && !epilogue.accumulate)
    for (size_t i = 0; i < shape.m; ++i)
      std::fill_n(operands.c + i * shape.ldc, shape.n, 0.0f);
  else if (shape.k != 0)
    cblas_sgemm(CblasRowMajor, flag(shape.transA), flag(shape.transB),
                int(shape.m), int(shape.n), int(shape.k), 1.0f, operands.a,
                int(shape.lda), operands.b, int(shape.ldb), beta, operands.c,
                int(shape.ldc));
  finishProduct(shape, operands, epilogue.rounding);
}

/// Cuts one product along its longer side, a slice per worker.
static void multiplyBlasInSlices(Executor &pool, const GemmShape &shape,
                                 const GemmOperands &operands,
                                 const GemmEpilogue &epilogue) {
  if (isSmall(shape) || pool.size() == 1)
    return multiplyBlas(shape, operands, epilogue);
  bool byRows = shape.m >= shape.n;
  size_t length = byRows ? shape.m : shape.n;
  constexpr size_t grain = 16; // a multiple of BLAS's own tiles
  size_t slice = divideUp(divideUp(length, pool.size()), grain) * grain;
  pool.parallelFor(divideUp(length, slice), [&](size_t task, unsigned) {
    size_t begin = task * slice;
    size_t count = std::min(slice, length - begin);
    size_t row = byRows ? begin : 0, column = byRows ? 0 : begin;
    GemmShape part = shape;
    (byRows ? part.m : part.n) = count;
    GemmOperands partOperands = {
        operands.a + at(row, 0, shape.lda, shape.transA),
        operands.b + at(0, column, shape.ldb, shape.transB),
        operands.c + row * shape.ldc + column,
        operands.rowBias ? operands.rowBias + row : nullptr,
        operands.columnBias ? operands.columnBias + column : nullptr};
    multiplyBlas(part, partOperands, epilogue);
  });
}

namespace {
class BlasProducts final : public ProductKernels {
public:
  llvm::StringRef name() const override { return "blas"; }
  void multiply(Executor &pool, const GemmShape &shape,
                llvm::ArrayRef<GemmOperands> batch,
                const GemmEpilogue &epilogue) const override {
    if (shape.m == 0 || shape.n == 0)
      return;
    OneBlasThread oneThread;
    if (isBusyBatch(pool, shape, batch.size()))
      return pool.parallelFor(batch.size(), [&](size_t task, unsigned) {
        multiplyBlas(shape, batch[task], epilogue);
      });
    for (const GemmOperands &operands : batch)
      multiplyBlasInSlices(pool, shape, operands, epilogue);
  }
};
} // namespace

static constinit const BlasProducts products;

const ProductKernels &cpu::blasProducts() { return products; }
