//===- Reduction.cpp - reductions -----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Reverse.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

/// Reductions with the axes in an input since version `Since`.
template <const OpDef &Def, int Since>
static void reduce(Node &node) {
  Val x = node.in(0);
  bool keep = node.attr("keepdims", 1) != 0;
  bool nothing =
      node.opset() >= Since && node.attr("noop_with_empty_axes", 0) != 0;
  Shape axes = node.axes(1, Since, x.rank(), !nothing);
  if (node.failed())
    return;
  // Nothing is summed, and the rest of the function remains.
  if (axes.empty() &&
      (&Def == &ops::ReduceL1Norm || &Def == &ops::ReduceL2Norm))
    return node.out(node.e.unary(ops::Abs, x));
  if (axes.empty() && &Def == &ops::ReduceSumSquare)
    return node.out(node.e.mul(x, x));
  if (axes.empty() && &Def == &ops::ReduceLogSum)
    return node.out(node.e.unary(
        ops::Log, x,
        {{param::epsilon, Constant::scalar(Emitter::wideOf(x), 0)}}));
  if (axes.empty())
    return node.out(x);
  node.out(node.e.reduce(Def, x, axes, keep));
}

template <const OpDef &Def>
static void argument(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  int64_t axis = node.axis(0, x.rank());
  if (node.failed())
    return;
  bool keep = node.attr("keepdims", 1) != 0;
  bool last = node.attr("select_last_index", 0) != 0;
  Val from = e.cast(x, Emitter::wideOf(x));
  if (last)
    from = e.make(ops::Reverse, {from}, {{param::axes, {axis}}});
  Val index =
      e.make(Def, {from}, {{param::axis, axis}, {param::keepDims, keep}});
  if (last)
    index = e.sub(e.scalar(DType::Int32, double(x.dim(axis) - 1)), index);
  node.out(index);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow reductionTable[] = {
    {"ArgMax", argument<ops::ReduceArgmax>},
    {"ArgMin", argument<ops::ReduceArgmin>},
    {"ReduceL1", reduce<ops::ReduceL1Norm, 18>},
    {"ReduceL2", reduce<ops::ReduceL2Norm, 18>},
    {"ReduceLogSum", reduce<ops::ReduceLogSum, 18>},
    {"ReduceLogSumExp", reduce<ops::ReduceLogSumExp, 18>},
    {"ReduceMax", reduce<ops::ReduceMax, 18>},
    {"ReduceMean", reduce<ops::ReduceMean, 18>},
    {"ReduceMin", reduce<ops::ReduceMin, 18>},
    {"ReduceProd", reduce<ops::ReduceProd, 18>},
    {"ReduceSum", reduce<ops::ReduceSum, 13>},
    {"ReduceSumSquare", reduce<ops::ReduceSumSquare, 18>},
};

llvm::ArrayRef<OpRow> onnx::reductionRows() { return reductionTable; }
