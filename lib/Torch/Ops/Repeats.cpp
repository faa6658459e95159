//===- Repeats.cpp - elements several times -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Views.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::torch;

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

static constexpr OpRow repeatTable[] = {
    {"aten.broadcast_tensors.default", broadcastAll},
    {"aten.broadcast_to.default", expand},
    {"aten.expand.default", expand, "", true},
    {"aten.expand_as.default", expandAs},
    {"aten.meshgrid.default", meshgrid},
    {"aten.meshgrid.indexing", meshgrid},
    {"aten.repeat.default", repeat},
    {"aten.repeat_interleave.self_int", repeatInterleave},
    {"aten.tile.default", repeat},
};

llvm::ArrayRef<OpRow> torch::repeatRows() { return repeatTable; }
