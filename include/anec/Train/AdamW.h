//===- AdamW.h - the optimizer ----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// AdamW on fp32 weights, with moments of its own. Results do not depend on the
/// number of threads: sums are taken over blocks of fixed size, and the blocks'
/// sums in their order.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_ADAMW_H
#define ANEC_TRAIN_ADAMW_H

#include "anec/Runtime/CPU/Parallel.h"
#include "anec/Runtime/Session.h"
#include "anec/Train/Hyperparameters.h"

namespace anec {

class AdamW {
public:
  /// For the weights that have gradients, which all have to stay where they
  /// are. Moments begin as zeros.
  AdamW(llvm::ArrayRef<NamedFloats> weights,
        llvm::ArrayRef<NamedFloats> gradients, cpu::ThreadPool &pool);

  /// The norm of all gradients together; not finite when one of them is not.
  double gradientNorm();
  /// Changes the weights. `gradientFactor` is what gradients are multiplied by
  /// first; `update` counts from 1.
  void step(const Hyperparameters &hyper, double learningRate,
            double gradientFactor, uint64_t update);

  /// The moments: `attention.3.wq.m` and `.v`, sorted by name.
  llvm::ArrayRef<NamedFloats> moments() const { return arrays; }
  /// How many numbers are trained.
  uint64_t parameters() const { return count; }
  uint64_t memoryBytes() const { return count * 2 * sizeof(float); }

private:
  /// What a task works on: a part of one weight.
  struct Block {
    float *weight, *m, *v;
    const float *gradient;
    size_t count;
    bool decays;
  };

  cpu::ThreadPool &pool;
  cpu::AlignedArray memory;
  std::vector<NamedFloats> arrays;
  std::vector<Block> blocks;
  std::vector<double> sums; ///< of each block
  uint64_t count = 0;
};

} // namespace anec

#endif // ANEC_TRAIN_ADAMW_H
