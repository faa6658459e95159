//===- WeightName.cpp - names of weights and their arrays -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/WeightName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

llvm::StringRef anec::memberOf(llvm::StringRef weight) {
  size_t dot = weight.rfind('.');
  return dot == llvm::StringRef::npos ? weight : weight.substr(dot + 1);
}

std::string anec::instanceName(llvm::StringRef weight,
                               std::optional<int64_t> instance) {
  if (!instance)
    return weight.str();
  std::string number = std::to_string(*instance);
  size_t dot = weight.find('.');
  if (dot == llvm::StringRef::npos)
    return weight.str() + "." + number;
  return weight.take_front(dot + 1).str() + number + weight.substr(dot).str();
}

std::string anec::withoutInstance(llvm::StringRef array) {
  // Names that are written in a program have no part that is a number.
  llvm::SmallVector<llvm::StringRef, 4> parts;
  array.split(parts, '.');
  llvm::erase_if(parts, [](llvm::StringRef part) {
    return !part.empty() && llvm::all_of(part, llvm::isDigit);
  });
  return llvm::join(parts, ".");
}
