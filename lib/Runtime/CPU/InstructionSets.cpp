//===- InstructionSets.cpp - instruction sets by name ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/CPU/InstructionSets.h"

using namespace anec;
using namespace anec::cpu;

static constexpr llvm::StringLiteral names[] = {"baseline", "avx2", "avx512"};

bool cpu::useInstructionSet(llvm::StringRef name) {
  for (size_t set = 0; set < std::size(names); ++set)
    if (names[set] == name)
      return useInstructionSet(InstructionSet(set));
  return false;
}

std::string cpu::namesOfInstructionSets() {
  size_t best = size_t(detectInstructionSet());
  std::string list;
  for (size_t set = 0; set <= best; ++set)
    list += (set == 0      ? "`"
             : set == best ? " and `"
                           : ", `") +
            names[set].str() + "`";
  return list;
}
