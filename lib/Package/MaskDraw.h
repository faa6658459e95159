//===- MaskDraw.h - draws random masks --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The elements of the inputs of the role `random-mask`. They depend on
/// nothing but a seed and on where in the training they are used, so that a
/// resumed run, or one of several processes, draws those of any other.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_MASKDRAW_H
#define ANEC_LIB_PACKAGE_MASKDRAW_H

#include "anec/IR/RandomMask.h"
#include "anec/IR/Type.h"

namespace anec {

/// Which masks are drawn: those of a run of the model in a step of training.
struct MaskDraw {
  uint64_t seed = 0;
  uint64_t step = 1; ///< from 1
  uint64_t run = 0;  ///< within the step

  /// Writes the mask of the entry's input number `input`, of type `type`.
  void draw(const RandomMask &mask, const TensorType &type, uint64_t input,
            llvm::MutableArrayRef<uint8_t> elements) const;
};

/// Writes the mean of the mask to all elements: nothing is drawn.
void fillMean(const RandomMask &mask, const TensorType &type,
              llvm::MutableArrayRef<uint8_t> elements);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_MASKDRAW_H
