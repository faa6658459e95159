//===- ProductKernels.cpp - single-precision matrix products --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/ProductKernels.h"
#include "Cutting.h"
#include "llvm/ADT/SmallVector.h"

using namespace anec;
using namespace anec::cpu;

void cpu::finishProduct(const GemmShape &shape, const GemmOperands &operands,
                        Rounding rounding) {
  bool hasBias = operands.rowBias || operands.columnBias;
  if (!hasBias && rounding == Rounding::None)
    return;
  for (size_t i = 0; i < shape.m; ++i) {
    float *row = operands.c + i * shape.ldc;
    Rounding first = operands.columnBias ? Rounding::None : rounding;
    if (operands.rowBias)
      binary(Binary::Add, shape.n, row, 1, operands.rowBias + i, 0, row, first);
    if (operands.columnBias)
      binary(Binary::Add, shape.n, row, 1, operands.columnBias, 1, row,
             rounding);
    if (!hasBias)
      roundToHalf(shape.n, row, row);
  }
}

void cpu::multiplyNothing(const GemmShape &shape, const GemmOperands &operands,
                          const GemmEpilogue &epilogue) {
  for (size_t i = 0; i < shape.m && !epilogue.accumulate; ++i)
    std::fill_n(operands.c + i * shape.ldc, shape.n, 0.0f);
  finishProduct(shape, operands, epilogue.rounding);
}

PackedWeight ProductKernels::packLeft(size_t m, size_t k, const float *weight,
                                      size_t leading,
                                      Transpose transpose) const {
  return {weight, leading, transpose, nullptr, 0};
}

PackedWeight ProductKernels::packRight(size_t k, size_t n, const float *weight,
                                       size_t leading,
                                       Transpose transpose) const {
  return {weight, leading, transpose, nullptr, 0};
}

void ProductKernels::multiplyLeft(Executor &pool, const PackedWeight &weight,
                                  const GemmShape &shape,
                                  llvm::ArrayRef<GemmOperands> batch,
                                  const GemmEpilogue &epilogue) const {
  // A packed copy is [m, k], row-major.
  bool isPacked = weight.packed != nullptr;
  GemmShape whole = shape;
  whole.lda = isPacked ? shape.k : weight.leading;
  whole.transA = isPacked ? Transpose::No : weight.transpose;
  llvm::SmallVector<GemmOperands> operands(batch);
  for (GemmOperands &each : operands)
    each.a = isPacked ? weight.packed.get() : weight.weight;
  multiply(pool, whole, operands, epilogue);
}

void ProductKernels::multiplyRight(Executor &pool, const PackedWeight &weight,
                                   const GemmShape &shape,
                                   llvm::ArrayRef<GemmOperands> batch,
                                   const GemmEpilogue &epilogue) const {
  GemmShape whole = shape;
  whole.ldb = weight.leading;
  whole.transB = weight.transpose;
  llvm::SmallVector<GemmOperands> operands(batch);
  for (GemmOperands &each : operands)
    each.b = weight.weight;
  multiply(pool, whole, operands, epilogue);
}

void ProductKernels::multiplyRowsOf(Executor &pool, RowSource source,
                                    const GemmShape &shape,
                                    llvm::ArrayRef<GemmOperands> batch,
                                    const GemmEpilogue &epilogue) const {
  size_t slice = rowsOfSlice(shape.m, shape.k),
         slices = divideUp(shape.m, slice);
  pool.parallelFor(batch.size() * slices, [&](size_t task, unsigned worker) {
    size_t row = task % slices * slice;
    size_t count = std::min(slice, shape.m - row);
    float *rows = pool.outerScratch(worker, slice * shape.k);
    source({row, count, 0, shape.k, shape.k, rows});
    GemmShape part = shape;
    part.m = count;
    part.lda = shape.k;
    part.transA = Transpose::No;
    GemmOperands operands = batch[task / slices];
    operands.a = rows;
    operands.c += row * shape.ldc;
    if (operands.rowBias)
      operands.rowBias += row;
    multiply(pool, part, operands, epilogue);
  });
}

//===----------------------------------------------------------------------===//
// The choice by shape
//===----------------------------------------------------------------------===//

/// Whether benchmarks/products shows anec's own kernels to be faster than BLAS:
/// from some size on. An outdated BLAS is slower for every shape.
static bool isForOwnKernels(const GemmShape &shape) {
  static const bool always = isBlasOutdated();
  constexpr size_t fewestMultiplyAdds = size_t(1) << 20;
  return always || shape.m * shape.n * shape.k >= fewestMultiplyAdds;
}

namespace {
/// BLAS, and anec's own kernels where those are faster.
class ProductsByShape final : public ProductKernels {
public:
  constexpr explicit ProductsByShape(InstructionSet set) : set(set) {}

  llvm::StringRef name() const override { return "mixed"; }
  void multiply(Executor &pool, const GemmShape &shape,
                llvm::ArrayRef<GemmOperands> batch,
                const GemmEpilogue &epilogue) const override {
    const ProductKernels &kernels =
        isForOwnKernels(shape) ? own() : blasProducts();
    kernels.multiply(pool, shape, batch, epilogue);
  }
  PackedWeight packLeft(size_t m, size_t k, const float *weight, size_t leading,
                        Transpose transpose) const override {
    return own().packLeft(m, k, weight, leading, transpose);
  }
  PackedWeight packRight(size_t k, size_t n, const float *weight,
                         size_t leading, Transpose transpose) const override {
    return own().packRight(k, n, weight, leading, transpose);
  }
  void multiplyRight(Executor &pool, const PackedWeight &weight,
                     const GemmShape &shape, llvm::ArrayRef<GemmOperands> batch,
                     const GemmEpilogue &epilogue) const override {
    if (isForOwnKernels(shape))
      return own().multiplyRight(pool, weight, shape, batch, epilogue);
    ProductKernels::multiplyRight(pool, weight, shape, batch, epilogue);
  }
  void multiplyRowsOf(Executor &pool, RowSource source, const GemmShape &shape,
                      llvm::ArrayRef<GemmOperands> batch,
                      const GemmEpilogue &epilogue) const override {
    const ProductKernels &kernels =
        isForOwnKernels(shape) ? own() : blasProducts();
    kernels.multiplyRowsOf(pool, source, shape, batch, epilogue);
  }

private:
  /// Asked for only where there are some.
  const ProductKernels &own() const { return *ownProducts(set); }

  InstructionSet set;
};
} // namespace

static constinit const ProductsByShape avx2ByShape(InstructionSet::AVX2);
static constinit const ProductsByShape avx512ByShape(InstructionSet::AVX512);
#if !defined(__APPLE__)
static constinit const ProductsByShape neonByShape(InstructionSet::NEON);
#endif

const ProductKernels &cpu::bestProducts() {
  switch (instructionSet()) {
  case InstructionSet::AVX512:
    return avx512ByShape;
  case InstructionSet::AVX2:
    return avx2ByShape;
#if !defined(__APPLE__)
  // Accelerate computes products in units that no instruction here reaches.
  case InstructionSet::NEON:
    return neonByShape;
#endif
  default:
    return blasProducts();
  }
}
