//===- Gather.cpp - elements selected by indices --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Gather.h"
#include "../Families.h"
#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Indices.h"

using namespace anec;
using namespace anec::onnx;

static void readGather(Node &n) {
  Val x = n.in(0), indices = n.in(1);
  if (!x || !indices)
    return;
  if (x.rank() == 0)
    return n.fail("`Gather` needs an axis");
  int64_t axis = n.axis(0, x.rank());
  if (!n.failed() && checkIndices(n, indices, x.dim(axis)))
    n.out(n.e.gather(x, indices, axis));
}

static void readGatherElements(Node &n) {
  Val x = n.in(0), indices = n.in(1);
  if (!x || !indices)
    return;
  if (x.rank() == 0 || x.rank() != indices.rank())
    return n.fail("indices must have the rank of the data");
  int64_t axis = n.axis(0, x.rank());
  if (n.failed() || !checkIndices(n, indices, x.dim(axis)))
    return;
  for (int64_t other = 0; other != x.rank(); ++other) {
    if (other == axis)
      continue;
    if (indices.dim(other) > x.dim(other))
      return n.fail("indices have more positions than the data at axis " +
                    llvm::Twine(other));
    x = n.e.slice(x, other, 0, indices.dim(other));
  }
  n.out(n.e.make(ops::GatherAlongAxis, {x, indices}, {{param::axis, axis}}));
}

static void readGatherND(Node &n) {
  Val x = n.in(0), indices = n.in(1);
  int64_t batch = n.attr("batch_dims", 0);
  if (x && indices)
    n.out(n.e.make(ops::GatherNd, {x, indices}, {{param::batchDims, batch}}));
}

/// Elements where the condition, which must be known, is true.
static void readCompress(Node &n) {
  Val x = n.in(0);
  ConstantRef condition = n.known(1);
  if (!x || !condition)
    return;
  int64_t axis = 0;
  if (n.hasAttr("axis"))
    axis = n.axis(0, x.rank());
  else
    x = n.e.reshape(x, {x.size()});
  Shape chosen;
  for (int64_t i = 0; i != condition->numElements(); ++i)
    if (condition->doubleAt(i) != 0)
      chosen.push_back(i);
  if (n.failed())
    return;
  if (!chosen.empty() && chosen.back() >= x.dim(axis))
    return n.fail("the condition is longer than the axis");
  if (chosen.empty()) {
    Shape none = x.shape();
    none[size_t(axis)] = 0;
    return n.out(n.e.empty(x.dtype(), none));
  }
  n.out(n.e.gather(x, n.e.list(chosen), axis));
}

static constexpr OpRow gatherTable[] = {
    {.name = "Compress",
     .read = readCompress,
     .since = 9,
     .limits = "the condition must be known"},
    {.name = "Gather", .read = readGather},
    {.name = "GatherElements", .read = readGatherElements, .since = 11},
    {.name = "GatherND", .read = readGatherND, .since = 11},
};

llvm::ArrayRef<OpRow> onnx::gatherRows() { return gatherTable; }
