//===- Sequences.cpp - sequences and optional values ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// How long a sequence is, and which optional values are there, is known while
/// a model is read, so that no op has to take one.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::onnx;

/// The elements of an input; null, with an error reported, when it is none.
static const Vals *elements(Node &node, size_t input) {
  Val x = node.raw(input);
  const Vals *found = x ? node.e.elementsOf(x) : nullptr;
  if (!found)
    node.fail("input " + llvm::Twine(input) + " is not a sequence");
  return found;
}

/// The position that an input says; `count` without one. Negative ones count
/// from the end.
static size_t position(Node &node, size_t input, size_t count, bool orEnd) {
  if (!node.has(input))
    return count;
  int64_t at = node.integer(input);
  at += at < 0 ? int64_t(count) : 0;
  if (!node.failed() && (at < 0 || at > int64_t(count) - (orEnd ? 0 : 1)))
    node.fail("the sequence has " + llvm::Twine(count) +
              " elements, and none at the position");
  return node.failed() ? 0 : size_t(at);
}

static void construct(Node &node) {
  Vals all;
  for (size_t i = 0; i != node.numInputs(); ++i)
    all.push_back(node.raw(i));
  if (!node.failed())
    node.out(node.e.sequence(all));
}

static void makeEmpty(Node &node) {
  node.ignore("dtype");
  node.out(node.e.sequence({}));
}

static void sequenceAt(Node &node) {
  const Vals *all = elements(node, 0);
  size_t place = all ? position(node, 1, all->size(), false) : 0;
  if (!node.failed() && place < all->size())
    node.out((*all)[place]);
}

static void insert(Node &node) {
  const Vals *all = elements(node, 0);
  size_t place = all ? position(node, 2, all->size(), true) : 0;
  Val added = node.raw(1);
  if (node.failed())
    return;
  Vals now = *all;
  now.insert(now.begin() + ptrdiff_t(place), added);
  node.out(node.e.sequence(now));
}

static void eraseElement(Node &node) {
  const Vals *all = elements(node, 0);
  if (!all || all->empty())
    return node.fail("the sequence has no elements");
  size_t place =
      node.has(1) ? position(node, 1, all->size(), false) : all->size() - 1;
  if (node.failed())
    return;
  Vals now = *all;
  now.erase(now.begin() + ptrdiff_t(place));
  node.out(node.e.sequence(now));
}

static void length(Node &node) {
  if (const Vals *all = elements(node, 0))
    node.out(node.e.constant(
        Constant::fromDoubles({DType::Int64, {}}, {double(all->size())})));
}

static Val withAxis(Emitter &e, Val x, int64_t axis) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, 1);
  return e.reshape(x, shape);
}

static void join(Node &node) {
  const Vals *all = elements(node, 0);
  if (!all)
    return;
  if (all->empty())
    return node.refuse("the sequence has no elements");
  bool isNew = node.attr("new_axis", 0) != 0;
  Vals parts = *all;
  int64_t axis = node.axis(0, parts.front().rank() + (isNew ? 1 : 0));
  if (node.failed())
    return;
  if (isNew)
    for (Val &part : parts)
      part = withAxis(node.e, part, axis);
  node.out(node.e.concat(parts, axis));
}

/// The sizes of the parts of an axis; empty after an error.
static Shape partSizes(Node &node, int64_t extent) {
  if (!node.has(1))
    return Shape(size_t(extent), 1);
  bool isSize = node.raw(1).rank() == 0;
  Shape sizes = node.ints(1);
  int64_t sum = 0;
  for (int64_t size : sizes)
    sum += std::max<int64_t>(size, 0);
  if (node.failed() || sizes.empty() || sum == 0) {
    node.fail("the sizes of the parts must be positive");
    return {};
  }
  if (!isSize) {
    if (sum != extent)
      node.fail("the sizes of the parts do not add up to the extent");
    return sizes;
  }
  Shape parts(size_t(extent / sizes[0]), sizes[0]);
  if (extent % sizes[0])
    parts.push_back(extent % sizes[0]);
  return parts;
}

static void splitToSequence(Node &node) {
  Val x = node.in(0);
  int64_t axis = node.axis(0, x.rank());
  bool keeps = node.attr("keepdims", 1) != 0 || node.has(1);
  Shape sizes = node.failed() ? Shape() : partSizes(node, x.dim(axis));
  Vals parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    Val part = node.e.slice(x, axis, begin, begin + size);
    begin += size;
    Shape shape = part.shape();
    if (!keeps && part)
      shape.erase(shape.begin() + axis);
    parts.push_back(node.e.reshape(part, shape));
  }
  if (!node.failed())
    node.out(node.e.sequence(parts));
}

/// The body of each element; other inputs are sequences too, or tensors that
/// every turn gets.
static void map(Node &node) {
  const Vals *all = elements(node, 0);
  if (all && !node.hasAttr("body"))
    return node.fail("`SequenceMap` needs a body");
  std::vector<Vals> collected(node.numOutputs());
  for (size_t turn = 0; all && turn != all->size(); ++turn) {
    Vals given, results;
    for (size_t i = 0; i != node.numInputs(); ++i) {
      Val input = node.raw(i);
      const Vals *parts = node.e.elementsOf(input);
      if (parts && parts->size() <= turn)
        return node.fail("the sequences have different lengths");
      given.push_back(parts ? (*parts)[turn] : input);
    }
    if (!node.branch("body", results, given))
      return;
    if (results.size() < collected.size())
      return node.fail("the body of `SequenceMap` has too few outputs");
    for (auto [parts, part] : llvm::zip(collected, results))
      parts.push_back(part);
  }
  for (auto [i, parts] : llvm::enumerate(collected))
    node.out(i, node.e.sequence(parts));
}

static void makeOptional(Node &node) {
  node.ignore("type");
  node.out(node.has(0) ? node.raw(0) : node.e.none());
}

/// Whether there is an optional value, or anything else.
static bool isThere(Node &node) {
  return node.has(0) &&
         (node.e.isTensor(node.raw(0)) || node.e.elementsOf(node.raw(0)));
}

static void hasElement(Node &node) {
  node.out(node.e.scalar(DType::Bool, isThere(node)));
}

static void getElement(Node &node) {
  if (!isThere(node))
    return node.fail("the optional value is not there");
  node.out(node.raw(0));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow sequenceTable[] = {
    {"ConcatFromSequence", join, 11, "", true},
    {"Optional", makeOptional, 15, "", true},
    {"OptionalGetElement", getElement, 15, "", true},
    {"OptionalHasElement", hasElement, 15, "", true},
    {"SequenceAt", sequenceAt, 11, "the position must be known", true},
    {"SequenceConstruct", construct, 11, "", true},
    {"SequenceEmpty", makeEmpty, 11, "", true},
    {"SequenceErase", eraseElement, 11, "the position must be known", true},
    {"SequenceInsert", insert, 11, "the position must be known", true},
    {"SequenceLength", length, 11, "", true},
    {"SequenceMap", map, 17, "", true},
    {"SplitToSequence", splitToSequence, 11, "the sizes must be known"},
};

llvm::ArrayRef<OpRow> onnx::sequenceRows() { return sequenceTable; }
