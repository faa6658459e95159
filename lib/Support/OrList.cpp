//===- OrList.cpp - alternatives in a message -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/OrList.h"
#include "llvm/ADT/StringExtras.h"

std::string anec::orList(llvm::ArrayRef<std::string> words) {
  if (words.size() < 2)
    return words.empty() ? "" : words.front();
  return llvm::join(words.drop_back(), ", ") + " or " + words.back();
}
