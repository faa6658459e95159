//===- Views.cpp - the same elements in another shape ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Views.h"
#include "../Families.h"

using namespace anec;
using namespace anec::torch;

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

static constexpr OpRow viewTable[] = {
    {"aten._unsafe_view.default", view, "", true},
    {"aten.alias.default", identity, "", true},
    {"aten.alias_copy.default", identity, "", true},
    {"aten.clone.default", identity, "", true},
    {"aten.contiguous.default", identity, "", true},
    {"aten.detach.default", identity, "", true},
    {"aten.detach_.default", identity, "", true},
    {"aten.detach_copy.default", identity, "", true},
    {"aten.flatten.using_ints", flatten, "", true},
    {"aten.lift_fresh_copy.default", identity, "", true},
    {"aten.positive.default", identity},
    {"aten.reshape.default", view, "", true},
    {"aten.reshape_as.default", viewAs},
    {"aten.resolve_conj.default", identity, "", true},
    {"aten.resolve_neg.default", identity, "", true},
    {"aten.squeeze.default", squeeze, "", true},
    {"aten.squeeze.dim", squeeze, "", true},
    {"aten.squeeze.dims", squeeze, "", true},
    {"aten.unflatten.int", unflatten, "", true},
    {"aten.unsqueeze.default", unsqueeze, "", true},
    {"aten.view.default", view, "", true},
    {"aten.view_as.default", viewAs},
};

llvm::ArrayRef<OpRow> torch::viewRows() { return viewTable; }
