//===- RandomModel.h - programs that type-check by construction -*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_RANDOMMODEL_H
#define ANEC_TEST_FUZZ_MODELS_RANDOMMODEL_H

#include "ProgramTree.h"

namespace anec::fuzz {

/// A model with its layers and kernels, the same for a seed.
Program randomModel(uint64_t seed);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_RANDOMMODEL_H
