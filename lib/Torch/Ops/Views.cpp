//===- Views.cpp - shapes and views ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include <numeric>

using namespace anec;
using namespace anec::torch;

/// `shape`, and the axis of real and imaginary parts of complex numbers.
static Shape whole(Shape shape, ScalarType type) {
  if (isComplex(type))
    shape.push_back(2);
  return shape;
}

/// Whether the operand has an axis at all; an error if not.
static bool hasAxis(Node &n, const Item &x) {
  if (x.val.rank() - isComplex(x.type) > 0)
    return true;
  n.fail("its input has no axes");
  return false;
}

/// The axes, without that of complex numbers.
static int64_t rankOf(const Item &x) {
  return x.val.rank() - isComplex(x.type);
}

static void giveReshaped(Node &n, Shape shape) {
  if (n.failed())
    return;
  Item x = n.item("self");
  shape = whole(shape, x.type);
  std::optional<int64_t> size = checkedNumElements(shape);
  if (!size || *size != x.val.size())
    return n.fail("a tensor of shape " + shapeToString(x.val.shape()) +
                  " cannot have the shape " + shapeToString(shape));
  n.out(n.e.reshape(x.val, shape));
}

static void identity(Node &n) {
  n.out(n.e.native(n.item(n.has("self") ? "self" : "input").val));
}

/// The given shape, with -1 replaced.
static void view(Node &n) {
  Shape shape = n.ints(n.has("size") ? "size" : "shape");
  Item x = n.item("self");
  int64_t others = 1, size = x.val.size() / (isComplex(x.type) ? 2 : 1);
  for (int64_t extent : shape)
    if (extent != -1 && llvm::MulOverflow(others, extent, others))
      return n.fail("the shape is too large");
  for (int64_t &extent : shape)
    if (extent == -1)
      extent = others > 0 ? size / others : 0;
  giveReshaped(n, shape);
}

static void viewAs(Node &n) { giveReshaped(n, n.item("other").val.shape()); }

static void flatten(Node &n) {
  Item x = n.item("self");
  int64_t rank = rankOf(x);
  int64_t first = n.axis("start_dim", rank), last = n.axis("end_dim", rank);
  if (n.failed())
    return;
  Shape shape;
  for (int64_t axis = 0; axis != rank; ++axis) {
    if (axis > first && axis <= last)
      shape.back() *= x.val.dim(axis);
    else
      shape.push_back(x.val.dim(axis));
  }
  if (rank == 0)
    shape = {1};
  giveReshaped(n, shape);
}

static void unflatten(Node &n) {
  Item x = n.item("self");
  int64_t axis = n.axis("dim", rankOf(x));
  Shape sizes = n.ints("sizes");
  if (n.failed() || rankOf(x) == 0)
    return;
  int64_t others = 1;
  for (int64_t extent : sizes)
    if (extent != -1)
      others *= extent;
  for (int64_t &extent : sizes)
    if (extent == -1)
      extent = others > 0 ? x.val.dim(axis) / others : 0;
  Shape shape = x.val.shape();
  if (isComplex(x.type))
    shape.pop_back();
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, sizes.begin(), sizes.end());
  giveReshaped(n, shape);
}

/// Without the listed axes of extent 1; others stay.
static void squeeze(Node &n) {
  Item x = n.item("self");
  int64_t rank = rankOf(x);
  bool all = !n.has("dim");
  Shape axes, shape;
  if (!all)
    for (int64_t axis : n.ints("dim"))
      axes.push_back(n.normalized(axis, rank));
  for (int64_t axis = 0; axis != rank; ++axis) {
    int64_t extent = x.val.dim(axis);
    if (extent != 1 || !(all || llvm::is_contained(axes, axis)))
      shape.push_back(extent);
  }
  giveReshaped(n, shape);
}

static void unsqueeze(Node &n) {
  Item x = n.item("self");
  int64_t rank = rankOf(x), axis = n.axis("dim", rank + 1);
  if (n.failed())
    return;
  Shape shape = x.val.shape();
  if (isComplex(x.type))
    shape.pop_back();
  shape.insert(shape.begin() + axis, 1);
  giveReshaped(n, shape);
}

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

static void giveExpanded(Node &n, Shape shape) {
  Emitter &e = n.e;
  Item x = n.item("self");
  int64_t added = int64_t(shape.size()) - rankOf(x);
  for (auto [axis, extent] : llvm::enumerate(shape))
    if (extent == -1 && int64_t(axis) >= added)
      extent = x.val.shape()[axis - size_t(added)];
  if (!n.failed())
    n.out(e.broadcast(x.val, whole(shape, x.type)));
}

static void expand(Node &n) { giveExpanded(n, n.ints("size")); }
static void expandAs(Node &n) { giveExpanded(n, n.item("other").val.shape()); }

static void repeat(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape repeats = n.ints(n.has("repeats") ? "repeats" : "dims");
  if (n.failed())
    return;
  // `tile` adds ones in front; `repeat` has a number for each axis.
  if (int64_t(repeats.size()) < x.rank())
    repeats.insert(repeats.begin(), size_t(x.rank()) - repeats.size(), 1);
  Shape shape(repeats.size() - size_t(x.rank()), 1);
  llvm::append_range(shape, x.shape());
  if (llvm::any_of(repeats, [](int64_t count) {
        return count < 0 || count > INT32_MAX;
      }))
    return n.fail("`repeats` must be from 0 to 2147483647");
  if (llvm::is_contained(repeats, 0)) {
    for (auto [extent, count] : llvm::zip_equal(shape, repeats))
      extent *= count;
    return n.out(e.filled(x.dtype(), shape, 0));
  }
  DType wide = x.dtype() == DType::Bool ? DType::Bool : Emitter::wideOf(x);
  Val tiled = e.make(ops::Tile, {e.cast(e.reshape(x, shape), wide)},
                     {{param::reps, repeats}});
  n.out(e.cast(tiled, x.dtype()));
}

/// Each element as often as `repeats`, beside itself.
static void repeatInterleave(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  int64_t count = n.integer("repeats"), axis = 0;
  if (n.has("dim"))
    axis = n.axis("dim", x.rank());
  else
    x = e.reshape(x, {x.size()});
  if (n.failed() || x.rank() == 0 || count < 1)
    return n.fail("its result has no elements");
  Shape wide = x.shape(), shape = x.shape();
  wide.insert(wide.begin() + axis + 1, 1);
  Val parts = e.reshape(x, wide);
  wide[size_t(axis + 1)] = count;
  shape[size_t(axis)] *= count;
  n.out(e.reshape(e.broadcast(parts, wide), shape));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

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

/// The elements of `self`, as it lies in order, that a view by strides has;
/// nothing after an error.
static std::optional<Shape> stridedIndices(Node &n, const Shape &shape) {
  Val x = n.in("self");
  Shape strides = n.ints("stride");
  int64_t offset = n.has("storage_offset") ? n.integer("storage_offset") : 0;
  const TensorMeta *meta = n.around().metaOf(n.argument("self").text);
  auto fail = [&](const char *why) {
    n.fail(why);
    return std::nullopt;
  };
  if (n.failed() || !meta || shape.size() != strides.size() ||
      !n.e.affords(shape))
    return fail("its view is not known");
  // Right only where the input lies in order.
  int64_t expected = 1;
  for (size_t axis = meta->strides.size(); axis-- != 0;) {
    if (!meta->strides[axis].value ||
        (x.shape()[axis] != 1 && *meta->strides[axis].value != expected))
      return fail("its input does not lie in order");
    expected *= x.shape()[axis];
  }
  Shape indices, place(shape.size(), 0);
  int64_t count = checkedNumElements(shape).value_or(0);
  for (int64_t i = 0; i != count; ++i) {
    int64_t at = offset;
    for (size_t axis = 0; axis != shape.size(); ++axis)
      at += place[axis] * strides[axis];
    if (at < 0 || at >= x.size())
      return fail("its view leaves the input");
    indices.push_back(at);
    for (size_t axis = shape.size(); axis-- != 0;) {
      if (++place[axis] != shape[axis])
        break;
      place[axis] = 0;
    }
  }
  return indices;
}

static void asStrided(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape shape = n.ints("size");
  std::optional<Shape> indices = stridedIndices(n, shape);
  if (!indices)
    return;
  Val flat = e.reshape(x, {x.size()});
  n.out(e.reshape(e.gather(flat, e.list(*indices), 0), shape));
}

static void asStridedScatter(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self"), src = n.in("src");
  std::optional<Shape> indices = stridedIndices(n, n.ints("size"));
  if (!indices || n.failed())
    return;
  if (int64_t(indices->size()) != src.size())
    return n.fail("its view has another size than `src`");
  Shape sorted = *indices;
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return n.fail("elements of its view overlap");
  Val flat = e.make(ops::ScatterAlongAxis,
                    {e.reshape(x, {x.size()}), e.list(*indices),
                     e.reshape(src, {src.size()})},
                    {{param::axis, 0}, {param::mode, "update"}});
  n.out(e.reshape(flat, x.shape()));
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

/// The real and the imaginary parts, which are an axis already.
static void sameElements(Node &n) { n.out(n.e.native(n.item("self").val)); }

static void joinParts(Node &n) {
  Emitter &e = n.e;
  Val real = n.in("real"), imaginary = n.in("imag");
  std::optional<Shape> shape = broadcastShapes(real.shape(), imaginary.shape());
  if (n.failed() || !shape)
    return n.fail("its parts do not broadcast");
  Shape wide = *shape;
  wide.push_back(1);
  Val left = e.reshape(e.broadcast(real, *shape), wide);
  n.out(e.concat({left, e.reshape(e.broadcast(imaginary, *shape), wide)}, -1));
}

template <int Part>
static void partOf(Node &n) {
  Item x = n.item("self");
  if (!isComplex(x.type))
    return Part == 0 ? n.out(n.e.native(x.val)) : n.fail("it is real");
  if (n.failed())
    return;
  Shape shape = x.val.shape();
  shape.pop_back();
  n.out(n.e.reshape(n.e.slice(x.val, -1, Part, Part + 1), shape));
}

static void broadcastAll(Node &n) {
  std::vector<Item> items = n.items("tensors");
  std::optional<Shape> shape = Shape();
  for (const Item &item : items)
    shape = shape ? broadcastShapes(*shape, item.val.shape()) : std::nullopt;
  if (!shape)
    return n.fail("the shapes do not broadcast");
  Vals results;
  for (const Item &item : items)
    results.push_back(n.e.broadcast(item.val, *shape));
  n.outList(results);
}

static void meshgrid(Node &n) {
  Emitter &e = n.e;
  std::vector<Item> items = n.items("tensors");
  bool swaps =
      n.has("indexing") && n.text("indexing") == "xy" && items.size() >= 2;
  if (swaps)
    std::swap(items[0], items[1]);
  Shape shape;
  for (const Item &item : items)
    shape.push_back(item.val.size());
  Vals results;
  for (auto [axis, item] : llvm::enumerate(items)) {
    Shape own(items.size(), 1);
    own[axis] = item.val.size();
    Val grid = e.broadcast(e.reshape(item.val, own), shape);
    results.push_back(grid);
  }
  if (swaps)
    std::swap(results[0], results[1]);
  n.outList(results);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow rows[] = {
    {"aten._unsafe_view.default", view, "", true},
    {"aten.alias.default", identity, "", true},
    {"aten.alias_copy.default", identity, "", true},
    {"aten.as_strided.default", asStrided, "only of what lies in order"},
    {"aten.as_strided_scatter.default", asStridedScatter,
     "only of what lies in order"},
    {"aten.broadcast_tensors.default", broadcastAll},
    {"aten.broadcast_to.default", expand},
    {"aten.chunk.default", chunk, "", true},
    {"aten.clone.default", identity, "", true},
    {"aten.complex.default", joinParts},
    {"aten.contiguous.default", identity, "", true},
    {"aten.detach.default", identity, "", true},
    {"aten.detach_.default", identity, "", true},
    {"aten.detach_copy.default", identity, "", true},
    {"aten.diagonal.default", diagonal},
    {"aten.expand.default", expand, "", true},
    {"aten.expand_as.default", expandAs},
    {"aten.flatten.using_ints", flatten, "", true},
    {"aten.flip.default", flip},
    {"aten.imag.default", partOf<1>, "", true},
    {"aten.lift_fresh_copy.default", identity, "", true},
    {"aten.mT.default", transposeLast},
    {"aten.meshgrid.default", meshgrid},
    {"aten.meshgrid.indexing", meshgrid},
    {"aten.movedim.int", moveAxis, "", true},
    {"aten.movedim.intlist", moveAxis, "", true},
    {"aten.narrow.default", narrow, "", true},
    {"aten.numpy_T.default", reverseAxes, "", true},
    {"aten.permute.default", permute, "", true},
    {"aten.positive.default", identity},
    {"aten.real.default", partOf<0>, "", true},
    {"aten.repeat.default", repeat},
    {"aten.repeat_interleave.self_int", repeatInterleave},
    {"aten.reshape.default", view, "", true},
    {"aten.reshape_as.default", viewAs},
    {"aten.resolve_conj.default", identity, "", true},
    {"aten.resolve_neg.default", identity, "", true},
    {"aten.roll.default", roll},
    {"aten.select.int", select, "", true},
    {"aten.slice.Tensor", slice, "the bounds must be known", true},
    {"aten.split.Tensor", split, "", true},
    {"aten.split.sizes", splitSizes, "", true},
    {"aten.split_with_sizes.default", splitSizes, "", true},
    {"aten.squeeze.default", squeeze, "", true},
    {"aten.squeeze.dim", squeeze, "", true},
    {"aten.squeeze.dims", squeeze, "", true},
    {"aten.swapaxes.default", swapaxes, "", true},
    {"aten.t.default", transposeLast, "", true},
    {"aten.tensor_split.indices", tensorSplit, "", true},
    {"aten.tensor_split.sections", tensorSplit, "", true},
    {"aten.tile.default", repeat},
    {"aten.transpose.int", transpose, "", true},
    {"aten.unbind.int", unbind, "", true},
    {"aten.unflatten.int", unflatten, "", true},
    {"aten.unfold.default", unfold},
    {"aten.unsqueeze.default", unsqueeze, "", true},
    {"aten.view.default", view, "", true},
    {"aten.view_as.default", viewAs},
    {"aten.view_as_complex.default", sameElements, "", true},
    {"aten.view_as_real.default", sameElements, "", true},
};

llvm::ArrayRef<OpRow> torch::viewRows() { return rows; }
