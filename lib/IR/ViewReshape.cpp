//===- ViewReshape.cpp - moves steps before a reshape ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ViewReshape.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace anec;
using namespace anec::view;
using Kind = ViewStep::Kind;

namespace {

/// Axes with extents above 1 that a reshape maps to each other: the smallest
/// runs of axes with the same number of elements on both sides.
struct AxisGroup {
  llvm::SmallVector<size_t, 4> from, to;
};

} // namespace

static std::vector<AxisGroup> axisGroups(llvm::ArrayRef<int64_t> from,
                                         llvm::ArrayRef<int64_t> to) {
  std::vector<AxisGroup> groups;
  size_t i = 0, j = 0;
  auto take = [](llvm::ArrayRef<int64_t> shape, size_t &axis,
                 llvm::SmallVectorImpl<size_t> &axes, int64_t &count) {
    while (axis < shape.size() && shape[axis] == 1)
      ++axis;
    if (axis == shape.size())
      return false;
    count *= shape[axis];
    axes.push_back(axis++);
    return true;
  };
  while (true) {
    AxisGroup group;
    int64_t left = 1, right = 1;
    if (!take(from, i, group.from, left))
      return groups;
    take(to, j, group.to, right);
    while (left != right)
      left < right ? take(from, i, group.from, left)
                   : take(to, j, group.to, right);
    groups.push_back(std::move(group));
  }
}

/// A permutation of the axes of `from` before a reshape to `to` that is
/// equivalent to `permutation` after it, up to another reshape.
static std::optional<ViewStep> permuteBefore(const ViewStep &permutation,
                                             llvm::ArrayRef<int64_t> from,
                                             llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<size_t, 8> order;
  for (int64_t axis : permutation.first)
    if (to[axis] != 1)
      order.push_back(size_t(axis));
  std::vector<AxisGroup> groups = axisGroups(from, to);
  llvm::SmallVector<size_t, 8> moved;
  for (llvm::ArrayRef<size_t> rest = order; !rest.empty();) {
    const AxisGroup *group = llvm::find_if(groups, [&](const AxisGroup &g) {
                               return g.to[0] == rest[0];
                             }).base();
    if (group == groups.data() + groups.size() ||
        rest.take_front(group->to.size()) != llvm::ArrayRef<size_t>(group->to))
      return std::nullopt;
    moved.append(group->from.begin(), group->from.end());
    rest = rest.drop_front(group->to.size());
  }
  Shape axes;
  auto next = moved.begin();
  for (size_t axis = 0; axis < from.size(); ++axis)
    axes.push_back(from[axis] == 1 ? int64_t(axis) : int64_t(*next++));
  return ViewStep::permute(axes);
}

std::pair<Shape, Shape> view::joinAxes(const ViewStep &permutation,
                                       llvm::ArrayRef<int64_t> to) {
  Shape joined, axes, order; // the number of each axis' run, in both orders
  int64_t last = -1;
  for (int64_t axis : permutation.first)
    if (to[axis] != 1)
      order.push_back(axis);
  llvm::SmallVector<std::pair<int64_t, int64_t>, 8> runs; // first axis, extent
  for (int64_t axis : order) {
    bool follows = last >= 0 && axis > last &&
                   llvm::all_of(to.slice(last + 1, axis - last - 1),
                                [](int64_t extent) { return extent == 1; });
    if (follows && runs.back().second * to[axis] <= INT32_MAX)
      runs.back().second *= to[axis];
    else
      runs.push_back({axis, to[axis]});
    last = axis;
  }
  auto sorted = runs;
  llvm::sort(sorted);
  for (auto [axis, extent] : sorted)
    joined.push_back(extent);
  for (auto run : runs)
    axes.push_back(llvm::find(sorted, run) - sorted.begin());
  return {joined, axes};
}

std::optional<SplitAxes> view::splitAxes(llvm::ArrayRef<int64_t> from,
                                         llvm::ArrayRef<int64_t> to) {
  SplitAxes split;
  split.from.resize(from.size());
  split.to.resize(to.size());
  for (const AxisGroup &group : axisGroups(from, to)) {
    size_t i = 0, j = 0;
    int64_t left = from[group.from[0]], right = to[group.to[0]];
    while (true) {
      int64_t part = std::gcd(left, right);
      if (part != std::min(left, right))
        return std::nullopt;
      split.from[group.from[i]].push_back(part);
      split.to[group.to[j]].push_back(part);
      left /= part;
      right /= part;
      if (left == 1 && ++i < group.from.size())
        left = from[group.from[i]];
      if (right == 1 && ++j < group.to.size())
        right = to[group.to[j]];
      if (i == group.from.size())
        break;
    }
  }
  return split;
}

std::optional<std::pair<int64_t, int64_t>>
view::flatRange(const ViewStep &slice, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<size_t> axes) {
  int64_t begin = 0, count = 1;
  bool whole = false;
  for (size_t axis : axes) {
    int64_t extent = slice.second[axis] - slice.first[axis];
    if (whole && extent != shape[axis])
      return std::nullopt;
    whole |= extent != 1;
    begin = begin * shape[axis] + slice.first[axis];
    count *= extent;
  }
  return std::pair(begin, count);
}

/// Makes `slice` select elements [begin, begin + count) of `axes`; returns
/// false when ranges cannot express that.
static bool setFlatRange(ViewStep &slice, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<size_t> axes, int64_t begin,
                         int64_t count) {
  int64_t stride = 1;
  for (size_t axis : axes)
    stride *= shape[axis];
  for (size_t axis : axes) {
    stride /= shape[axis];
    int64_t first = begin / stride, last = (begin + count - 1) / stride;
    if (first != last && (begin % stride || count % stride))
      return false;
    slice.first[axis] = first;
    slice.second[axis] = last + 1;
    if (first != last)
      return true; // inner axes are whole
    begin -= first * stride;
  }
  return true;
}

/// A slice of an array of `from` that selects the same elements as `slice`
/// after a reshape to `to`.
static std::optional<ViewStep> sliceBefore(const ViewStep &slice,
                                           llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to) {
  ViewStep before = ViewStep::slice(Shape(from.size(), 0), from);
  for (const AxisGroup &group : axisGroups(from, to)) {
    if (llvm::all_of(group.to, [&](size_t axis) {
          return slice.second[axis] - slice.first[axis] == to[axis];
        }))
      continue;
    auto range = flatRange(slice, to, group.to);
    if (!range ||
        !setFlatRange(before, from, group.from, range->first, range->second))
      return std::nullopt;
  }
  return before;
}

/// A padding of an array of `from` that adds the same zeros as `pad` after a
/// reshape to `to`, up to another reshape.
static std::optional<ViewStep> padBefore(const ViewStep &pad,
                                         llvm::ArrayRef<int64_t> from,
                                         llvm::ArrayRef<int64_t> to) {
  auto isPadded = [&](size_t axis) {
    return pad.first[axis] + pad.second[axis];
  };
  for (size_t axis = 0; axis < to.size(); ++axis)
    if (to[axis] == 1 && isPadded(axis))
      return std::nullopt;
  ViewStep before = ViewStep::pad(Shape(from.size(), 0), Shape(from.size(), 0));
  for (const AxisGroup &group : axisGroups(from, to)) {
    if (llvm::none_of(group.to, isPadded))
      continue;
    // Zeros around the whole group: they are rows of both outermost axes.
    if (llvm::any_of(llvm::drop_begin(group.to), isPadded))
      return std::nullopt;
    int64_t row = 1, sourceRow = 1;
    for (size_t axis : llvm::drop_begin(group.to))
      row *= to[axis];
    for (size_t axis : llvm::drop_begin(group.from))
      sourceRow *= from[axis];
    int64_t front = pad.first[group.to[0]] * row,
            back = pad.second[group.to[0]] * row;
    if (front % sourceRow || back % sourceRow)
      return std::nullopt;
    before.first[group.from[0]] = front / sourceRow;
    before.second[group.from[0]] = back / sourceRow;
  }
  return before;
}

std::optional<ViewStep> view::beforeReshape(const ViewStep &step,
                                            llvm::ArrayRef<int64_t> from,
                                            llvm::ArrayRef<int64_t> to) {
  std::optional<ViewStep> before =
      step.kind == Kind::Slice ? sliceBefore(step, from, to)
      : step.kind == Kind::Pad ? padBefore(step, from, to)
                               : permuteBefore(step, from, to);
  // Extents are limited, and padding can exceed the limit.
  return before && before->misfit(from).empty() ? before : std::nullopt;
}
