//===- InstructionSets.h - instruction sets by name -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_INSTRUCTIONSETS_H
#define ANEC_LIB_RUNTIME_CPU_INSTRUCTIONSETS_H

#include "lib/Runtime/CPU/VectorKernels.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace anec::cpu {

/// Makes the kernels use the instruction set `name`: `baseline`, `avx2`,
/// `avx512` or `neon`. False for other names, and for sets that this machine
/// lacks.
[[nodiscard]] bool useInstructionSet(llvm::StringRef name);

/// The names of the sets that this machine has: "`baseline` and `avx2`".
std::string namesOfInstructionSets();

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_INSTRUCTIONSETS_H
