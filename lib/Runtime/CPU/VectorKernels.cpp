//===- VectorKernels.cpp - Elementwise and row kernels --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Chooses the kernels for this machine, and forwards to them. A table rather
/// than the compiler's function multiversioning: that resolves before
/// sanitizers start, and few compilers and systems have it.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/VectorKernels.h"
#include "KernelTable.h"
#include "Moments.h"
#include <atomic>

using namespace anec;
using namespace anec::cpu;

namespace {
struct Choice {
  InstructionSet set;
  const KernelTable *kernels;
};
} // namespace

static constexpr Choice choices[] = {
    {InstructionSet::Baseline, &baselineKernels},
#if defined(__x86_64__)
    {InstructionSet::AVX2, &avx2Kernels},
    {InstructionSet::AVX512, &avx512Kernels},
#elif defined(__aarch64__)
    {InstructionSet::NEON, &baselineKernels},
#endif
};

bool cpu::hasInstructionSet(InstructionSet set) {
  switch (set) {
  case InstructionSet::Baseline:
    return true;
#if defined(__x86_64__)
  case InstructionSet::AVX2:
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  case InstructionSet::AVX512:
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#elif defined(__aarch64__)
  case InstructionSet::NEON:
    return true;
#endif
  default:
    return false;
  }
}

static const Choice &bestChoice() {
  const Choice *best = choices;
  for (const Choice &choice : choices)
    if (hasInstructionSet(choice.set))
      best = &choice;
  return *best;
}

static std::atomic<const Choice *> active{nullptr};

static const Choice &inUse() {
  const Choice *choice = active.load(std::memory_order_relaxed);
  if (!choice) {
    choice = &bestChoice();
    active.store(choice, std::memory_order_relaxed);
  }
  return *choice;
}

static const KernelTable &kernels() { return *inUse().kernels; }

InstructionSet cpu::detectInstructionSet() { return bestChoice().set; }

bool cpu::useInstructionSet(InstructionSet set) {
  if (!hasInstructionSet(set))
    return false;
  for (const Choice &choice : choices)
    if (choice.set == set)
      active = &choice;
  return true;
}

InstructionSet cpu::instructionSet() { return inUse().set; }

void cpu::roundToHalf(size_t n, const float *x, float *out) {
  kernels().roundToHalf(n, x, out);
}

void cpu::binary(Binary kind, size_t n, const float *a, size_t strideA,
                 const float *b, size_t strideB, float *out,
                 Rounding rounding) {
  kernels().binary(kind, n, a, strideA, b, strideB, out, rounding);
}

void cpu::unary(Unary kind, size_t n, const float *x, float *out,
                Rounding rounding, float p, float q) {
  kernels().unary(kind, n, x, out, rounding, p, q);
}

void cpu::siluMul(size_t n, const float *gate, const float *up, float *out,
                  Rounding rounding, bool roundSigmoid) {
  kernels().siluMul(n, gate, up, out, rounding, roundSigmoid);
}

void cpu::softmaxRow(size_t n, const float *x, float *out, Rounding rounding) {
  softmaxRows(1, n, x, out, rounding);
}

void cpu::softmaxRows(size_t rows, size_t n, const float *x, float *out,
                      Rounding rounding) {
  kernels().softmaxRows(rows, n, x, out, rounding);
}

void cpu::scaledSoftmaxRow(size_t n, const float *x, float scale,
                           const float *mask, float *out, Rounding rounding) {
  kernels().scaledSoftmaxRow(n, x, scale, mask, out, rounding);
}

void cpu::softmaxColumns(size_t rows, size_t columns, size_t stride,
                         const float *x, float *out, Rounding rounding) {
  kernels().softmaxColumns(rows, columns, stride, x, out, rounding);
}

float cpu::reduceRow(Reduce kind, size_t n, const float *x, Rounding rounding) {
  float result;
  reduceRows(kind, 1, n, x, &result, rounding);
  return result;
}

void cpu::reduceRows(Reduce kind, size_t rows, size_t n, const float *x,
                     float *out, Rounding rounding) {
  kernels().reduceRows(kind, rows, n, x, out, rounding);
}

void cpu::reduceColumns(Reduce kind, size_t rows, size_t columns, size_t stride,
                        const float *x, float *out, Rounding rounding) {
  kernels().reduceColumns(kind, rows, columns, stride, x, out, rounding);
}

void cpu::moments(size_t n, const float *x, double *mean, double *variance) {
  kernels().moments(n, x, mean, variance);
}

void cpu::normalizeRow(size_t n, const float *x, double mean, double factor,
                       double scale, double shift, float *out,
                       Rounding rounding) {
  kernels().normalizeRow(n, x, mean, factor, scale, shift, out, rounding);
}

void cpu::normalizeElements(size_t n, const float *x, double mean,
                            double factor, const float *scales,
                            const float *shifts, float *out,
                            Rounding rounding) {
  kernels().normalizeElements(n, x, mean, factor, scales, shifts, out,
                              rounding);
}

void cpu::normalizeColumns(size_t rows, size_t columns, size_t stride,
                           const float *x, double epsilon, const float *scales,
                           const float *shifts, float *out, Rounding rounding) {
  kernels().normalizeColumns(rows, columns, stride, x, epsilon, scales, shifts,
                             out, rounding);
}

size_t cpu::firstBefore(size_t n, const float *x, float last, bool ascending) {
  return kernels().firstBefore(n, x, last, ascending);
}

void cpu::extremePlaces(bool isMax, size_t rows, size_t columns, size_t stride,
                        const float *x, int32_t *places) {
  kernels().extremePlaces(isMax, rows, columns, stride, x, places);
}

void cpu::sumsSoFar(size_t rows, size_t columns, ptrdiff_t stride,
                    const float *x, bool isExclusive, float *out,
                    Rounding rounding) {
  kernels().sumsSoFar(rows, columns, stride, x, isExclusive, out, rounding);
}

void cpu::transpose(size_t rows, size_t columns, const float *x, size_t stride,
                    float *out, size_t outStride) {
  kernels().transpose(rows, columns, x, stride, out, outStride);
}

void cpu::weightedSums(size_t n, size_t terms, const uint32_t *offsets,
                       const float *x, size_t outputs, const float *weights,
                       const float *starts, float *out, size_t stride,
                       Rounding rounding) {
  kernels().weightedSums(n, terms, offsets, x, outputs, weights, starts, out,
                         stride, rounding);
}

void cpu::tiledSums(size_t n, size_t terms, const uint32_t *offsets,
                    const float *x, size_t outputs, const float *weights,
                    const float *starts, float *out, size_t stride,
                    Rounding rounding) {
  kernels().tiledSums(n, terms, offsets, x, outputs, weights, starts, out,
                      stride, rounding);
}

size_t cpu::panelOutputs() { return kernels().panelOutputs; }

size_t cpu::vectorOutputs() { return kernels().vectorOutputs; }

void cpu::panelSums(size_t n, const uint32_t *at, size_t terms,
                    const uint32_t *offsets, const float *x, size_t outputs,
                    const float *weights, const float *starts, float *sums,
                    float *out, size_t stride, Rounding rounding) {
  kernels().panelSums(n, at, terms, offsets, x, outputs, weights, starts, sums,
                      out, stride, rounding);
}

void cpu::addFixedProducts(size_t n, double left, float power, double smallest,
                           const float *right, const float *powers,
                           double *sums, double *beyond, double *vanished) {
  kernels().addFixedProducts(n, left, power, smallest, right, powers, sums,
                             beyond, vanished);
}
