//===- BlasProducts.cpp - products by the platform's BLAS -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Cuts products into slices of rows or columns, which the workers share, and
/// calls BLAS for each. Accelerate gets products whole: it computes them with a
/// unit that the cores of a cluster share, and has threads of its own.
///
//===----------------------------------------------------------------------===//

#include "Cutting.h"
#include "lib/Runtime/CPU/BlasName.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <mutex>
#if defined(__APPLE__)
#include <Accelerate/Accelerate.h>
#else
#include "Blas.h"
#endif

using namespace anec;
using namespace anec::cpu;

namespace {
#if defined(__APPLE__)
/// Where macOS can be told (since macOS 15), lets Accelerate take threads of
/// its own only where the executor could. What is set is the calling thread's.
class BlasThreads {
public:
  explicit BlasThreads(const Executor &pool) {
    if (__builtin_available(macOS 15.0, *)) {
      before = int(BLASGetThreading());
      bool several = pool.size() > 1 && !pool.isInTask();
      isSet = BLASSetThreading(several ? BLAS_THREADING_MULTI_THREADED
                                       : BLAS_THREADING_SINGLE_THREADED) == 0;
    }
  }
  ~BlasThreads() {
    if (__builtin_available(macOS 15.0, *))
      if (isSet)
        BLASSetThreading(BLAS_THREADING(before));
  }
  BlasThreads(const BlasThreads &) = delete;
  BlasThreads &operator=(const BlasThreads &) = delete;

private:
  int before = 0;
  bool isSet = false;
};
#else
/// Limits OpenBLAS to one thread while products are cut here. Its thread count
/// belongs to the process, so it is restored when no product runs any more;
/// because products can run at the same time, running products are counted per
/// process. This count is the library's only state that no object owns.
class BlasThreads {
public:
  explicit BlasThreads(const Executor &) {
    if (!hasThreads())
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (products++ > 0)
      return;
    before = blas().threads();
    if (before != 1)
      blas().setThreads(1);
  }
  ~BlasThreads() {
    if (!hasThreads())
      return;
    std::lock_guard<std::mutex> lock(mutex);
    if (--products == 0 && before != 1)
      blas().setThreads(before);
  }
  BlasThreads(const BlasThreads &) = delete;
  BlasThreads &operator=(const BlasThreads &) = delete;

private:
  static bool hasThreads() { return blas().threads && blas().setThreads; }

  static constinit inline std::mutex mutex;
  static constinit inline unsigned products = 0;
  static constinit inline int before = 1;
};
#endif
} // namespace

#if !defined(__APPLE__)
/// What BLAS computes, where there is none.
static void multiplyPlain(const GemmShape &shape, const GemmOperands &operands,
                          bool accumulate) {
  for (size_t i = 0; i < shape.m; ++i) {
    float *row = operands.c + i * shape.ldc;
    if (!accumulate)
      std::fill_n(row, shape.n, 0.0f);
    for (size_t l = 0; l < shape.k; ++l) {
      float factor = operands.a[at(i, l, shape.lda, shape.transA)];
      for (size_t j = 0; j < shape.n; ++j)
        row[j] += factor * operands.b[at(l, j, shape.ldb, shape.transB)];
    }
  }
}
#endif

static void multiplyBlas(const GemmShape &shape, const GemmOperands &operands,
                         const GemmEpilogue &epilogue) {
#if !defined(__APPLE__)
  auto *cblas_sgemm = blas().sgemm;
  if (!cblas_sgemm) {
    multiplyPlain(shape, operands, epilogue.accumulate);
    return finishProduct(shape, operands, epilogue.rounding);
  }
#endif
  auto flag = [](Transpose trans) {
    return trans == Transpose::Yes ? CblasTrans : CblasNoTrans;
  };
  float beta = epilogue.accumulate ? 1.0f : 0.0f;
  if (shape.k == 0)
    return multiplyNothing(shape, operands, epilogue);
  cblas_sgemm(CblasRowMajor, flag(shape.transA), flag(shape.transB),
              int(shape.m), int(shape.n), int(shape.k), 1.0f, operands.a,
              int(shape.lda), operands.b, int(shape.ldb), beta, operands.c,
              int(shape.ldc));
  finishProduct(shape, operands, epilogue.rounding);
}

#if !defined(__APPLE__)
namespace {
/// How a product is cut along its longer side. Only the shape and the number of
/// products decide, because BLAS can give other bits for another cut, and
/// results must not depend on the number of threads.
struct Slices {
  bool byRows;
  size_t length, slice, count;

  Slices(const GemmShape &shape, size_t products) : byRows(shape.m >= shape.n) {
    length = slice = byRows ? shape.m : shape.n;
    constexpr size_t manyProducts = 8; // keep all threads busy by themselves
    if (!isSmall(shape) && products < manyProducts) {
      // Each slice packs all of the other operand.
      constexpr size_t shortest = 64;
      constexpr size_t grain = 16; // a multiple of BLAS's own tiles
      size_t most = length < 2048 ? 8 : 16;
      slice = divideUp(divideUp(length, most), grain) * grain;
      slice = std::max(slice, shortest);
    }
    count = divideUp(length, slice);
  }
};
} // namespace

static void multiplySlice(const GemmShape &shape, const GemmOperands &operands,
                          const GemmEpilogue &epilogue, const Slices &slices,
                          size_t number) {
  bool byRows = slices.byRows;
  size_t begin = number * slices.slice;
  size_t count = std::min(slices.slice, slices.length - begin);
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
}
#endif

namespace {
class BlasProducts final : public ProductKernels {
public:
  llvm::StringRef name() const override { return "blas"; }
  void multiply(Executor &pool, const GemmShape &shape,
                llvm::ArrayRef<GemmOperands> batch,
                const GemmEpilogue &epilogue) const override {
    if (shape.m == 0 || shape.n == 0)
      return;
    BlasThreads threads(pool);
#if defined(__APPLE__)
    for (const GemmOperands &operands : batch)
      multiplyBlas(shape, operands, epilogue);
#else
    Slices slices(shape, batch.size());
    auto run = [&](size_t task, unsigned) {
      multiplySlice(shape, batch[task / slices.count], epilogue, slices,
                    task % slices.count);
    };
    size_t tasks = batch.size() * slices.count;
    if (batch.size() * shape.m * shape.n * shape.k > smallProduct)
      return pool.parallelFor(tasks, run);
    for (size_t task = 0; task < tasks; ++task)
      run(task, 0);
#endif
  }
};
} // namespace

static constinit const BlasProducts products;

const ProductKernels &cpu::blasProducts() { return products; }

std::string cpu::nameOfBlas() {
#if defined(__APPLE__)
  return "Accelerate";
#else
  return blas().sgemm ? blasLibrary()
                      : "none (" + blasLibrary() + " cannot be loaded)";
#endif
}

bool cpu::isBlasOutdated() {
#if defined(__x86_64__) && !defined(__APPLE__)
  if (!blas().sgemm)
    return true;
  if (!blas().coreName)
    return false;
  return !llvm::StringSwitch<bool>(blas().coreName())
              .Cases("Haswell", "Zen", "Excavator", true)
              .Cases("SkylakeX", "Cooperlake", "SapphireRapids", true)
              .Default(false);
#else
  return false;
#endif
}
