//===- UnaryKernels.h - Functions of one operand ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// The loops over the vectors of a row, and the kernels of `unary`. A part of
/// VectorKernelsBody.h; see Lanes.h for what may be included.
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_CPU_UNARYKERNELS_H
#define ANEC_RUNTIME_CPU_UNARYKERNELS_H

#include "VectorTrig.h"
#include "lib/Runtime/CPU/VectorKernels.h"

namespace anec::cpu {
namespace {

/// Calls step(i, count) for every vector of a row: with `width` for whole
/// vectors, then with the rest.
template <typename Step>
ANEC_INLINE void forEachVector(size_t n, Step step) {
  size_t i = 0;
  for (; i + width <= n; i += width)
    step(i, width);
  if (i < n)
    step(i, n - i);
}
ANEC_INLINE Floats loadUpTo(size_t count, const float *from) {
  return count == width ? load(from) : FirstLanes(count).load(from);
}
ANEC_INLINE void storeUpTo(size_t count, float *to, Floats x) {
  if (count == width)
    store(to, x);
  else
    FirstLanes(count).store(to, x);
}

//===-- Unary -------------------------------------------------------------===//

template <Unary kind>
ANEC_INLINE Floats apply(Floats x, [[maybe_unused]] Floats p,
                         [[maybe_unused]] Floats q) {
#define UNARY(NAME, CONSTANTS, EXPRESSION)                                     \
  if constexpr (kind == Unary::NAME)                                           \
    return EXPRESSION;
#include "lib/Runtime/CPU/UnaryKernels.def"
}

template <Unary kind, bool half>
void unaryRow(size_t n, const float *x, float *out, float p, float q) {
  Floats first = splat(p), second = splat(q);
  forEachVector(n, [=](size_t i, size_t count) ANEC_INLINE_LAMBDA {
    Floats value = apply<kind>(loadUpTo(count, x + i), first, second);
    storeUpTo(count, out + i, rounded<half>(value));
  });
}

void unaryKernel(Unary kind, size_t n, const float *x, float *out,
                 Rounding rounding, float p, float q) {
  switch (kind) {
#define UNARY(NAME, CONSTANTS, EXPRESSION)                                     \
  case Unary::NAME:                                                            \
    return rounding == Rounding::FP16                                          \
               ? unaryRow<Unary::NAME, true>(n, x, out, p, q)                  \
               : unaryRow<Unary::NAME, false>(n, x, out, p, q);
#include "lib/Runtime/CPU/UnaryKernels.def"
  }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_UNARYKERNELS_H
