//===- Instructions.h - the instruction set of benchmarks -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// `ANEC_INSTRUCTIONS` in the environment, as the tools read it.
//===----------------------------------------------------------------------===//

#ifndef ANEC_BENCHMARKS_INSTRUCTIONS_H
#define ANEC_BENCHMARKS_INSTRUCTIONS_H

#include "lib/Runtime/CPU/InstructionSets.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

namespace anec {

/// Makes the kernels use the instruction set that the environment names.
/// Returns false, and says so, if this processor lacks it.
[[nodiscard]] inline bool chooseInstructions() {
  const char *name = std::getenv("ANEC_INSTRUCTIONS");
  if (!name || !*name || cpu::useInstructionSet(llvm::StringRef(name)))
    return true;
  llvm::errs() << "error: this processor has " << cpu::namesOfInstructionSets()
               << ", not `" << name << "`\n";
  return false;
}

} // namespace anec

#endif // ANEC_BENCHMARKS_INSTRUCTIONS_H
