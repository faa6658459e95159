//===- ViewStep.cpp - one step of a view ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/ArrayView.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace anec;
using Kind = ViewStep::Kind;

static Shape copyOf(llvm::ArrayRef<int64_t> values) {
  return Shape(values.begin(), values.end());
}

ViewStep ViewStep::slice(llvm::ArrayRef<int64_t> begin,
                         llvm::ArrayRef<int64_t> end) {
  return {Kind::Slice, copyOf(begin), copyOf(end)};
}
ViewStep ViewStep::pad(llvm::ArrayRef<int64_t> before,
                       llvm::ArrayRef<int64_t> after) {
  return {Kind::Pad, copyOf(before), copyOf(after)};
}
ViewStep ViewStep::permute(llvm::ArrayRef<int64_t> axes) {
  return {Kind::Permute, copyOf(axes), {}};
}
ViewStep ViewStep::reshape(llvm::ArrayRef<int64_t> shape) {
  return {Kind::Reshape, copyOf(shape), {}};
}

llvm::StringRef anec::spelling(Kind kind) {
  constexpr llvm::StringLiteral words[] = {"slice", "pad", "permute",
                                           "reshape"};
  return words[unsigned(kind)];
}

/// Whether all extents are in [1, 2^31), and their product can be handled.
static bool isShape(llvm::ArrayRef<int64_t> shape) {
  return checkedNumElements(shape) && llvm::all_of(shape, [](int64_t extent) {
           return extent >= 1 && extent <= INT32_MAX;
         });
}

std::string ViewStep::misfit(llvm::ArrayRef<int64_t> shape) const {
  auto rank = int64_t(shape.size());
  std::string array = "`" + shapeToString(shape) + "`";
  if (kind != Kind::Reshape && int64_t(first.size()) != rank)
    return "`" + spelling(kind).str() + "` has " +
           std::to_string(first.size()) + " axes, and " + array + " has " +
           std::to_string(rank);
  switch (kind) {
  case Kind::Slice:
    for (auto [begin, end, extent] : llvm::zip_equal(first, second, shape))
      if (begin < 0 || begin >= end || end > extent)
        return "`" + std::to_string(begin) + ":" + std::to_string(end) +
               "` is not a range of an axis of " + std::to_string(extent);
    return "";
  case Kind::Pad:
    for (auto [before, after] : llvm::zip_equal(first, second))
      if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX)
        return "`" + std::to_string(before) + ":" + std::to_string(after) +
               "` is not an amount of padding";
    if (!isShape(apply(shape)))
      return array + " gets too large";
    return "";
  case Kind::Permute: {
    Shape sorted = first;
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
      return "`" + shapeToString(first) + "` is not a permutation of " +
             std::to_string(rank) + " axes";
    return "";
  }
  case Kind::Reshape:
    if (!isShape(first) ||
        *checkedNumElements(first) != checkedNumElements(shape))
      return array + " cannot be reshaped to `" + shapeToString(first) + "`";
    return "";
  }
  return "";
}

Shape ViewStep::apply(llvm::ArrayRef<int64_t> shape) const {
  Shape result;
  if (kind == Kind::Reshape)
    return first;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    result.push_back(kind == Kind::Slice ? second[axis] - first[axis]
                     : kind == Kind::Pad
                         ? first[axis] + shape[axis] + second[axis]
                         : shape[first[axis]]);
  return result;
}

ViewStep ViewStep::inverse(llvm::ArrayRef<int64_t> shape) const {
  Shape other(shape.size());
  switch (kind) {
  case Kind::Slice:
    for (size_t axis = 0; axis < shape.size(); ++axis)
      other[axis] = shape[axis] - second[axis];
    return pad(first, other);
  case Kind::Pad:
    for (size_t axis = 0; axis < shape.size(); ++axis)
      other[axis] = first[axis] + shape[axis];
    return slice(first, other);
  case Kind::Permute:
    for (size_t axis = 0; axis < shape.size(); ++axis)
      other[first[axis]] = int64_t(axis);
    return permute(other);
  case Kind::Reshape:
    break;
  }
  return reshape(shape);
}
