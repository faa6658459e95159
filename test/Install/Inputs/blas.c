//===- blas.c - a BLAS that says when it is called ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The product of scipy-openblas32, in row-major order, under its name there.
///
//===----------------------------------------------------------------------===//

#include <stdio.h>

static float at(const float *matrix, int row, int column, int stride,
                int isTransposed) {
  return isTransposed ? matrix[column * stride + row]
                      : matrix[row * stride + column];
}

void scipy_cblas_sgemm(int order, int transA, int transB, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc) {
  const int transposed = 112; // CblasTrans
  fprintf(stderr, "scipy_cblas_sgemm in order %d\n", order);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += at(a, i, l, lda, transA == transposed) *
               at(b, l, j, ldb, transB == transposed);
      c[i * ldc + j] = alpha * sum + (beta ? beta * c[i * ldc + j] : 0);
    }
}
