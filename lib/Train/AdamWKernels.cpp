//===- AdamWKernels.cpp - the optimizer's loops ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Both kernels are bound by memory bandwidth, so baseline vectors suffice, and
// all processors of an architecture give the same results.
//
//===----------------------------------------------------------------------===//

#include "AdamWKernels.h"
#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace anec;

namespace {
/// Flushes denormal numbers to zero during its lifetime. Moments of gradients
/// that are mostly zero (of rare tokens) decay to denormals, which are a
/// hundred times slower to compute with.
class NoDenormals {
public:
#if defined(__x86_64__)
  NoDenormals() : before(_mm_getcsr()) { _mm_setcsr(before | 0x8040); }
  ~NoDenormals() { _mm_setcsr(before); }

private:
  unsigned before;
#elif defined(__aarch64__)
  NoDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before));
    asm volatile("msr fpcr, %0" : : "r"(before | (uint64_t(1) << 24)));
  }
  ~NoDenormals() { asm volatile("msr fpcr, %0" : : "r"(before)); }

private:
  uint64_t before;
#else
  NoDenormals() {}
#endif
};
} // namespace

double adamw::sumOfSquares(size_t count, const float *elements) {
  // Enough independent sums to keep the vector units of any processor busy.
  constexpr size_t lanes = 16;
  double sums[lanes] = {};
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane) {
      double element = elements[i + lane];
      sums[lane] += element * element;
    }
  for (size_t lane = 0; i < count; ++i, ++lane)
    sums[lane] += double(elements[i]) * double(elements[i]);
  double sum = 0;
  for (double part : sums)
    sum += part;
  return sum;
}

void adamw::update(size_t count, float *__restrict weights, float *__restrict m,
                   float *__restrict v, const float *__restrict gradients,
                   const Scalars &given) {
  NoDenormals guard;
  const Scalars scalars = given;
  const float rest1 = 1 - scalars.beta1, rest2 = 1 - scalars.beta2;
  for (size_t i = 0; i < count; ++i) {
    float gradient = gradients[i] * scalars.gradientFactor;
    float mean = scalars.beta1 * m[i] + rest1 * gradient;
    float square = scalars.beta2 * v[i] + rest2 * (gradient * gradient);
    m[i] = mean;
    v[i] = square;
    float root = std::sqrt(square) * scalars.rootFactor + scalars.epsilon;
    weights[i] = scalars.kept * weights[i] - scalars.rate * mean / root;
  }
}
