//===- InstructionSets.cpp - instruction sets by name ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/InstructionSets.h"
#include "llvm/ADT/Twine.h"

using namespace anec;
using namespace anec::cpu;

/// In the order of InstructionSet.
static constexpr llvm::StringLiteral names[] = {"baseline", "avx2", "avx512",
                                                "neon"};

bool cpu::useInstructionSet(llvm::StringRef name) {
  for (InstructionSet set : instructionSets)
    if (names[size_t(set)] == name)
      return useInstructionSet(set);
  return false;
}

std::string cpu::namesOfInstructionSets() {
  InstructionSet best = detectInstructionSet();
  std::string list;
  for (InstructionSet set : instructionSets) {
    if (!hasInstructionSet(set))
      continue;
    llvm::StringRef before = list.empty() ? "" : set == best ? " and " : ", ";
    list += (before + llvm::Twine("`") + names[size_t(set)] + "`").str();
  }
  return list;
}
