//===- Scatters.cpp - elements written at indices -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Indices.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Sort.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// Writes `source` at the indices of an axis; both have the same shape.
static void giveScattered(Node &n, Val source, StringRef reduction) {
  Val x = n.in("self"), indices = n.in("index");
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed() || !x || !indices || !source)
    return;
  // Of the source, what the indices have a place for.
  for (int64_t other = 0; other != indices.rank(); ++other)
    source = n.e.slice(source, other, 0, indices.dim(other));
  n.out(OnnxNode(n, "ScatterElements")
            .in(x)
            .in(indices)
            .in(source)
            .attr("axis", axis)
            .attr("reduction", reduction)
            .run());
}

static void scatter(Node &n) {
  Item x = n.item("self");
  if (n.has("value")) {
    Val value = n.cast(n.item("value"), x.type);
    return giveScattered(n, n.e.broadcast(value, n.in("index").shape()),
                         "none");
  }
  giveScattered(n, n.cast(n.item("src"), x.type), "none");
}

static void scatterAdd(Node &n) {
  giveScattered(n, n.cast(n.item("src"), n.typeOf("self")), "add");
}

static void scatterReduce(Node &n) {
  StringRef name = n.text("reduce");
  bool includes = n.flag("include_self");
  StringRef reduction = name == "sum"    ? "add"
                        : name == "prod" ? "mul"
                        : name == "amax" ? "max"
                        : name == "amin" ? "min"
                                         : "";
  if (reduction.empty())
    return n.fail("`reduce` `" + name + "` has no counterpart");
  Emitter &e = n.e;
  Val source = n.cast(n.item("src"), n.typeOf("self"));
  if (includes)
    return giveScattered(n, source, reduction);
  // What is written begins with what changes nothing.
  Val x = n.in("self"), indices = n.in("index");
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed() || !x || !indices || !source)
    return;
  bool isInteger = !isFloating(n.typeOf("self"));
  double most = isInteger ? 2147483647.0 : INFINITY;
  double neutral = name == "prod"   ? 1
                   : name == "amax" ? -most
                   : name == "amin" ? most
                                    : 0;
  for (int64_t other = 0; other != indices.rank(); ++other)
    source = e.slice(source, other, 0, indices.dim(other));
  Val none = e.filled(x.dtype(), indices.shape(), neutral);
  auto scattered = [&](Val to, Val from, StringRef how) {
    return OnnxNode(n, "ScatterElements")
        .in(to)
        .in(indices)
        .in(from)
        .attr("axis", axis)
        .attr("reduction", how)
        .run();
  };
  n.out(scattered(scattered(x, none, "none"), source, reduction));
}

/// Writes rows of `source`, one for each index of the axis.
static void giveRows(Node &n, Val x, Val source, ScatterMode mode) {
  Emitter &e = n.e;
  Val indices = n.in("index");
  int64_t axis = n.axis("dim", x.rank());
  if (n.failed() || !x || !indices || !source || x.rank() == 0)
    return;
  if (indices.rank() == 0)
    indices = e.reshape(indices, {1});
  indices = fromStart(e, indices, x.dim(axis));
  Shape shape = x.shape();
  shape[size_t(axis)] = indices.size();
  source = e.broadcast(source, shape);
  DType dtype = x.dtype(), wide = Emitter::wideOf(x);
  Val result =
      e.make(ops::Scatter, {e.cast(x, wide), indices, e.cast(source, wide)},
             {{param::axis, axis}, {param::scatterMode, mode}});
  n.out(e.cast(result, dtype));
}

static void indexCopy(Node &n) {
  giveRows(n, n.in("self"), n.cast(n.item("source"), n.typeOf("self")),
           ScatterMode::Update);
}

static void indexAdd(Node &n) {
  Item x = n.item("self");
  Val source = n.cast(n.item("source"), x.type);
  Item alpha = n.item("alpha");
  if (ConstantRef known = n.e.known(alpha.val);
      !known || known->doubleAt(0) != 1)
    source = n.e.mul(source, n.cast(alpha, x.type));
  giveRows(n, n.in("self"), source, ScatterMode::Add);
}

static void indexFill(Node &n) {
  Val value = n.cast(n.item("value"), n.typeOf("self"));
  giveRows(n, n.in("self"), value, ScatterMode::Update);
}

/// x[indices] = values, or added to what is there.
static void indexPut(Node &n) {
  Emitter &e = n.e;
  Item self = n.item("self");
  bool adds = n.flag("accumulate");
  std::vector<Item> indices = n.items("indices");
  Val values = n.cast(n.item("values"), self.type);
  // One mask of the leading axes, and one value, is a choice.
  if (indices.size() == 1 && indices[0] &&
      indices[0].type == ScalarType::Bool && values && values.size() == 1 &&
      !adds) {
    Val x = e.native(self.val), mask = e.native(indices[0].val);
    Shape shape = mask.shape();
    shape.resize(size_t(x.rank()), 1);
    return n.out(e.select(e.reshape(mask, shape), e.reshape(values, {}), x));
  }
  Indexed indexed;
  if (!readIndexed(n, indexed) || !values)
    return;
  Val x = e.native(self.val);
  Shape flat = {indexed.extent};
  llvm::append_range(flat, indexed.rest);
  Val turned = e.transpose(x, indexed.perm);
  Val rows = e.reshape(turned, flat);
  // The values broadcast to the result of reading, whose axes of indices are
  // moved to the front.
  auto count = int64_t(indexed.shape.size());
  Shape whole = indexed.rest;
  whole.insert(whole.begin() + indexed.place, indexed.shape.begin(),
               indexed.shape.end());
  values = e.broadcast(values, whole);
  if (indexed.place != 0) {
    Shape perm;
    for (int64_t axis = 0; axis != count; ++axis)
      perm.push_back(indexed.place + axis);
    for (int64_t axis = 0; axis != int64_t(whole.size()); ++axis)
      if (axis < indexed.place || axis >= indexed.place + count)
        perm.push_back(axis);
    values = e.transpose(values, perm);
  }
  if (!values)
    return;
  Shape rowsShape = {indexed.index.size()};
  llvm::append_range(rowsShape, indexed.rest);
  DType dtype = x.dtype(), wide = Emitter::wideOf(x);
  ScatterMode mode = adds ? ScatterMode::Add : ScatterMode::Update;
  Val result = e.make(ops::Scatter,
                      {e.cast(rows, wide),
                       e.reshape(indexed.index, {indexed.index.size()}),
                       e.cast(e.reshape(values, rowsShape), wide)},
                      {{param::axis, 0}, {param::scatterMode, mode}});
  result = e.reshape(e.cast(result, dtype), turned.shape());
  Shape back(indexed.perm.size(), 0);
  for (auto [to, from] : llvm::enumerate(indexed.perm))
    back[size_t(from)] = int64_t(to);
  n.out(e.transpose(result, back));
}

static void maskedScatter(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), source = n.in("source");
  Val mask = e.broadcast(n.in("mask"), x.shape());
  if (n.failed() || !mask || !source)
    return;
  // Each true element takes the next one of the source.
  Val flat = e.reshape(e.cast(mask, DType::Int32), {mask.size()});
  Val place = e.unary(ops::Cumsum, flat, {{param::axis, 0}});
  place = e.binary(ops::Maximum, e.add(place, -1), e.scalar(DType::Int32, 0));
  Val taken = e.gather(e.reshape(source, {source.size()}), place, 0);
  n.out(e.select(mask, e.reshape(taken, x.shape()), x));
}

static constexpr OpRow scatterTable[] = {
    {"aten.index_add.default", indexAdd},
    {"aten.index_copy.default", indexCopy},
    {"aten.index_fill.int_Scalar", indexFill},
    {"aten.index_put.default", indexPut, "masks must be known"},
    {"aten.masked_scatter.default", maskedScatter},
    {"aten.scatter.src", scatter},
    {"aten.scatter.value", scatter},
    {"aten.scatter_add.default", scatterAdd},
    {"aten.scatter_reduce.two", scatterReduce, "not the mean"},
};

llvm::ArrayRef<OpRow> torch::scatterRows() { return scatterTable; }
