//===- ProductKernels.h - single-precision matrix products ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// C = op(A) op(B) + bias over row-major fp32 matrices, threaded by the
/// backend's own pool. There are two implementations: the platform's BLAS,
/// which every processor has, and anec's own kernels for AVX-512, AVX2 and
/// NEON, which stay only as long as benchmarks/products shows them to be faster
/// (docs/use/numerics.md has the figures).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_PRODUCTKERNELS_H
#define ANEC_LIB_RUNTIME_CPU_PRODUCTKERNELS_H

#include "anec/Support/AlignedArray.h"
#include "anec/Support/Executor.h"
#include "lib/Runtime/CPU/VectorKernels.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstddef>

namespace anec::cpu {

enum class Transpose : bool { No, Yes };

/// op(A) is [m, k], op(B) is [k, n], C is [m, n]. A leading dimension is the
/// distance between stored rows: transposed, A is stored as [k, m] and B as
/// [n, k]. Any size may be 0; the product over k = 0 is zero.
struct GemmShape {
  size_t m = 0, n = 0, k = 0;
  size_t lda = 0, ldb = 0, ldc = 0;
  Transpose transA = Transpose::No, transB = Transpose::No;
};

/// The arrays of one product. C overlaps no other array.
struct GemmOperands {
  const float *a = nullptr;
  const float *b = nullptr;
  float *c = nullptr;
  const float *rowBias = nullptr;    ///< [m], added to every column, or null
  const float *columnBias = nullptr; ///< [n], added to every row, or null
};

/// Operations on the sums before they are stored.
struct GemmEpilogue {
  Rounding rounding = Rounding::None; ///< once, after bias and accumulation
  bool accumulate = false;            ///< C += rather than C =
};

/// A matrix that many products share, such as a weight, laid out once for
/// them. Refers to the matrix, which must stay as it is, and copies it only
/// where the copy is faster to multiply with.
struct PackedWeight {
  const float *weight = nullptr;
  size_t leading = 0;
  Transpose transpose = Transpose::No;
  AlignedArray packed; ///< in the layout of the kernels, or null
  size_t packedCount = 0;

  /// Bytes held besides the matrix itself.
  size_t packedBytes() const { return packedCount * sizeof(float); }
};

/// Rows [row, row + rows) and columns [column, column + columns) of a matrix,
/// to be written to `elements`, each row `stride` after the one before.
struct RowBlock {
  size_t row, rows, column, columns, stride;
  float *elements;
};
/// Writes the elements of a block. May be called by several threads at a time.
using RowSource = llvm::function_ref<void(const RowBlock &block)>;

/// An implementation of products. Objects live as long as the process, and
/// every function can run on several threads at a time.
class ProductKernels {
public:
  /// `blas`, `avx2`, `avx512`, `neon` or `mixed`.
  virtual llvm::StringRef name() const = 0;

  /// Products of the same shape, such as attention's heads or a convolution's
  /// groups; operands that broadcast along the batch repeat their pointer.
  virtual void multiply(Executor &pool, const GemmShape &shape,
                        llvm::ArrayRef<GemmOperands> batch,
                        const GemmEpilogue &epilogue) const = 0;

  /// Prepares op(\p weight) as the left operand [m, k], or as the right one [k,
  /// n]; \p leading as for lda or ldb of GemmShape. Only the object that
  /// prepared a weight can multiply with it.
  virtual PackedWeight packLeft(size_t m, size_t k, const float *weight,
                                size_t leading, Transpose transpose) const;
  virtual PackedWeight packRight(size_t k, size_t n, const float *weight,
                                 size_t leading, Transpose transpose) const;

  /// Products with a prepared left or right operand: `a` and `lda`, or `b` and
  /// `ldb`, and the transposition of that side are ignored.
  void multiplyLeft(Executor &pool, const PackedWeight &weight,
                    const GemmShape &shape, llvm::ArrayRef<GemmOperands> batch,
                    const GemmEpilogue &epilogue) const;
  virtual void multiplyRight(Executor &pool, const PackedWeight &weight,
                             const GemmShape &shape,
                             llvm::ArrayRef<GemmOperands> batch,
                             const GemmEpilogue &epilogue) const;

  /// Products whose left operand [m, k] is not in memory: a few rows at a time
  /// are asked for, each once for the whole batch where that is possible. `a`,
  /// `lda` and the transposition of that side are ignored.
  virtual void multiplyRowsOf(Executor &pool, RowSource source,
                              const GemmShape &shape,
                              llvm::ArrayRef<GemmOperands> batch,
                              const GemmEpilogue &epilogue) const;

protected:
  ~ProductKernels() = default;
};

/// The platform's BLAS: one call per slice, with its own threads switched off.
const ProductKernels &blasProducts();
/// Whether BLAS says that it uses kernels for an older processor than one with
/// AVX2, which OpenBLAS does on processors that it does not know, or there is
/// no BLAS.
bool isBlasOutdated();
/// anec's own kernels for an instruction set; null when there are none, or the
/// processor does not have it.
const ProductKernels *ownProducts(InstructionSet set);
/// The fastest with the instruction set in use: BLAS or, where anec's own
/// kernels are available, one of both by the shape of the product.
const ProductKernels &bestProducts();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_PRODUCTKERNELS_H
