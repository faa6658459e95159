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

void cpu::softmaxColumns(const Columns &x, float *out, Rounding rounding) {
  kernels().softmaxColumns(x, out, rounding);
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

void cpu::reduceColumns(Reduce kind, const Columns &x, float *out,
                        Rounding rounding) {
  kernels().reduceColumns(kind, x, out, rounding);
}

void cpu::moments(size_t n, const float *x, double *mean, double *variance) {
  kernels().moments(n, x, mean, variance);
}

void cpu::normalizeRow(size_t n, const float *x, const Scaling &by,
                       const Affine &affine, float *out, Rounding rounding) {
  kernels().normalizeRow(n, x, by, affine, out, rounding);
}

void cpu::normalizeElements(size_t n, const float *x, const Scaling &by,
                            const Affines &affines, float *out,
                            Rounding rounding) {
  kernels().normalizeElements(n, x, by, affines, out, rounding);
}

void cpu::normalizeColumns(const Columns &x, double epsilon,
                           const Affines &ofRows, float *out,
                           Rounding rounding) {
  kernels().normalizeColumns(x, epsilon, ofRows, out, rounding);
}

size_t cpu::firstBefore(size_t n, const float *x, float last, bool ascending) {
  return kernels().firstBefore(n, x, last, ascending);
}

void cpu::extremePlaces(bool isMax, const Columns &x, int32_t *places) {
  kernels().extremePlaces(isMax, x, places);
}

void cpu::sumsSoFar(const Columns &x, bool isExclusive, bool isReverse,
                    float *out, Rounding rounding) {
  kernels().sumsSoFar(x, isExclusive, isReverse, out, rounding);
}

void cpu::transpose(size_t rows, size_t columns, const float *x, size_t stride,
                    float *out, size_t outStride) {
  kernels().transpose(rows, columns, x, stride, out, outStride);
}

void cpu::weightedSums(size_t n, const SumTerms &terms,
                       const SumWeights &outputs, const SumPlaces &to,
                       Rounding rounding) {
  kernels().weightedSums(n, terms, outputs, to, rounding);
}

void cpu::tiledSums(size_t n, const SumTerms &terms, const SumWeights &outputs,
                    const SumPlaces &to, Rounding rounding) {
  kernels().tiledSums(n, terms, outputs, to, rounding);
}

size_t cpu::panelOutputs() { return kernels().panelOutputs; }

size_t cpu::vectorOutputs() { return kernels().vectorOutputs; }

void cpu::panelSums(const SumPositions &positions, const SumTerms &terms,
                    const SumWeights &outputs, float *sums, const SumPlaces &to,
                    Rounding rounding) {
  kernels().panelSums(positions, terms, outputs, sums, to, rounding);
}

void cpu::addFixedProducts(size_t n, double left, float power, double smallest,
                           const float *right, const float *powers,
                           double *sums, double *beyond, double *vanished) {
  kernels().addFixedProducts(n, left, power, smallest, right, powers, sums,
                             beyond, vanished);
}
