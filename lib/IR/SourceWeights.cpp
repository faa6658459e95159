//===- SourceWeights.cpp - weights of programs that others wrote ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/SourceWeights.h"

using namespace anec;

/// `other`, which keeps `own` too: its address is then no other weight's, also
/// when a reader has copied its elements for it alone.
static ConstantRef insteadOf(const ConstantRef &own, const ConstantRef &other) {
  using Both = std::pair<ConstantRef, ConstantRef>;
  return Constant::view(other->type(), other->storedDType(), other->bytes(),
                        std::make_shared<Both>(own, other));
}

ConstantRef SourceWeights::valueOf(llvm::StringRef name,
                                   const ConstantRef &own) {
  if (!own || !isFloat(own->dtype()))
    return own;
  if (seen.insert(name).second)
    read.push_back(name.str());
  if (!replacement)
    return own;
  // What shares its elements with a weight has the value of that, too. Where
  // weights are trained, it has that of the first one, and stays tied to it.
  ConstantRef &shared = replaced[own->bytes().data()];
  bool isShared = shared && shared->type() == own->type();
  if (isTrained && isShared)
    return shared;
  if (ConstantRef other = replacement(name, own->type()))
    return shared = insteadOf(own, other);
  if (isTrained)
    return shared = own;
  return isShared ? shared : own;
}

std::optional<std::string> SourceWeights::trainedAs(llvm::StringRef name,
                                                    const ConstantRef &value) {
  // The types that a `weight` can have.
  if (!isTrained || constants.contains(name) || !isTrained(name) ||
      (value->dtype() != DType::FP32 && value->dtype() != DType::FP16))
    return std::nullopt;
  // A program can be read more than once.
  auto before = trained.find(name);
  if (before != trained.end())
    return name.str();
  auto [owner, isFirst] = owners.try_emplace(value->bytes().data(), name.str());
  if (!isFirst && trained.lookup(owner->second)->type() == value->type())
    return owner->second;
  trained[name] = value;
  return name.str();
}

bool SourceWeights::keep(llvm::StringRef name, bool isParameter) {
  auto found = trained.find(name);
  if (found == trained.end())
    return false;
  owners.erase(found->second->bytes().data());
  trained.erase(found);
  constants.insert(name);
  if (isParameter)
    decided.insert(name);
  return true;
}

std::vector<std::string> SourceWeights::kept() const {
  std::vector<std::string> names;
  for (const std::string &name : read)
    if (decided.contains(name))
      names.push_back(name);
  return names;
}
