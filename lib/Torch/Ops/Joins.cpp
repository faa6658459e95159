//===- Joins.cpp - tensors joined, and parts replaced ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::torch;

static void concatenate(Node &n) {
  Emitter &e = n.e;
  Vals parts;
  for (const Item &item : n.items("tensors")) {
    // A list without elements adds nothing, whatever the rank.
    if (item.val.rank() == 1 && item.val.size() == 0)
      continue;
    Val part = n.cast(item, n.outType());
    if (!part)
      return;
    parts.push_back(part);
  }
  if (parts.empty())
    return n.out(e.empty(nativeType(n.outType()), {0}));
  int64_t rank = parts.front().rank() - isComplex(n.outType());
  n.out(e.concat(parts, n.axis("dim", rank)));
}

static void stack(Node &n) {
  Emitter &e = n.e;
  Vals parts;
  for (const Item &item : n.items("tensors")) {
    Val part = n.cast(item, n.outType());
    int64_t rank = part.rank() - isComplex(n.outType());
    Shape shape = part.shape();
    shape.insert(shape.begin() + n.axis("dim", rank + 1), 1);
    parts.push_back(e.reshape(part, shape));
    if (!parts.back())
      return;
  }
  if (!n.failed() && !parts.empty())
    n.out(e.concat(
        parts, n.axis("dim", parts.front().rank() - isComplex(n.outType()))));
}

/// Rows beside or below each other; lists become rows first.
template <int64_t Axis>
static void stackAlong(Node &n) {
  Emitter &e = n.e;
  Vals parts;
  for (const Item &item : n.items("tensors")) {
    Val part = n.cast(item, n.outType());
    if (part.rank() == 0)
      part = e.reshape(part, {1});
    if (Axis == 0 && part.rank() == 1)
      part = e.reshape(part, {1, part.size()});
    parts.push_back(part);
  }
  if (!parts.empty())
    n.out(e.concat(parts, parts.front().rank() == 1 ? 0 : Axis));
}

/// `x` with elements `begin` to `end` of an axis replaced by `part`.
static Val replaced(Emitter &e, Val x, Val part, int64_t axis, int64_t begin,
                    int64_t end) {
  Vals parts;
  if (begin > 0)
    parts.push_back(e.slice(x, axis, 0, begin));
  parts.push_back(part);
  if (end < x.dim(axis))
    parts.push_back(e.slice(x, axis, end, x.dim(axis)));
  return e.concat(parts, axis);
}

static void selectScatter(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  Val part = n.cast(n.item("src"), x.type), whole = e.native(x.val);
  int64_t axis = n.axis("dim", whole.rank()), index = n.integer("index");
  if (index < 0)
    index += whole.dim(axis);
  if (n.failed() || !part || whole.rank() == 0)
    return;
  Shape shape = whole.shape();
  shape[size_t(axis)] = 1;
  Shape lower = shape;
  lower.erase(lower.begin() + axis);
  part = e.reshape(e.broadcast(part, lower), shape);
  n.out(replaced(e, whole, part, axis, index, index + 1));
}

static void sliceScatter(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  Val part = n.cast(n.item("src"), x.type), whole = e.native(x.val);
  int64_t axis = n.axis("dim", whole.rank()), extent = whole.dim(axis);
  auto position = [&](StringRef name, int64_t fallback) {
    int64_t at = n.has(name) ? n.integer(name) : fallback;
    return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
  };
  int64_t begin = position("start", 0), end = position("end", extent);
  int64_t step = n.integer("step");
  if (n.failed() || !part || step < 1 || whole.rank() == 0)
    return;
  int64_t count = begin < end ? (end - begin + step - 1) / step : 0;
  Shape shape = whole.shape();
  shape[size_t(axis)] = count;
  if (llvm::is_contained(shape, 0)) // there is nothing to replace
    return n.out(whole);
  part = e.broadcast(part, shape);
  if (step == 1)
    return n.out(replaced(e, whole, part, axis, begin, end));
  // One after the other.
  constexpr int64_t most = 4096;
  if (count > most)
    return n.fail("more than " + llvm::Twine(most) + " parts are replaced");
  for (int64_t i = 0; i != count && whole; ++i) {
    Val one = e.slice(part, axis, i, i + 1);
    whole =
        replaced(e, whole, one, axis, begin + i * step, begin + i * step + 1);
  }
  n.out(whole);
}

/// The elements at (i, i + offset) of two axes.
static void diagonalScatter(Node &n) {
  Emitter &e = n.e;
  Item x = n.item("self");
  Val part = n.cast(n.item("src"), x.type), whole = e.native(x.val);
  int64_t first = n.axis("dim1", whole.rank()),
          second = n.axis("dim2", whole.rank()), offset = n.integer("offset");
  if (n.failed() || first != whole.rank() - 2 || second != whole.rank() - 1)
    return n.fail("of other axes than the last two");
  int64_t rows = whole.dim(-2), columns = whole.dim(-1);
  if (!e.affords({rows, columns}))
    return n.fail("the matrices are too large");
  std::vector<double> mask;
  Shape source;
  int64_t begin = std::max<int64_t>(0, -offset), count = part.dim(-1);
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t column = 0; column != columns; ++column) {
      mask.push_back(column == row + offset);
      source.push_back(std::clamp<int64_t>(row - begin, 0, count - 1));
    }
  Val wide = e.gather(part, e.list(source), -1);
  wide = e.reshape(wide, whole.shape());
  Val keeps =
      e.constant(Constant::fromDoubles({DType::Bool, {rows, columns}}, mask));
  n.out(e.select(keeps, wide, whole));
}

static void copy(Node &n) {
  Item x = n.item("self");
  Val source = n.cast(n.item("src"), x.type);
  n.out(n.e.broadcast(source, x.val.shape()));
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Pairs from the last axis on, as ONNX has them: all begins, then all ends.
static void givePadded(Node &n, Shape pairs, StringRef mode, double value) {
  Val x = n.in("self");
  if (n.failed() || pairs.size() % 2 != 0 ||
      int64_t(pairs.size()) > 2 * x.rank())
    return n.fail("there must be two numbers for each axis that is padded");
  Shape pads(size_t(2 * x.rank()), 0);
  for (size_t i = 0; i != pairs.size() / 2; ++i) {
    size_t axis = size_t(x.rank()) - 1 - i;
    pads[axis] = pairs[2 * i];
    pads[size_t(x.rank()) + axis] = pairs[2 * i + 1];
  }
  ScalarType type = n.typeOf("self");
  n.out(OnnxNode(n, "Pad")
            .in(x)
            .in(n.e.list(pads))
            .in(n.number(type, value))
            .attr("mode", mode == "replicate"  ? StringRef("edge")
                          : mode == "circular" ? StringRef("wrap")
                                               : mode)
            .run());
}

static void pad(Node &n) {
  StringRef mode = n.text("mode");
  givePadded(n, n.ints("pad"), mode, n.has("value") ? n.number("value") : 0);
}

static void constantPad(Node &n) {
  givePadded(n, n.ints("pad"), "constant", n.number("value"));
}

static void reflectionPad(Node &n) {
  givePadded(n, n.ints("padding"), "reflect", 0);
}
static void replicationPad(Node &n) {
  givePadded(n, n.ints("padding"), "edge", 0);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow joinTable[] = {
    {"aten.cat.default", concatenate, "", true},
    {"aten.concat.default", concatenate},
    {"aten.constant_pad_nd.default", constantPad},
    {"aten.copy.default", copy},
    {"aten.diagonal_scatter.default", diagonalScatter, "of the last two axes"},
    {"aten.hstack.default", stackAlong<1>},
    {"aten.pad.default", pad},
    {"aten.reflection_pad1d.default", reflectionPad},
    {"aten.reflection_pad2d.default", reflectionPad},
    {"aten.reflection_pad3d.default", reflectionPad},
    {"aten.replication_pad1d.default", replicationPad},
    {"aten.replication_pad2d.default", replicationPad},
    {"aten.replication_pad3d.default", replicationPad},
    {"aten.select_scatter.default", selectScatter},
    {"aten.slice_scatter.default", sliceScatter},
    {"aten.stack.default", stack, "", true},
    {"aten.vstack.default", stackAlong<0>},
};

llvm::ArrayRef<OpRow> torch::joinRows() { return joinTable; }
