//===- Sorting.cpp - orders and running sums ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Sort.h"

using namespace anec;
using namespace anec::torch;

/// The first `count` elements in order, and their indices.
static std::pair<Val, Val> ordered(Node &n, const Item &item, int64_t axis,
                                   int64_t count, bool descending) {
  Emitter &e = n.e;
  Val x = e.native(item.val);
  DType dtype = x.dtype();
  Vals results = e.makeAll(ops::Topk, {e.cast(x, Emitter::wideOf(x))},
                           {{param::topK, count},
                            {param::axis, axis},
                            {param::ascending, !descending}});
  if (results.size() != 2)
    return {};
  return {e.cast(results[0], dtype), results[1]};
}

static void topk(Node &n) {
  Item x = n.item("self");
  n.ignore("sorted");
  int64_t axis = n.axis("dim", x.val.rank()), count = n.integer("k");
  bool largest = n.flag("largest");
  if (n.failed() || count < 1 || count > x.val.dim(axis))
    return n.fail("`k` must be from 1 to the extent of the axis");
  auto [values, indices] = ordered(n, x, axis, count, largest);
  n.out(0, values);
  n.out(1, indices);
}

/// The whole axis in order, and the indices.
static std::pair<Val, Val> sorted(Node &n) {
  Item x = n.item("self");
  n.ignore("stable");
  int64_t axis = n.axis("dim", x.val.rank());
  bool descending = n.flag("descending");
  if (!n.failed() && x.val.rank() != 0)
    return ordered(n, x, axis, x.val.dim(axis), descending);
  n.fail("its input must have an axis");
  return {};
}

static void sort(Node &n) {
  auto [values, indices] = sorted(n);
  n.out(0, values);
  n.out(1, indices);
}

static void argsort(Node &n) { n.out(sorted(n).second); }

/// The element at place `rank` of an axis in order, and its index.
static void giveRanked(Node &n, const Item &x, int64_t axis, int64_t rank) {
  Emitter &e = n.e;
  bool keep = n.flag("keepdim");
  auto [values, indices] = ordered(n, x, axis, x.val.dim(axis), false);
  for (auto [i, all] : {std::pair(0, values), std::pair(1, indices)}) {
    Val one = e.slice(all, axis, rank, rank + 1);
    if (!one)
      return;
    Shape shape = one.shape();
    if (!keep)
      shape.erase(shape.begin() + axis);
    n.out(size_t(i), e.reshape(one, shape));
  }
}

/// The lower of the two in the middle.
static void median(Node &n) {
  Item x = n.item("self");
  int64_t axis = n.axis("dim", x.val.rank());
  if (n.failed() || x.val.rank() == 0)
    return n.fail("its input must have an axis");
  giveRanked(n, x, axis, (x.val.dim(axis) - 1) / 2);
}

static void smallest(Node &n) {
  Item x = n.item("self");
  int64_t axis = n.axis("dim", x.val.rank()), k = n.integer("k");
  if (n.failed() || x.val.rank() == 0 || k < 1 || k > x.val.dim(axis))
    return n.fail("`k` must be from 1 to the extent of the axis");
  giveRanked(n, x, axis, k - 1);
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

template <const OpDef &Op>
static void cumulative(Node &n) {
  Item x = n.item("self");
  Val value = n.cast(x, n.type("dtype", n.outType()));
  int64_t axis = n.axis("dim", value.rank());
  if (n.failed() || !value)
    return;
  n.out(value.rank() == 0 ? value
                          : n.e.unary(Op, value, {{param::axis, axis}}));
}

/// One element of the axis after the other.
template <typename Step>
static void giveRunning(Node &n, Val x, int64_t axis, Step step) {
  constexpr int64_t longest = 1024;
  if (n.failed() || !x || x.rank() == 0)
    return;
  if (x.dim(axis) > longest)
    return n.fail("of more than " + llvm::Twine(longest) + " elements");
  Vals parts;
  for (int64_t i = 0; i != x.dim(axis); ++i) {
    Val part = n.e.slice(x, axis, i, i + 1);
    parts.push_back(parts.empty() ? part : step(parts.back(), part));
    if (!parts.back())
      return;
  }
  n.out(0, n.e.concat(parts, axis));
}

template <const OpDef &Extreme, const OpDef &Goes>
static void runningExtreme(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t axis = n.axis("dim", x.rank());
  constexpr int64_t longest = 1024;
  if (n.failed() || !x || x.rank() == 0)
    return;
  if (x.dim(axis) > longest)
    return n.fail("of more than " + llvm::Twine(longest) + " elements");
  Vals values, indices;
  for (int64_t i = 0; i != x.dim(axis); ++i) {
    Val part = e.slice(x, axis, i, i + 1);
    Val here = e.filled(DType::Int32, part.shape(), double(i));
    if (i != 0) {
      // Of equal ones, the last.
      Val isNew = e.make(Goes, {part, values.back()});
      here = e.select(isNew, here, indices.back());
      part = e.binary(Extreme, values.back(), part);
    }
    values.push_back(part);
    indices.push_back(here);
    if (!part || !here)
      return;
  }
  n.out(0, e.concat(values, axis));
  n.out(1, e.concat(indices, axis));
}

/// log of the running sum of exponentials, from the greatest of all.
static void logcumsumexp(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  giveRunning(n, x, n.axis("dim", x.rank()), [&](Val all, Val next) {
    Val top = e.binary(ops::Maximum, all, next);
    Val sum = e.add(e.unary(ops::Exp, e.sub(all, top)),
                    e.unary(ops::Exp, e.sub(next, top)));
    return e.add(top, e.unary(ops::Log, sum));
  });
}

/// Differences of neighbors.
static void diff(Node &n) {
  Emitter &e = n.e;
  Item self = n.item("self");
  Val x = e.native(self.val);
  int64_t axis = n.axis("dim", x.rank()), count = n.integer("n");
  Vals parts;
  if (n.has("prepend"))
    parts.push_back(n.cast(n.item("prepend"), self.type));
  parts.push_back(x);
  if (n.has("append"))
    parts.push_back(n.cast(n.item("append"), self.type));
  if (n.failed())
    return;
  if (parts.size() > 1)
    x = e.concat(parts, axis);
  for (int64_t i = 0; i < count && x; ++i) {
    if (x.dim(axis) < 2)
      return n.fail("its result has no elements");
    Val high = e.slice(x, axis, 1, x.dim(axis));
    Val low = e.slice(x, axis, 0, x.dim(axis) - 1);
    x = self.type == ScalarType::Bool ? e.make(ops::LogicalXor, {high, low})
                                      : e.sub(high, low);
  }
  n.out(x);
}

static constexpr OpRow sortingTable[] = {
    {"aten.argsort.default", argsort},
    {"aten.argsort.stable", argsort},
    {"aten.cummax.default", runningExtreme<ops::Maximum, ops::GreaterEqual>,
     "of up to 1024 elements"},
    {"aten.cummin.default", runningExtreme<ops::Minimum, ops::LessEqual>,
     "of up to 1024 elements"},
    {"aten.cumprod.default", cumulative<ops::Cumprod>,
     "of up to 1024 elements"},
    {"aten.cumsum.default", cumulative<ops::Cumsum>},
    {"aten.diff.default", diff},
    {"aten.kthvalue.default", smallest},
    {"aten.logcumsumexp.default", logcumsumexp, "of up to 1024 elements"},
    {"aten.median.dim", median},
    {"aten.sort.default", sort},
    {"aten.sort.stable", sort},
    {"aten.topk.default", topk},
};

llvm::ArrayRef<OpRow> torch::sortingRows() { return sortingTable; }
