//===- Accelerate.h - what anec uses of Accelerate ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declarations after developer.apple.com/documentation/accelerate/NAME, where
/// NAME is in the comment of each. ACCELERATE_NEW_LAPACK chooses the interfaces
/// of LAPACK 3.9, whose symbols end in `$NEWLAPACK`, as
/// developer.apple.com/documentation/accelerate/blas-library says.
///
//===----------------------------------------------------------------------===//

#pragma once
#include <os/availability.h>
#ifndef ACCELERATE_NEW_LAPACK
#error anec uses the interfaces of LAPACK 3.9
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 }; // cblas_order
enum CBLAS_TRANSPOSE {
  CblasNoTrans = 111,
  CblasTrans = 112,
  CblasConjTrans = 113,
}; // cblas_transpose

// cblas_sgemm(_:_:_:_:_:_:_:_:_:_:_:_:_:_:)
void cblas_sgemm(const enum CBLAS_ORDER order,
                 const enum CBLAS_TRANSPOSE transA,
                 const enum CBLAS_TRANSPOSE transB, const int m, const int n,
                 const int k, const float alpha, const float *a, const int lda,
                 const float *b, const int ldb, const float beta, float *c,
                 const int ldc) __asm("_cblas_sgemm$NEWLAPACK")
    API_AVAILABLE(macos(13.3));

// blas_threading
typedef enum BLAS_THREADING {
  BLAS_THREADING_MULTI_THREADED,
  BLAS_THREADING_SINGLE_THREADED,
} BLAS_THREADING API_AVAILABLE(macos(15.0));
// blassetthreading(_:): of the calling thread; 0 when it holds
int BLASSetThreading(const BLAS_THREADING threading) API_AVAILABLE(macos(15.0));
// blasgetthreading()
BLAS_THREADING BLASGetThreading(void) API_AVAILABLE(macos(15.0));

#ifdef __cplusplus
}
#endif
