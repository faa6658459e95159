//===- SourceWeights.cpp - weights of programs that others wrote ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/SourceWeights.h"
#include <cmath>

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

/// Whether fp16 has numbers of all elements. Others are those of masks, which
/// nothing trains.
static bool isInRange(const Constant &value) {
  constexpr double largest = 65504;
  for (int64_t i = 0; i < value.numElements(); ++i)
    if (!(std::fabs(value.doubleAt(i)) <= largest))
      return false;
  return true;
}

std::optional<std::string> SourceWeights::trainedAs(llvm::StringRef name,
                                                    const ConstantRef &value) {
  if (!isTrained || constants.contains(name) || !isTrained(name) ||
      !isFloat(value->dtype()))
    return std::nullopt;
  // A program can be read more than once.
  auto before = trained.find(name);
  if (before != trained.end())
    return name.str();
  if (!isInRange(*value)) {
    constants.insert(name);
    return std::nullopt;
  }
  auto [owner, isFirst] = owners.try_emplace(value->bytes().data(), name.str());
  TensorType type = value->type();
  if (type.dtype != DType::FP16)
    type.dtype = DType::FP32;
  ConstantRef first = isFirst ? nullptr : trained.lookup(owner->second);
  if (first && first->type() == type)
    return owner->second;
  owner->second = name.str();
  trained[name] = type == value->type()
                      ? value
                      : Constant::fromDoubles(type, value->asDoubles());
  return name.str();
}

bool SourceWeights::keep(llvm::StringRef name, bool isParameter) {
  auto found = trained.find(name);
  if (found == trained.end())
    return false;
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
