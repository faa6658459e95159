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
ANEC_INLINE Floats apply(Floats x, Floats p, Floats q) {
  if constexpr (kind == Unary::Abs)
    return abs(x);
  else if constexpr (kind == Unary::Affine)
    return p * x + q;
  else if constexpr (kind == Unary::Ceil)
    return ceil(x);
  else if constexpr (kind == Unary::Clip)
    return min(max(x, p), q);
  else if constexpr (kind == Unary::Copy)
    return x;
  else if constexpr (kind == Unary::Erf)
    return erf(x);
  else if constexpr (kind == Unary::Exp)
    return exp(x);
  else if constexpr (kind == Unary::Exp2)
    return exp2(x);
  else if constexpr (kind == Unary::Floor)
    return floor(x);
  else if constexpr (kind == Unary::GeluErf)
    return 0.5f * x * (1.0f + erf(x * 0.707106781186547524f));
  else if constexpr (kind == Unary::GeluSigmoid)
    return x * sigmoid(1.702f * x);
  else if constexpr (kind == Unary::GeluTanh) {
    // (1 + tanh(u)) / 2 == sigmoid(2u), without the cancellation.
    Floats inner = x + 0.044715f * x * x * x;
    return x * sigmoid(1.59576912160573071f * inner);
  } else if constexpr (kind == Unary::Inverse)
    return 1.0f / (x + p);
  else if constexpr (kind == Unary::LeakyRelu)
    return x > 0.0f ? x : p * x;
  else if constexpr (kind == Unary::Log)
    return log(x + p);
  else if constexpr (kind == Unary::Neg)
    return -x;
  else if constexpr (kind == Unary::Relu)
    return max(x, Floats{});
  else if constexpr (kind == Unary::Round)
    return roundEven(x);
  else if constexpr (kind == Unary::Rsqrt)
    return 1.0f / squareRoot(x + p);
  else if constexpr (kind == Unary::Sigmoid)
    return sigmoid(x);
  else if constexpr (kind == Unary::Sign) {
    Floats signs = copySign(splat(1.0f), x);
    return ((x < 0.0f) | (x > 0.0f)) ? signs : x;
  } else if constexpr (kind == Unary::Silu)
    return x * sigmoid(x);
  else if constexpr (kind == Unary::Sqrt)
    return squareRoot(x);
  else if constexpr (kind == Unary::Square)
    return x * x;
  else if constexpr (kind == Unary::Acos)
    return acos(x);
  else if constexpr (kind == Unary::Asin)
    return asin(x);
  else if constexpr (kind == Unary::Atan)
    return atan(x);
  else if constexpr (kind == Unary::Atanh)
    return atanh(x);
  else if constexpr (kind == Unary::ClampedRelu)
    return min(x < 0.0f ? p * x : x, q);
  else if constexpr (kind == Unary::Cos)
    return cos(x);
  else if constexpr (kind == Unary::Cosh)
    return cosh(x);
  else if constexpr (kind == Unary::Elu)
    return x < 0.0f ? p * expMinusOne(x) : x;
  else if constexpr (kind == Unary::ScaledTanh)
    return p * tanh(q * x);
  else if constexpr (kind == Unary::SigmoidHard)
    return min(max(p * x + q, Floats{}), splat(1.0f));
  else if constexpr (kind == Unary::Sin)
    return sin(x);
  else if constexpr (kind == Unary::Sinh)
    return sinh(x);
  else if constexpr (kind == Unary::Softplus)
    return softplus(x);
  else if constexpr (kind == Unary::Softsign)
    return x / (1.0f + abs(x));
  else if constexpr (kind == Unary::Tan)
    return tan(x);
  else if constexpr (kind == Unary::Threshold)
    return max(x, p);
  else if constexpr (kind == Unary::ThresholdedRelu)
    return x >= p ? x : Floats{};
  else
    return tanh(x);
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
#define ANEC_CASE(name)                                                        \
  case Unary::name:                                                            \
    return rounding == Rounding::FP16                                          \
               ? unaryRow<Unary::name, true>(n, x, out, p, q)                  \
               : unaryRow<Unary::name, false>(n, x, out, p, q);
    ANEC_CASE(Abs)
    ANEC_CASE(Acos)
    ANEC_CASE(Affine)
    ANEC_CASE(Asin)
    ANEC_CASE(Atan)
    ANEC_CASE(Atanh)
    ANEC_CASE(Ceil)
    ANEC_CASE(ClampedRelu)
    ANEC_CASE(Clip)
    ANEC_CASE(Copy)
    ANEC_CASE(Cos)
    ANEC_CASE(Cosh)
    ANEC_CASE(Elu)
    ANEC_CASE(Erf)
    ANEC_CASE(Exp)
    ANEC_CASE(Exp2)
    ANEC_CASE(Floor)
    ANEC_CASE(GeluErf)
    ANEC_CASE(GeluSigmoid)
    ANEC_CASE(GeluTanh)
    ANEC_CASE(Inverse)
    ANEC_CASE(LeakyRelu)
    ANEC_CASE(Log)
    ANEC_CASE(Neg)
    ANEC_CASE(Relu)
    ANEC_CASE(Round)
    ANEC_CASE(Rsqrt)
    ANEC_CASE(ScaledTanh)
    ANEC_CASE(Sigmoid)
    ANEC_CASE(SigmoidHard)
    ANEC_CASE(Sign)
    ANEC_CASE(Silu)
    ANEC_CASE(Sin)
    ANEC_CASE(Sinh)
    ANEC_CASE(Softplus)
    ANEC_CASE(Softsign)
    ANEC_CASE(Sqrt)
    ANEC_CASE(Square)
    ANEC_CASE(Tan)
    ANEC_CASE(Tanh)
    ANEC_CASE(Threshold)
    ANEC_CASE(ThresholdedRelu)
#undef ANEC_CASE
  }
}

} // namespace
} // namespace anec::cpu

#endif // ANEC_RUNTIME_CPU_UNARYKERNELS_H
