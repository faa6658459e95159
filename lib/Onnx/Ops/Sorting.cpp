//===- Sorting.cpp - orders, and what is found ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Sequences.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Sort.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

static void readTopK(Node &n) {
  n.ignore("sorted");
  Val x = n.in(0);
  if (!x)
    return;
  int64_t axis = n.axis(-1, x.rank());
  int64_t k = n.opset() < 10 ? n.attr("k", -1) : n.integer(1);
  bool largest = n.attr("largest", 1) != 0;
  if (n.failed())
    return;
  if (k < 0 || k > x.dim(axis))
    return n.fail("`k` is " + llvm::Twine(k) + ", and the axis has " +
                  llvm::Twine(x.dim(axis)) + " elements");
  Shape shape = x.shape();
  shape[size_t(axis)] = k;
  if (k == 0 || x.size() == 0) {
    n.out(0, n.e.empty(x.dtype(), shape));
    return n.out(1, n.e.empty(DType::Int32, shape));
  }
  Vals results = n.e.makeAll(
      ops::Topk, {x},
      {{param::topK, k}, {param::axis, axis}, {param::ascending, !largest}});
  for (size_t i = 0; i < results.size(); ++i)
    n.out(i, results[i]);
}

//===----------------------------------------------------------------------===//
// What is found
//===----------------------------------------------------------------------===//

/// The coordinates of what is not zero, a column each. The input must be known,
/// because the number of columns depends on it.
static void readNonZero(Node &n) {
  ConstantRef x = n.known(0);
  if (!x)
    return;
  const Shape &shape = x->type().shape;
  Shape found;
  for (int64_t i = 0; i != x->numElements(); ++i)
    if (x->doubleAt(i) != 0)
      found.push_back(i);
  if (found.empty())
    return n.out(n.e.empty(DType::Int32, {int64_t(shape.size()), 0}));
  if (shape.empty())
    return n.refuse("the result has no elements");
  if (!n.affords({int64_t(shape.size()), int64_t(found.size())}))
    return;
  std::vector<double> rows;
  int64_t inner = x->numElements();
  for (int64_t extent : shape) {
    inner /= extent;
    for (int64_t at : found)
      rows.push_back(double(at / inner % extent));
  }
  TensorType type(DType::Int32, {int64_t(shape.size()), int64_t(found.size())});
  n.out(n.e.constant(Constant::fromDoubles(type, rows)));
}

namespace {
/// A slice that occurs, and where.
struct Occurrence {
  int64_t first = 0, count = 0;
  int64_t position = 0; ///< in the result
};
} // namespace

/// The slices of an input along an axis, each of its elements in order.
static std::vector<std::vector<double>>
slicesOf(const Constant &x, llvm::ArrayRef<int64_t> shape, int64_t axis) {
  std::vector<double> elements = x.asDoubles();
  int64_t inner = 1;
  for (int64_t extent : shape.drop_front(axis + 1))
    inner *= extent;
  auto count = size_t(shape[axis]);
  std::vector<std::vector<double>> slices(count);
  for (size_t i = 0; i != elements.size(); ++i)
    slices[size_t(int64_t(i) / inner % shape[axis])].push_back(elements[i]);
  return slices;
}

static void readUnique(Node &n) {
  ConstantRef x = n.known(0);
  Val input = n.in(0);
  if (!x || !input)
    return;
  int64_t axis = 0;
  Shape shape = input.shape();
  if (n.hasAttr("axis"))
    axis = n.axis(0, input.rank());
  else
    shape = {input.size()};
  if (n.failed())
    return;
  std::map<std::vector<double>, Occurrence> found;
  std::vector<std::vector<double>> slices = slicesOf(*x, shape, axis);
  for (size_t i = 0; i != slices.size(); ++i) {
    Occurrence &slice = found[slices[i]];
    if (slice.count++ == 0)
      slice.first = int64_t(i);
  }
  std::vector<Occurrence *> order;
  for (auto &[elements, slice] : found)
    order.push_back(&slice);
  if (n.attr("sorted", 1) == 0)
    llvm::sort(order, [](const Occurrence *a, const Occurrence *b) {
      return a->first < b->first;
    });
  Shape firsts, counts, inverse;
  for (auto [position, slice] : llvm::enumerate(order)) {
    slice->position = int64_t(position);
    firsts.push_back(slice->first);
    counts.push_back(slice->count);
  }
  for (const std::vector<double> &slice : slices)
    inverse.push_back(found[slice].position);
  Val whole = n.e.reshape(input, shape);
  n.out(0, n.e.gather(whole, n.e.list(firsts), axis));
  n.out(1, n.e.list(firsts));
  n.out(2, n.e.list(inverse));
  n.out(3, n.e.list(counts));
}

//===----------------------------------------------------------------------===//
// Along an axis
//===----------------------------------------------------------------------===//

template <const OpDef &Op>
static void readCumulative(Node &n) {
  Val x = n.in(0);
  if (!x)
    return;
  int64_t axis = n.normalized(n.integer(1), x.rank());
  if (n.failed())
    return;
  n.out(n.e.unary(Op, x,
                  {{param::axis, axis},
                   {param::exclusive, n.attr("exclusive", 0) != 0},
                   {param::reverse, n.attr("reverse", 0) != 0}}));
}

static void readReverseSequence(Node &n) {
  Val x = n.in(0), lengths = n.in(1);
  if (!x || !lengths)
    return;
  int64_t time = n.normalized(n.attr("time_axis", 0), x.rank());
  int64_t batch = n.normalized(n.attr("batch_axis", 1), x.rank());
  if (!n.failed())
    n.out(n.e.make(ops::ReverseSequence, {x, lengths},
                   {{param::seqAxis, time}, {param::batchAxis, batch}}));
}

static constexpr OpRow sortingTable[] = {
    {.name = "CumProd",
     .read = readCumulative<ops::Cumprod>,
     .since = 26,
     .limits = "of up to 1024 elements"},
    {.name = "CumSum", .read = readCumulative<ops::Cumsum>, .since = 11},
    {.name = "NonZero",
     .read = readNonZero,
     .since = 9,
     .limits = "the input must be known"},
    {.name = "ReverseSequence", .read = readReverseSequence, .since = 10},
    {.name = "TopK", .read = readTopK, .limits = "`k` must be known"},
    {.name = "Unique",
     .read = readUnique,
     .since = 11,
     .limits = "the input must be known"},
};

llvm::ArrayRef<OpRow> onnx::sortingRows() { return sortingTable; }
