//===- ConvImages.h - runs of a convolution, image by image -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_CONVIMAGES_H
#define ANEC_LIB_RUNTIME_CPU_CONVIMAGES_H

#include "Steps.h"
#include <memory>

namespace anec::cpu {

/// The step of a convolution that packs its weights, prepares each image, and
/// computes it by independent tasks. Constant weights are packed now, and
/// others at each run.
template <typename Conv>
StepFn runImages(const std::shared_ptr<Conv> &conv, bool isConstant,
                 Executor &pool) {
  if (isConstant)
    conv->pack(pool);
  return [conv, isConstant, &pool] {
    if (!isConstant)
      conv->pack(pool);
    for (size_t image = 0; image < conv->images; ++image) {
      const float *inputs = conv->prepare(image, pool);
      pool.parallelRanges(
          conv->tasks(), 1, [&](size_t begin, size_t end, unsigned worker) {
            float *scratch = pool.scratch(worker, conv->scratchFloats());
            for (size_t number = begin; number < end; ++number)
              conv->run(number, image, inputs, scratch);
          });
    }
  };
}

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_CONVIMAGES_H
