//===- KernelTable.h - The kernels of one instruction set -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The entry points that VectorKernelsBody.h defines once per instruction set;
/// the functions of VectorKernels.h call through the table in use.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_KERNELTABLE_H
#define ANEC_RUNTIME_CPU_KERNELTABLE_H

#include "lib/Runtime/CPU/VectorKernels.h"

namespace anec::cpu {

/// Each member is what the function of VectorKernels.h, or Moments.h, of the
/// same name calls or returns.
struct KernelTable {
  void (*roundToHalf)(size_t, const float *, float *);
  void (*binary)(Binary, size_t, const float *, size_t, const float *, size_t,
                 float *, Rounding);
  void (*unary)(Unary, size_t, const float *, float *, Rounding, float, float);
  void (*siluMul)(size_t, const float *, const float *, float *, Rounding,
                  bool);
  void (*softmaxRows)(size_t, size_t, const float *, float *, Rounding);
  void (*scaledSoftmaxRow)(size_t, const float *, float, const float *, float *,
                           Rounding);
  void (*softmaxColumns)(const Columns &, float *, Rounding);
  void (*reduceRows)(Reduce, size_t, size_t, const float *, float *, Rounding);
  void (*reduceColumns)(Reduce, const Columns &, float *, Rounding);
  void (*moments)(size_t, const float *, double *, double *);
  void (*normalizeRow)(size_t, const float *, const Scaling &, const Affine &,
                       float *, Rounding);
  void (*normalizeElements)(size_t, const float *, const Scaling &,
                            const Affines &, float *, Rounding);
  void (*normalizeColumns)(const Columns &, double, const Affines &, float *,
                           Rounding);
  size_t (*firstBefore)(size_t, const float *, float, bool);
  void (*extremePlaces)(bool, const Columns &, int32_t *);
  void (*sumsSoFar)(const Columns &, bool, bool, float *, Rounding);
  void (*transpose)(size_t, size_t, const float *, size_t, float *, size_t);
  void (*weightedSums)(size_t, const SumTerms &, const SumWeights &,
                       const SumPlaces &, Rounding);
  void (*tiledSums)(size_t, const SumTerms &, const SumWeights &,
                    const SumPlaces &, Rounding);
  size_t panelOutputs, vectorOutputs;
  void (*panelSums)(const SumPositions &, const SumTerms &, const SumWeights &,
                    float *, const SumPlaces &, Rounding);
  void (*addFixedProducts)(size_t, double, float, double, const float *,
                           const float *, double *, double *, double *);
};

extern const KernelTable baselineKernels;
#if defined(__x86_64__)
extern const KernelTable avx2Kernels;
extern const KernelTable avx512Kernels;
#endif

} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_KERNELTABLE_H
