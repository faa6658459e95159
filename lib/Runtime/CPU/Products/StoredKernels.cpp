//===- StoredKernels.cpp - the choice of kernels for stored weights -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StoredMatrix.h"
#include "lib/Runtime/CPU/VectorKernels.h"

using namespace anec;
using namespace anec::cpu;

bool cpu::hasFixedProducts(const StoredMatrix &weight) {
  bool hasIntegers = weight.form == StoredForm::Int8 ||
                     weight.form == StoredForm::UInt8 ||
                     (weight.form == StoredForm::Index4 &&
                      weight.fourBits != FourBits::Palette);
  return hasIntegers && weight.columns % fixedGroup == 0 &&
         (weight.blockColumns >= weight.columns ||
          weight.blockColumns % fixedGroup == 0);
}

const StoredKernels &cpu::storedKernels() {
#if defined(__x86_64__)
  switch (instructionSet()) {
  case InstructionSet::AVX512:
    return avx512StoredKernels;
  case InstructionSet::AVX2:
    return avx2StoredKernels;
  case InstructionSet::Baseline:
  case InstructionSet::NEON:
    break;
  }
#endif
  return baselineStoredKernels;
}
