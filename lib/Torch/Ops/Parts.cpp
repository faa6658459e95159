//===- Parts.cpp - parts of tensors ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Views.h"

using namespace anec;
using namespace anec::torch;

static void select(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x)), extent = x.val.dim(axis);
  const Argument &given = n.argument("index");
  Shape shape = x.val.shape();
  shape.erase(shape.begin() + axis);
  if (given.kind == Argument::Kind::Value && !n.item("index").val.isKnown()) {
    Val index = e.reshape(n.in("index"), {1});
    return n.out(e.reshape(e.gather(x.val, index, axis), shape));
  }
  int64_t index = n.integer("index");
  index = index < 0 ? index + extent : index;
  if (n.failed() || index < 0 || index >= extent)
    return n.fail("there is no such index");
  n.out(e.reshape(e.slice(x.val, axis, index, index + 1), shape));
}

/// The bounds of a slice, in the extent of its axis.
static std::pair<int64_t, int64_t> bounds(Node &n, int64_t extent) {
  auto position = [&](StringRef name, int64_t fallback) {
    int64_t at = n.has(name) ? n.integer(name) : fallback;
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  return {position("start", 0), position("end", extent)};
}

static void slice(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x));
  auto [begin, end] = bounds(n, x.val.dim(axis));
  int64_t step = n.integer("step");
  if (n.failed() || step < 1)
    return n.fail("its step is not positive");
  if (begin >= end || x.val.size() == 0) {
    // What has no elements is known.
    Shape shape = x.val.shape();
    shape[size_t(axis)] = begin >= end ? 0 : (end - begin - 1) / step + 1;
    return n.out(e.empty(x.val.dtype(), shape));
  }
  n.out(e.slice(x.val, axis, begin, end, step));
}

static void narrow(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x)), begin = n.integer("start");
  if (begin < 0)
    begin += x.val.dim(axis);
  int64_t end = begin + n.integer("length");
  if (!n.failed())
    n.out(n.e.slice(x.val, axis, begin, end));
}

/// Parts of these extents, along an axis.
static void giveParts(Node &n, const Item &x, int64_t axis,
                      llvm::ArrayRef<int64_t> sizes) {
  Vals parts;
  int64_t begin = 0;
  for (int64_t size : sizes) {
    Shape shape = x.val.shape();
    shape[size_t(axis)] = size;
    parts.push_back(size == 0 ? n.e.empty(x.val.dtype(), shape)
                              : n.e.slice(x.val, axis, begin, begin + size));
    begin += size;
    if (!parts.back())
      return;
  }
  n.outList(parts);
}

static void splitSizes(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x));
  giveParts(n, x, axis,
            n.ints(n.has("split_sizes") ? "split_sizes" : "split_size"));
}

static Shape equalParts(int64_t extent, int64_t size) {
  Shape sizes;
  for (int64_t left = extent; left > 0 && size > 0; left -= size)
    sizes.push_back(std::min(left, size));
  return sizes;
}

static void split(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x));
  giveParts(n, x, axis, equalParts(x.val.dim(axis), n.integer("split_size")));
}

static void chunk(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x)), count = n.integer("chunks");
  int64_t extent = x.val.dim(axis);
  if (!n.failed() && count > 0)
    giveParts(n, x, axis, equalParts(extent, (extent + count - 1) / count));
}

/// At places of an axis, or into a number of parts, of which the first have an
/// element more.
static void tensorSplit(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x)), extent = x.val.dim(axis);
  Shape sizes;
  if (n.has("sections")) {
    int64_t count = n.integer("sections");
    constexpr int64_t most = 4096;
    if (n.failed() || count < 1 || count > most)
      return n.fail("its number of parts is none");
    for (int64_t i = 0; i != count; ++i)
      sizes.push_back(extent / count + (i < extent % count));
  } else {
    int64_t begin = 0;
    for (int64_t place : n.ints("indices")) {
      int64_t end =
          std::clamp<int64_t>(place < 0 ? place + extent : place, 0, extent);
      sizes.push_back(std::max<int64_t>(end - begin, 0));
      if (end < begin)
        return n.fail("its places do not grow");
      begin = end;
    }
    sizes.push_back(extent - begin);
  }
  giveParts(n, x, axis, sizes);
}

static void unbind(Node &n) {
  Item x = n.item("self");
  if (!hasAxis(n, x))
    return;
  int64_t axis = n.axis("dim", rankOf(x));
  Shape shape = x.val.shape();
  int64_t count = shape[size_t(axis)];
  shape.erase(shape.begin() + axis);
  Vals parts;
  for (int64_t i = 0; i != count; ++i)
    parts.push_back(n.e.reshape(n.e.slice(x.val, axis, i, i + 1), shape));
  n.outList(parts);
}

/// Windows of an axis, which become the last axis.
static void unfold(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t axis = n.axis("dimension", x.rank()), size = n.integer("size"),
          step = n.integer("step");
  if (n.failed() || x.rank() == 0 || size < 1 || step < 1 || size > x.dim(axis))
    return n.fail("its window does not fit");
  int64_t count = (x.dim(axis) - size) / step + 1;
  Shape indices;
  for (int64_t window = 0; window != count; ++window)
    for (int64_t i = 0; i != size; ++i)
      indices.push_back(window * step + i);
  Val all = e.gather(x, e.list(indices), axis);
  Shape shape = x.shape(), perm;
  shape[size_t(axis)] = count;
  shape.insert(shape.begin() + axis + 1, size);
  for (int64_t i = 0; i != x.rank() + 1; ++i)
    if (i != axis + 1)
      perm.push_back(i);
  perm.push_back(axis + 1);
  n.out(e.transpose(e.reshape(all, shape), perm));
}

/// The elements at (i, i + offset), which become the last axis.
static void diagonal(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t first = n.axis("dim1", x.rank()), second = n.axis("dim2", x.rank());
  int64_t offset = n.integer("offset");
  if (n.failed() || first == second)
    return n.fail("its axes are one");
  Shape perm;
  for (int64_t i = 0; i != x.rank(); ++i)
    if (i != first && i != second)
      perm.push_back(i);
  llvm::append_range(perm, llvm::ArrayRef<int64_t>{first, second});
  Val turned = e.transpose(x, perm);
  int64_t rows = turned.dim(-2), columns = turned.dim(-1);
  Shape flat(turned.shape().begin(), turned.shape().end() - 2), indices;
  flat.push_back(rows * columns);
  for (int64_t row = 0; row != rows; ++row)
    if (row + offset >= 0 && row + offset < columns)
      indices.push_back(row * columns + row + offset);
  if (indices.empty())
    return n.fail("its result has no elements");
  n.out(e.gather(e.reshape(turned, flat), e.list(indices), -1));
}

static constexpr OpRow partTable[] = {
    {"aten.chunk.default", chunk, "", true},
    {"aten.diagonal.default", diagonal},
    {"aten.narrow.default", narrow, "", true},
    {"aten.select.int", select, "", true},
    {"aten.slice.Tensor", slice, "the bounds must be known", true},
    {"aten.split.Tensor", split, "", true},
    {"aten.split.sizes", splitSizes, "", true},
    {"aten.split_with_sizes.default", splitSizes, "", true},
    {"aten.tensor_split.indices", tensorSplit, "", true},
    {"aten.tensor_split.sections", tensorSplit, "", true},
    {"aten.unbind.int", unbind, "", true},
    {"aten.unfold.default", unfold},
};

llvm::ArrayRef<OpRow> torch::partRows() { return partTable; }
