//===- Indexing.cpp - elements by their index -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::torch;

Val torch::fromStart(Emitter &e, Val indices, int64_t extent) {
  indices = e.cast(indices, DType::Int32);
  if (ConstantRef known = e.known(indices)) {
    Shape numbers = known->asInts();
    if (llvm::all_of(numbers, [](int64_t index) { return index >= 0; }))
      return indices;
  }
  Val isNegative = e.make(ops::Less, {indices, e.scalar(DType::Int32, 0)});
  Val counted = e.add(indices, e.scalar(DType::Int32, double(extent)));
  return e.select(isNegative, counted, indices);
}

/// A mask of bools as the indices of what is true, one list for each of its
/// axes. The mask must be known, since their number depends on it.
static Vals positionsOf(Node &n, Val mask) {
  ConstantRef known = n.known(mask, "mask");
  if (!known)
    return {};
  Shape shape = known->type().shape;
  std::vector<Shape> lists(shape.size());
  Shape place(shape.size(), 0);
  for (int64_t i = 0; i != known->numElements(); ++i) {
    if (known->doubleAt(i) != 0)
      for (size_t axis = 0; axis != shape.size(); ++axis)
        lists[axis].push_back(place[axis]);
    for (size_t axis = shape.size(); axis-- != 0;) {
      if (++place[axis] != shape[axis])
        break;
      place[axis] = 0;
    }
  }
  Vals results;
  for (const Shape &list : lists)
    results.push_back(n.e.list(list));
  return results;
}

bool torch::readIndexed(Node &n, Indexed &indexed) {
  Emitter &e = n.e;
  Item self = n.item("self");
  Val x = self.val;
  std::vector<Item> given = n.items("indices");
  // Of each axis of `x`, its indices.
  std::vector<Val> lists;
  for (const Item &item : given) {
    bool isMask = item && (item.type == ScalarType::Bool ||
                           item.type == ScalarType::UInt8);
    if (isMask)
      llvm::append_range(lists, positionsOf(n, item.val));
    else
      lists.push_back(item ? e.native(item.val) : Val());
  }
  if (n.failed() || int64_t(lists.size()) > x.rank())
    return false;
  lists.resize(size_t(x.rank()));
  Shape perm, shape;
  bool isFirst = true, isTogether = true, hasEnded = false;
  for (auto [axis, list] : llvm::enumerate(lists)) {
    if (!list) {
      hasEnded |= !indexed.axes.empty();
      continue;
    }
    isTogether &= !hasEnded;
    indexed.axes.push_back(int64_t(axis));
    std::optional<Shape> all =
        isFirst ? list.shape() : broadcastShapes(shape, list.shape());
    isFirst = false;
    if (!all) {
      n.fail("its indices do not broadcast");
      return false;
    }
    shape = *all;
  }
  if (indexed.axes.empty()) {
    n.fail("it has no indices");
    return false;
  }
  indexed.shape = shape;
  indexed.place = isTogether ? indexed.axes.front() : 0;
  // The indexed axes in front, as one.
  for (int64_t axis : indexed.axes)
    indexed.perm.push_back(axis);
  for (int64_t axis = 0; axis != x.rank(); ++axis)
    if (!lists[size_t(axis)]) {
      indexed.perm.push_back(axis);
      indexed.rest.push_back(x.dim(axis));
    }
  int64_t step = 1;
  for (int64_t axis : llvm::reverse(indexed.axes)) {
    int64_t extent = x.dim(axis);
    Val list = fromStart(e, lists[size_t(axis)], extent);
    Val scaled =
        step == 1 ? list : e.mul(list, e.scalar(DType::Int32, double(step)));
    indexed.index = indexed.index ? e.add(indexed.index, scaled) : scaled;
    step *= extent;
  }
  indexed.index = e.broadcast(indexed.index, shape);
  indexed.extent = step;
  return bool(indexed.index);
}

static void index(Node &n) {
  Emitter &e = n.e;
  Indexed indexed;
  if (!readIndexed(n, indexed))
    return;
  Val x = n.in("self");
  Shape flat = {indexed.extent};
  llvm::append_range(flat, indexed.rest);
  Val rows = e.reshape(e.transpose(x, indexed.perm), flat);
  DType dtype = x.dtype();
  if (dtype == DType::Bool)
    rows = e.cast(rows, DType::Int32);
  Val result =
      e.gather(rows, e.reshape(indexed.index, {indexed.index.size()}), 0);
  Shape shape = indexed.shape;
  llvm::append_range(shape, indexed.rest);
  result = e.reshape(result, shape);
  if (indexed.place != 0) {
    // The indices' axes are where the indexed ones were.
    auto count = int64_t(indexed.shape.size());
    Shape perm;
    for (int64_t axis = 0; axis != indexed.place; ++axis)
      perm.push_back(count + axis);
    for (int64_t axis = 0; axis != count; ++axis)
      perm.push_back(axis);
    for (int64_t axis = indexed.place; axis != int64_t(indexed.rest.size());
         ++axis)
      perm.push_back(count + axis);
    result = e.transpose(result, perm);
  }
  n.out(n.e.cast(result, dtype));
}

static void indexSelect(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), indices = n.in("index");
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed() || !x || !indices)
    return;
  if (indices.rank() == 0)
    indices = e.reshape(indices, {1});
  n.out(e.gather(x, fromStart(e, indices, x.dim(axis)), axis));
}

static void gather(Node &n) {
  n.ignore("sparse_grad");
  Val x = n.in("self"), indices = n.in("index");
  int64_t axis = n.axis("dim", x.rank());
  if (!n.failed())
    n.out(OnnxNode(n, "GatherElements")
              .in(x)
              .in(indices)
              .attr("axis", axis)
              .run());
}

static void takeAlong(Node &n) {
  Val x = n.in("self"), indices = n.in("indices");
  if (!n.has("dim"))
    return n.fail("`dim` must be given");
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed() || x.rank() == 0 || x.rank() != indices.rank())
    return n.fail("its indices must have the rank of the input");
  // Other axes broadcast.
  std::optional<Shape> shape = Shape(x.shape());
  for (int64_t other = 0; other != x.rank(); ++other)
    if (other != axis)
      (*shape)[size_t(other)] = std::max(x.dim(other), indices.dim(other));
  Shape ofX = *shape, ofIndices = *shape;
  ofX[size_t(axis)] = x.dim(axis);
  ofIndices[size_t(axis)] = indices.dim(axis);
  n.out(OnnxNode(n, "GatherElements")
            .in(n.e.broadcast(x, ofX))
            .in(n.e.broadcast(indices, ofIndices))
            .attr("axis", axis)
            .run());
}

static void embedding(Node &n) {
  Val weight = n.in("weight"), indices = n.in("indices");
  // These are about gradients.
  for (StringRef name : {"padding_idx", "scale_grad_by_freq", "sparse"})
    n.ignore(name);
  if (n.failed())
    return;
  indices = n.e.cast(indices, DType::Int32);
  Val rows = n.e.gather(weight, indices, 0);
  int64_t padding = n.has("padding_idx") ? n.integer("padding_idx") : -1;
  if (!n.e.trains || padding < 0)
    return n.out(rows);
  if (n.has("scale_grad_by_freq") && n.flag("scale_grad_by_freq"))
    return n.fail("`scale_grad_by_freq` is not trained");
  // The row of the padding has no gradient.
  Shape shape = indices.shape();
  shape.push_back(1);
  Val isPadding =
      n.e.make(ops::Equal, {n.e.reshape(indices, shape),
                            n.e.scalar(DType::Int32, double(padding))});
  n.out(n.e.select(n.e.broadcast(isPadding, rows.shape()),
                   n.e.make(ops::StopGradient, {rows}), rows));
}

/// The sum, mean or maximum of the rows of each bag; offsets must be known.
static void embeddingBag(Node &n) {
  Emitter &e = n.e;
  Val weight = n.in("weight"), indices = n.in("indices");
  for (StringRef name : {"scale_grad_by_freq", "sparse"})
    n.ignore(name);
  int64_t mode = n.integer("mode");
  bool hasLast = n.flag("include_last_offset");
  Val scales = n.maybe("per_sample_weights");
  ConstantRef offsets = n.known(n.item("offsets").val, "offsets");
  int64_t padding = -1;
  bool hasPadding = false;
  if (n.has("padding_idx")) {
    padding = n.integer("padding_idx");
    hasPadding = padding >= 0 || n.op().contains("padding_idx");
    if (padding < 0)
      padding += weight.dim(0);
  }
  if (n.failed() || !offsets || indices.rank() != 1)
    return n.fail("its bags are not known");
  Shape starts = offsets->asInts();
  if (!hasLast)
    starts.push_back(indices.dim(0));
  Val rows = e.gather(weight, e.cast(indices, DType::Int32), 0);
  int64_t count = indices.dim(0);
  Val counts = e.filled(rows.dtype(), {count, 1}, 1);
  if (hasPadding) {
    Val isThere =
        e.make(ops::NotEqual, {e.cast(indices, DType::Int32),
                               e.scalar(DType::Int32, double(padding))});
    counts = e.reshape(e.cast(isThere, rows.dtype()), {count, 1});
  }
  if (mode == 2 && hasPadding)
    return n.fail("the maximum of bags with padding");
  if (scales)
    rows = e.mul(rows, e.reshape(scales, {count, 1}));
  if (hasPadding)
    rows = e.mul(rows, counts);
  Vals bags;
  for (size_t bag = 0; bag + 1 < starts.size(); ++bag) {
    int64_t begin = starts[bag], end = starts[bag + 1];
    if (begin < 0 || begin > end || end > count)
      return n.fail("its offsets do not grow");
    if (begin == end) {
      bags.push_back(e.filled(rows.dtype(), {1, weight.dim(1)}, 0));
      continue;
    }
    Val part = e.slice(rows, 0, begin, end);
    Val sum =
        e.reduce(mode == 2 ? ops::ReduceMax : ops::ReduceSum, part, {0}, true);
    if (mode == 1) {
      Val number =
          e.reduce(ops::ReduceSum, e.slice(counts, 0, begin, end), {0}, true);
      sum = e.div(sum,
                  e.binary(ops::Maximum, number, e.scalar(number.dtype(), 1)));
    }
    bags.push_back(sum);
    if (!sum)
      return;
  }
  if (!bags.empty())
    n.out(0, e.concat(bags, 0));
}

/// The indices of what is not 0.
static void nonzero(Node &n) {
  Item x = n.item("self");
  ConstantRef known = n.known(x.val, "input");
  if (!known)
    return;
  Val found = OnnxNode(n, "NonZero").in(x.val).run();
  if (found)
    n.out(n.e.transpose(found, {1, 0}));
}

static constexpr OpRow indexingTable[] = {
    {"aten._embedding_bag.default", embeddingBag,
     "the offsets must be known, and only the first result is there"},
    {"aten._embedding_bag_forward_only.default", embeddingBag,
     "the offsets must be known, and only the first result is there"},
    {"aten.embedding.default", embedding},
    {"aten.embedding_bag.default", embeddingBag,
     "the offsets must be known, and only the first result is there"},
    {"aten.embedding_bag.padding_idx", embeddingBag,
     "the offsets must be known, and only the first result is there"},
    {"aten.gather.default", gather},
    {"aten.index.Tensor", index, "masks must be known"},
    {"aten.index_select.default", indexSelect},
    {"aten.nonzero.default", nonzero, "the input must be known"},
    {"aten.take_along_dim.default", takeAlong},
};

llvm::ArrayRef<OpRow> torch::indexingRows() { return indexingTable; }
