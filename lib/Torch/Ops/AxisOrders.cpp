//===- AxisOrders.cpp - orders of axes and along axes ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Views.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Reverse.h"
#include <numeric>

using namespace anec;
using namespace anec::torch;

static void givePermuted(Node &n, Shape perm) {
  Item x = n.item("self");
  if (n.failed())
    return;
  Shape sorted = perm;
  llvm::sort(sorted);
  for (auto [axis, entry] : llvm::enumerate(sorted))
    if (entry != int64_t(axis) || int64_t(sorted.size()) != rankOf(x))
      return n.fail("`dims` is not a permutation of the axes");
  if (isComplex(x.type))
    perm.push_back(int64_t(perm.size()));
  n.out(n.e.transpose(x.val, perm));
}

static Shape inOrder(int64_t rank) {
  Shape perm(size_t(rank), 0);
  std::iota(perm.begin(), perm.end(), 0);
  return perm;
}

static void permute(Node &n) {
  Shape perm;
  int64_t rank = rankOf(n.item("self"));
  for (int64_t axis : n.ints("dims"))
    perm.push_back(n.normalized(axis, rank));
  givePermuted(n, perm);
}

static void swapAxes(Node &n, StringRef first, StringRef second) {
  int64_t rank = rankOf(n.item("self"));
  Shape perm = inOrder(rank);
  int64_t one = n.axis(first, rank), other = n.axis(second, rank);
  if (rank > 0)
    std::swap(perm[size_t(one)], perm[size_t(other)]);
  givePermuted(n, perm);
}

static void transpose(Node &n) { swapAxes(n, "dim0", "dim1"); }
static void swapaxes(Node &n) { swapAxes(n, "axis0", "axis1"); }

/// All axes in the other order; of a matrix, the transposed one.
static void reverseAxes(Node &n) {
  Shape perm = inOrder(rankOf(n.item("self")));
  std::reverse(perm.begin(), perm.end());
  givePermuted(n, perm);
}

static void transposeLast(Node &n) {
  Shape perm = inOrder(rankOf(n.item("self")));
  if (perm.size() >= 2)
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  givePermuted(n, perm);
}

static void moveAxis(Node &n) {
  int64_t rank = rankOf(n.item("self"));
  Shape from, to, perm(size_t(rank), -1);
  for (int64_t axis : n.ints("source"))
    from.push_back(n.normalized(axis, rank));
  for (int64_t axis : n.ints("destination"))
    to.push_back(n.normalized(axis, rank));
  if (n.failed() || from.size() != to.size())
    return n.fail("`source` and `destination` differ in length");
  for (auto [source, target] : llvm::zip_equal(from, to))
    perm[size_t(target)] = source;
  int64_t next = 0;
  for (int64_t &axis : perm) {
    if (axis >= 0)
      continue;
    while (llvm::is_contained(from, next))
      ++next;
    axis = next++;
  }
  givePermuted(n, perm);
}

static void flip(Node &n) {
  Val x = n.in("self");
  Shape axes = n.axes("dims", x.rank());
  n.out(n.e.unary(ops::Reverse, x, {{param::axes, axes}}));
}

/// Moves elements along axes, those of the end to the front.
static void roll(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape shifts = n.ints("shifts"), axes = n.ints("dims");
  Shape shape = x.shape();
  if (axes.empty()) {
    x = e.reshape(x, {x.size()});
    axes = {0};
  }
  if (n.failed() || shifts.size() != axes.size() || x.size() == 0)
    return n.fail("there must be a shift for each axis");
  for (auto [shift, given] : llvm::zip_equal(shifts, axes)) {
    int64_t axis = n.normalized(given, x.rank()), extent = x.dim(axis);
    int64_t first = ((-(shift % extent)) + extent) % extent;
    if (first != 0)
      x = e.concat(
          {e.slice(x, axis, first, extent), e.slice(x, axis, 0, first)}, axis);
  }
  n.out(e.reshape(x, shape));
}

static constexpr OpRow axisOrderTable[] = {
    {"aten.flip.default", flip},
    {"aten.mT.default", transposeLast},
    {"aten.movedim.int", moveAxis, "", true},
    {"aten.movedim.intlist", moveAxis, "", true},
    {"aten.numpy_T.default", reverseAxes, "", true},
    {"aten.permute.default", permute, "", true},
    {"aten.roll.default", roll},
    {"aten.swapaxes.default", swapaxes, "", true},
    {"aten.t.default", transposeLast, "", true},
    {"aten.transpose.int", transpose, "", true},
};

llvm::ArrayRef<OpRow> torch::axisOrderRows() { return axisOrderTable; }
