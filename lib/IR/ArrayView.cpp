//===- ArrayView.cpp - views of arrays ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ViewReshape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace anec;
using Kind = ViewStep::Kind;

//===----------------------------------------------------------------------===//
// The last step
//===----------------------------------------------------------------------===//

/// The shape of the view before its last step.
static Shape shapeBefore(llvm::ArrayRef<ViewStep> steps, const Shape &source) {
  Shape shape = source;
  for (const ViewStep &step : steps.drop_back())
    shape = step.apply(shape);
  return shape;
}

void ArrayView::push(ViewStep step) {
  result = step.apply(result);
  list.push_back(std::move(step));
}

ViewStep ArrayView::pop() {
  result = shapeBefore(list, source);
  return list.pop_back_val();
}

/// Splits a permutation of `shape` into one that does not move axes of extent
/// 1, and a reshape; either can be the identity.
static std::pair<ViewStep, ViewStep>
keepUnitAxes(const ViewStep &permutation, llvm::ArrayRef<int64_t> shape) {
  Shape axes;
  auto next = permutation.first.begin();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) {
      axes.push_back(int64_t(axis));
      continue;
    }
    while (shape[*next] == 1)
      ++next;
    axes.push_back(*next++);
  }
  return {ViewStep::permute(axes), ViewStep::reshape(permutation.apply(shape))};
}

static bool isIdentity(const ViewStep &step, const Shape &shape) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  switch (step.kind) {
  case Kind::Slice:
    return step.second == shape && llvm::all_of(step.first, isZero);
  case Kind::Pad:
    return llvm::all_of(step.first, isZero) &&
           llvm::all_of(step.second, isZero);
  case Kind::Permute:
    return llvm::is_sorted(step.first);
  case Kind::Reshape:
    return step.first == shape;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Appending
//===----------------------------------------------------------------------===//

/// The equivalent step before a permutation: does to axis `permutation[i]` what
/// `step` does to axis i.
static ViewStep beforePermutation(const ViewStep &step,
                                  const ViewStep &permutation) {
  ViewStep before = step;
  for (auto [axis, from] : llvm::enumerate(permutation.first)) {
    before.first[from] = step.first[axis];
    before.second[from] = step.second[axis];
  }
  return before;
}

/// Converts a slice of a padded array to a padding of a slice; returns nothing
/// when the slice has only zeros. `shape` is the array's shape.
static std::optional<std::pair<ViewStep, ViewStep>>
sliceBeforePad(const ViewStep &slice, const ViewStep &pad,
               llvm::ArrayRef<int64_t> shape) {
  ViewStep inner = slice, outer = pad;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t before = pad.first[axis], extent = shape[axis];
    int64_t begin = slice.first[axis], end = slice.second[axis];
    inner.first[axis] = std::clamp<int64_t>(begin - before, 0, extent);
    inner.second[axis] = std::clamp<int64_t>(end - before, 0, extent);
    if (inner.first[axis] >= inner.second[axis])
      return std::nullopt;
    outer.first[axis] = std::max<int64_t>(before - begin, 0);
    outer.second[axis] = std::max<int64_t>(end - before - extent, 0);
  }
  return std::pair(inner, outer);
}

bool ArrayView::mergeSlice(const ViewStep &step) {
  switch (list.back().kind) {
  case Kind::Slice: {
    ViewStep whole = pop();
    for (size_t axis = 0; axis < whole.first.size(); ++axis) {
      whole.second[axis] = whole.first[axis] + step.second[axis];
      whole.first[axis] += step.first[axis];
    }
    append(whole);
    return true;
  }
  case Kind::Pad: {
    auto parts = sliceBeforePad(step, list.back(), shapeBefore(list, source));
    if (!parts)
      return false;
    pop();
    append(parts->first);
    append(parts->second);
    return true;
  }
  case Kind::Permute: {
    ViewStep permutation = pop();
    append(beforePermutation(step, permutation));
    append(permutation);
    return true;
  }
  case Kind::Reshape:
    break;
  }
  return false;
}

bool ArrayView::mergePad(const ViewStep &step) {
  if (list.back().kind == Kind::Permute) {
    ViewStep permutation = pop();
    append(beforePermutation(step, permutation));
    append(permutation);
    return true;
  }
  if (list.back().kind != Kind::Pad)
    return false;
  ViewStep sum = pop();
  for (size_t axis = 0; axis < sum.first.size(); ++axis) {
    sum.first[axis] += step.first[axis];
    sum.second[axis] += step.second[axis];
  }
  append(sum);
  return true;
}

// permute(permute(x, p), q) == permute(x, p[q])
bool ArrayView::mergePermute(const ViewStep &step) {
  if (list.back().kind != Kind::Permute)
    return false;
  ViewStep composed = step, inner = pop();
  for (int64_t &axis : composed.first)
    axis = inner.first[axis];
  append(composed);
  return true;
}

/// Numbers the axes within `parts` consecutively, part by part.
static llvm::SmallVector<Shape, 4> numberParts(llvm::ArrayRef<Shape> parts) {
  llvm::SmallVector<Shape, 4> numbers;
  int64_t next = 0;
  for (const Shape &part : parts) {
    Shape &list = numbers.emplace_back();
    for (size_t i = 0; i < part.size(); ++i)
      list.push_back(next++);
  }
  return numbers;
}

/// permute(reshape(permute(x))) == reshape(permute(reshape(x))), where axes of
/// x can be split as the reshape in between splits them. Otherwise reshapes to
/// as few axes as `step` needs.
bool ArrayView::mergeAcrossReshape(const ViewStep &step) {
  Shape after = step.apply(result);
  auto [joined, axes] = view::joinAxes(step, result);
  if (joined != result) {
    append(ViewStep::reshape(joined));
    append(ViewStep::permute(axes));
    append(ViewStep::reshape(after));
    return true;
  }
  if (list.size() < 2 || list[list.size() - 2].kind != Kind::Permute)
    return false;
  Shape from = shapeBefore(list, source);
  std::optional<view::SplitAxes> split = view::splitAxes(from, result);
  if (!split)
    return false;
  pop();
  ViewStep inner = pop();
  // The parts of each axis of x, and their positions after the first
  // permutation.
  llvm::SmallVector<Shape, 4> parts(from.size());
  for (auto [axis, source] : llvm::enumerate(inner.first))
    parts[source] = split->from[axis];
  llvm::SmallVector<Shape, 4> numbers = numberParts(parts);
  Shape extents, moved, order;
  for (const Shape &part : parts)
    extents.append(part.begin(), part.end());
  for (int64_t source : inner.first)
    moved.append(numbers[source].begin(), numbers[source].end());
  llvm::SmallVector<Shape, 4> targets = numberParts(split->to);
  for (int64_t axis : step.first)
    for (int64_t number : targets[axis])
      order.push_back(moved[number]);
  append(ViewStep::reshape(extents));
  append(ViewStep::permute(order));
  append(ViewStep::reshape(after));
  return true;
}

void ArrayView::append(ViewStep step) {
  if (::isIdentity(step, result))
    return;
  if (step.kind == Kind::Permute) {
    auto [permutation, reshape] = keepUnitAxes(step, result);
    if (permutation != step) {
      append(permutation);
      append(reshape);
      return;
    }
  }
  if (list.empty())
    return push(std::move(step));
  if (step.kind == Kind::Reshape) {
    if (list.back().kind != Kind::Reshape)
      return push(std::move(step));
    pop();
    return append(std::move(step));
  }
  if (list.back().kind == Kind::Reshape) {
    Shape from = shapeBefore(list, source);
    std::optional<ViewStep> before = view::beforeReshape(step, from, result);
    Shape shape = step.apply(result);
    if (!before) {
      if (step.kind != Kind::Permute || !mergeAcrossReshape(step))
        push(std::move(step));
      return;
    }
    pop();
    append(std::move(*before));
    return append(ViewStep::reshape(shape));
  }
  bool merged = step.kind == Kind::Slice ? mergeSlice(step)
                : step.kind == Kind::Pad ? mergePad(step)
                                         : mergePermute(step);
  if (!merged)
    push(std::move(step));
}

ArrayView ArrayView::then(const ViewStep &step) const {
  assert(step.misfit(result).empty());
  ArrayView view = *this;
  view.append(step);
  return view;
}

ArrayView ArrayView::compose(const ArrayView &next) const {
  assert(next.source == result);
  ArrayView view = *this;
  for (const ViewStep &step : next.list)
    view.append(step);
  return view;
}

//===----------------------------------------------------------------------===//
// Inverses and offsets
//===----------------------------------------------------------------------===//

ArrayView ArrayView::inverse() const {
  llvm::SmallVector<Shape, 4> shapes = {source};
  for (const ViewStep &step : list)
    shapes.push_back(step.apply(shapes.back()));
  ArrayView view(result);
  for (size_t index = list.size(); index-- > 0;)
    view.append(list[index].inverse(shapes[index]));
  return view;
}

ArrayView ArrayView::withoutLastReshape() const {
  ArrayView view = *this;
  if (!list.empty() && list.back().kind == Kind::Reshape)
    view.pop();
  return view;
}

std::optional<int64_t> ArrayView::contiguousOffset() const {
  int64_t offset = 0;
  Shape shape = source;
  for (const ViewStep &step : list) {
    if (step.kind == Kind::Pad || step.kind == Kind::Permute)
      return std::nullopt;
    if (step.kind == Kind::Slice) {
      auto axes = llvm::to_vector(llvm::seq<size_t>(0, shape.size()));
      auto range = view::flatRange(step, shape, axes);
      if (!range)
        return std::nullopt;
      offset += range->first;
    }
    shape = step.apply(shape);
  }
  return offset;
}

llvm::hash_code anec::hash_value(const ArrayView &view) {
  llvm::hash_code hash = llvm::hash_combine_range(view.sourceShape().begin(),
                                                  view.sourceShape().end());
  for (const ViewStep &step : view.steps())
    hash = llvm::hash_combine(
        hash, unsigned(step.kind),
        llvm::hash_combine_range(step.first.begin(), step.first.end()),
        llvm::hash_combine_range(step.second.begin(), step.second.end()));
  return hash;
}
