//===- Names.cpp - unique names for printing ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

std::string anec::sanitizeName(llvm::StringRef name, llvm::StringRef fallback,
                               bool keepDots) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) || (keepDots && c == '.') ? c : '_';
  if (result.empty())
    return fallback.str();
  if (llvm::isDigit(result[0]))
    result.insert(result.begin(), '_');
  return result;
}

bool anec::areSpelledAlike(llvm::StringRef left, llvm::StringRef right) {
  auto plain = [](llvm::StringRef name) {
    return llvm::StringRef(sanitizeName(name, "_")).rtrim('_').str();
  };
  return left == right || plain(left) == plain(right);
}

llvm::StringRef anec::displayName(const Value &value) {
  if (value.name.empty() && value.definingOp())
    return value.definingOp()->def().name;
  return value.name;
}

llvm::StringRef NameSet::unique(llvm::StringRef wanted) {
  auto [it, inserted] = taken.insert(wanted);
  if (inserted)
    return it->getKey();
  unsigned &suffix = next[wanted];
  while (true) {
    std::string candidate = (wanted + "_" + llvm::Twine(++suffix)).str();
    auto [place, fresh] = taken.insert(candidate);
    if (fresh)
      return place->getKey();
  }
}

void ValueNames::add(const Value *value, llvm::StringRef wanted) {
  auto [it, inserted] = names.try_emplace(value, "");
  if (!inserted)
    return;
  const Op *op = value->definingOp();
  std::string name = sanitizeName(wanted, op ? op->def().name : "value",
                                  /*keepDots=*/!isReserved);
  if (isReserved && isReserved(name))
    name += '_';
  it->second = set.unique(name);
}

void ValueNames::addBlock(const Function &block) {
  for (const Op &op : block.body())
    for (const Value *result : op.resultValues()) {
      names.erase(result);
      add(result, result->name);
    }
}

ValueNames::ValueNames(const Function &function, Reserved isReserved)
    : isReserved(isReserved) {
  for (const auto &param : function.parameters())
    add(param.get(), param->name);
  for (unsigned index = 0; index < function.numResults(); ++index)
    add(function.result(index), function.resultNames()[index]);
  for (const Op &op : function.body())
    for (const Value *result : op.resultValues())
      add(result, result->name);
}
