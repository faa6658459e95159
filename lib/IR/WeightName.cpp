//===- WeightName.cpp - names of weights and their arrays -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/WeightName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

namespace {

/// A name with a list: `before{0..11}after`, `before{a,b}after`.
struct List {
  llvm::StringRef before, inside, after;

  static std::optional<List> of(llvm::StringRef name);
  /// What stands for the list in the name of an instance; nothing when the list
  /// is too short.
  std::optional<std::string> at(int64_t instance) const;
};

} // namespace

std::optional<List> List::of(llvm::StringRef name) {
  size_t open = name.find('{'), close = name.find('}', open);
  if (close == llvm::StringRef::npos)
    return std::nullopt;
  return List{name.take_front(open), name.slice(open + 1, close),
              name.substr(close + 1)};
}

/// The bounds of `0..11`: numbers that fit, and count up.
static std::optional<std::pair<int64_t, int64_t>>
rangeOf(llvm::StringRef text) {
  constexpr int64_t most = 1'000'000'000;
  auto [first, last] = text.split("..");
  int64_t from = 0, to = 0;
  if (first.getAsInteger(10, from) || last.getAsInteger(10, to) || from < 0 ||
      to < from || to > most)
    return std::nullopt;
  return std::pair(from, to);
}

std::optional<std::string> List::at(int64_t instance) const {
  if (instance < 0)
    return std::nullopt;
  if (auto range = rangeOf(inside)) {
    if (instance > range->second - range->first)
      return std::nullopt;
    return std::to_string(range->first + instance);
  }
  llvm::SmallVector<llvm::StringRef, 16> parts;
  inside.split(parts, ',');
  if (size_t(instance) >= parts.size())
    return std::nullopt;
  return parts[size_t(instance)].str();
}

llvm::StringRef anec::memberOf(llvm::StringRef weight) {
  size_t close = weight.rfind('}');
  size_t dot = weight.rfind('.');
  bool isOutside = close == llvm::StringRef::npos || close < dot;
  if (dot == llvm::StringRef::npos || !isOutside)
    dot = weight.take_front(weight.find('{')).rfind('.');
  return dot == llvm::StringRef::npos ? weight : weight.substr(dot + 1);
}

std::string anec::instanceName(llvm::StringRef weight,
                               std::optional<int64_t> instance) {
  if (!instance)
    return weight.str();
  if (std::optional<List> list = List::of(weight))
    if (std::optional<std::string> part = list->at(*instance))
      return list->before.str() + *part + list->after.str();
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

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

bool anec::canBeInstance(llvm::StringRef name) {
  return name.find_first_of("{},") == llvm::StringRef::npos;
}

/// The lengths of what all names begin with and end with, without a part of a
/// number.
static std::pair<size_t, size_t>
sharedEnds(llvm::ArrayRef<llvm::StringRef> names) {
  llvm::StringRef first = names.front();
  size_t front = first.size(), back = first.size(), shortest = first.size();
  for (llvm::StringRef name : names) {
    shortest = std::min(shortest, name.size());
    front = std::min(front, shortest);
    back = std::min(back, shortest);
    while (name.take_front(front) != first.take_front(front))
      --front;
    while (name.take_back(back) != first.take_back(back))
      --back;
  }
  while (front && llvm::isDigit(first[front - 1]))
    --front;
  back = std::min(back, shortest - front);
  while (back && llvm::isDigit(first[first.size() - back]))
    --back;
  return {front, back};
}

std::string anec::listInstances(llvm::ArrayRef<llvm::StringRef> names) {
  auto [front, back] = sharedEnds(names);
  std::vector<llvm::StringRef> parts;
  for (llvm::StringRef name : names)
    parts.push_back(name.drop_front(front).drop_back(back));
  int64_t from = 0;
  bool counts = parts.front().size() < 9 && // which cannot overflow
                !parts.front().getAsInteger(10, from);
  for (auto [index, part] : llvm::enumerate(parts))
    counts &= part == std::to_string(from + int64_t(index));
  std::string inside = counts ? parts.front().str() + ".." + parts.back().str()
                              : llvm::join(parts, ",");
  llvm::StringRef first = names.front();
  return first.take_front(front).str() + "{" + inside + "}" +
         first.take_back(back).str();
}

std::vector<std::string> anec::arraysOf(llvm::StringRef weight) {
  std::vector<std::string> arrays;
  if (std::optional<List> list = List::of(weight))
    while (std::optional<std::string> part = list->at(int64_t(arrays.size())))
      arrays.push_back(list->before.str() + *part + list->after.str());
  if (arrays.empty())
    arrays.push_back(weight.str());
  return arrays;
}
