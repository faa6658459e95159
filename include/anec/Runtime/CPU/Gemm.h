//===- Gemm.h - Single-precision matrix products ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// C = op(A) op(B) + bias over row-major fp32 matrices, threaded by the
/// backend's own pool. With AVX-512 the products are anec's own kernels, since
/// a BLAS that is older than the processor falls back to half its speed;
/// everywhere else they are the platform's BLAS, one call per slice, with its
/// own threads switched off.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_GEMM_H
#define ANEC_RUNTIME_CPU_GEMM_H

#include "anec/Runtime/CPU/VectorKernels.h"
#include "anec/Support/AlignedArray.h"
#include "anec/Support/Executor.h"
#include "llvm/ADT/ArrayRef.h"
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

/// What happens to the sums before they are stored.
struct GemmEpilogue {
  Rounding rounding = Rounding::None; ///< once, after bias and accumulation
  bool accumulate = false;            ///< C += rather than C =
};

/// A matrix that many products share, such as a weight, laid out once for
/// them. Keeps a reference to the matrix, which must stay as it is; copies it
/// only where the copy is faster to multiply with.
class PackedWeight {
public:
  /// The left operand op(\p weight) [m, k], or the right one [k, n];
  /// \p leading as for lda or ldb of GemmShape.
  static PackedWeight left(size_t m, size_t k, const float *weight,
                           size_t leading, Transpose transpose = Transpose::No);
  static PackedWeight right(size_t k, size_t n, const float *weight,
                            size_t leading,
                            Transpose transpose = Transpose::No);

  /// Bytes held besides the matrix itself.
  size_t packedBytes() const { return packedCount * sizeof(float); }

private:
  friend void gemmLeft(Executor &, const PackedWeight &, const GemmShape &,
                       llvm::ArrayRef<GemmOperands>, const GemmEpilogue &);
  friend void gemmRight(Executor &, const PackedWeight &, const GemmShape &,
                        llvm::ArrayRef<GemmOperands>, const GemmEpilogue &);

  const float *weight = nullptr;
  size_t leading = 0;
  Transpose transpose = Transpose::No;
  AlignedArray packed; ///< rows [m, k] (left), panels (right), or null
  size_t packedCount = 0;
};

/// One product.
void gemm(Executor &pool, const GemmShape &shape, const GemmOperands &operands,
          const GemmEpilogue &epilogue = {});

/// Products of the same shape, such as attention's heads or a convolution's
/// groups; operands that broadcast along the batch repeat their pointer.
void gemmBatch(Executor &pool, const GemmShape &shape,
               llvm::ArrayRef<GemmOperands> batch,
               const GemmEpilogue &epilogue = {});

/// Products with a prepared left or right operand: `a` and `lda`, or `b` and
/// `ldb`, and the transposition of that side are ignored. useInstructionSet may
/// not have been called since the weight was packed.
void gemmLeft(Executor &pool, const PackedWeight &weight,
              const GemmShape &shape, llvm::ArrayRef<GemmOperands> batch,
              const GemmEpilogue &epilogue = {});
void gemmRight(Executor &pool, const PackedWeight &weight,
               const GemmShape &shape, llvm::ArrayRef<GemmOperands> batch,
               const GemmEpilogue &epilogue = {});

} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_GEMM_H
