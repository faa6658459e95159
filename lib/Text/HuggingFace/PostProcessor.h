//===- PostProcessor.h - ids around those of a text -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_POSTPROCESSOR_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_POSTPROCESSOR_H

#include "Fields.h"
#include <vector>

namespace anec::hf {

/// What a text is put between.
struct Markers {
  std::vector<int32_t> before, after;
};

/// The markers of a single text by `fields`, a post_processor, whose ids must
/// be below `idCount`.
Markers readPostProcessor(Fields &fields, unsigned idCount);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_POSTPROCESSOR_H
