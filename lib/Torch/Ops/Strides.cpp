//===- Strides.cpp - views by strides -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Scatter.h"

using namespace anec;
using namespace anec::torch;

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
  Val flat =
      e.make(ops::ScatterAlongAxis,
             {e.reshape(x, {x.size()}), e.list(*indices),
              e.reshape(src, {src.size()})},
             {{param::axis, 0}, {param::scatterMode, ScatterMode::Update}});
  n.out(e.reshape(flat, x.shape()));
}

static constexpr OpRow strideTable[] = {
    {"aten.as_strided.default", asStrided, "only of what lies in order"},
    {"aten.as_strided_scatter.default", asStridedScatter,
     "only of what lies in order"},
};

llvm::ArrayRef<OpRow> torch::strideRows() { return strideTable; }
