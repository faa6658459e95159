//===- AdamWKernels.h - the optimizer's loops -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// AdamW's computation on the elements of one block, in a file of its own that
/// is compiled with vectorization flags.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_ADAMWKERNELS_H
#define ANEC_LIB_TRAIN_ADAMWKERNELS_H

#include <cstddef>

namespace anec::adamw {

struct Scalars {
  float gradientFactor, beta1, beta2, epsilon;
  float rate;       ///< learning rate over the first mean's correction
  float rootFactor; ///< root of the second mean's correction
  float kept;       ///< what weight decay leaves of a weight
};

/// The sum of squares, in double precision; not finite when an element is not.
double sumOfSquares(size_t count, const float *elements);

void update(size_t count, float *weights, float *m, float *v,
            const float *gradients, const Scalars &scalars);

} // namespace anec::adamw

#endif // ANEC_LIB_TRAIN_ADAMWKERNELS_H
