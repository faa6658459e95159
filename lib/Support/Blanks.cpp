//===- Blanks.cpp - text as blanks ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Blanks.h"

using namespace anec;

std::string anec::asBlanks(llvm::StringRef text) {
  std::string blanks;
  for (char c : text)
    for (unsigned bit = 0; bit < 7; ++bit)
      blanks += c >> bit & 1 ? '\t' : ' ';
  return blanks;
}
