//===- Mac.h - sums of products as an engine adds them ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_EMULATION_MAC_H
#define ANEC_LIB_RUNTIME_CPU_EMULATION_MAC_H

#include "Chip.h"
#include "lib/Runtime/CPU/ProductKernels.h"
#include <atomic>

namespace anec::cpu {

/// Hazards of an op, counted in elements.
struct HazardCounter {
  std::atomic<uint64_t> partialSums{0}; ///< results with a partial sum >= 2^15
  std::atomic<uint64_t> products{0};    ///< nonzero, treated as zero
  std::atomic<uint64_t> overflows{0};   ///< finite results beyond fp16
};

/// The products of `ProductKernels::multiply`, summed as `chip` does, for fp16
/// operands and results. Sums start at the bias.
void multiplyAsChip(Executor &pool, const Chip &chip, const GemmShape &shape,
                    llvm::ArrayRef<GemmOperands> batch, HazardCounter &hazards);

/// One sum of products, for tests: of `x[i] * w[i]`, starting at `bias`.
double dotAsChip(const Chip &chip, llvm::ArrayRef<float> x,
                 llvm::ArrayRef<float> w, float bias, HazardCounter &hazards);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_EMULATION_MAC_H
