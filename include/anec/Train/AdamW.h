//===- AdamW.h - the optimizer ----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// AdamW on fp32 weights. Results do not depend on the number of threads: sums
/// are taken over blocks of fixed size, and the sums of blocks are added in
/// order.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_ADAMW_H
#define ANEC_TRAIN_ADAMW_H

#include "anec/Runtime/Session.h"
#include "anec/Support/Executor.h"
#include "anec/Train/Hyperparameters.h"

namespace anec {

class AdamW {
public:
  /// An optimizer for the weights that have gradients. The arrays must outlive
  /// it and must not move. Moments start at zero.
  AdamW(llvm::ArrayRef<NamedFloats> weights,
        llvm::ArrayRef<NamedFloats> gradients, Executor &pool);

  /// The global norm of all gradients but those that are changes; not finite
  /// when an element is not.
  double gradientNorm();
  /// Updates the weights. Gradients are first multiplied by `unscale`, and
  /// those that are no changes by `clip`, too; `update` counts from 1.
  void step(const Hyperparameters &hyper, double learningRate, double unscale,
            double clip, uint64_t update);

  /// The moments: `attention.3.wq.m` and `.v`, sorted by name.
  llvm::ArrayRef<NamedFloats> moments() const { return arrays; }
  /// The number of trained elements.
  uint64_t parameters() const { return count; }
  uint64_t memoryBytes() const { return count * 2 * sizeof(float); }

private:
  /// The unit of work of a task: a part of one weight.
  struct Block {
    float *weight, *m, *v;
    const float *gradient;
    size_t count;
    bool decays;
    bool isChange; ///< `gradient` is what is taken off
  };

  Executor &pool;
  AlignedArray memory;
  std::vector<NamedFloats> arrays;
  std::vector<Block> blocks;
  std::vector<double> sums; ///< of each block
  uint64_t count = 0;
};

} // namespace anec

#endif // ANEC_TRAIN_ADAMW_H
