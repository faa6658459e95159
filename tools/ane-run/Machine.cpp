//===- Machine.cpp - targets by the names of chips ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace anec;

const Target *anec::targetOf(llvm::StringRef chip) {
  struct Row {
    const char *words, *target;
  };
  // What is more exact comes first.
  static constexpr Row rows[] = {{"M3 Ultra", "m3-ultra"},
                                 {"M1", "m1"},
                                 {"M2", "m2"},
                                 {"M3", "m3"},
                                 {"M4", "m4"},
                                 {"M5", "m5"}};
  for (const Row &row : rows)
    if (chip.contains(row.words))
      return findTarget(row.target);
  return nullptr;
}
