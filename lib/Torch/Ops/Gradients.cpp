//===- Gradients.cpp - operators of backward graphs -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// PyTorch writes forward and backward as one program. Most of its backward is
/// made of the operators that forwards have. Those that it has for convolutions
/// and windows are the gradients of the forward's op, by the rule of its row.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Scatter.h"

using namespace anec;
using namespace anec::torch;

/// (before, after) of each axis.
static Shape bothSides(const Shape &padding) {
  Shape pads;
  for (int64_t pad : padding)
    pads.append({pad, pad});
  return pads;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static void convolutionBackward(Node &n) {
  Emitter &e = n.e;
  Val dy = n.in("grad_output"), x = n.in("input"), weight = n.in("weight");
  size_t count = size_t(std::max<int64_t>(weight.rank() - 2, 0));
  Shape strides = n.spatial("stride", count),
        pads = bothSides(n.spatial("padding", count)),
        dilations = n.spatial("dilation", count);
  bool transposed = n.flag("transposed");
  llvm::SmallVector<bool> wanted = n.flags("output_mask");
  int64_t groups = n.integer("groups");
  n.ignore("bias_sizes");
  n.ignore("output_padding"); // the gradient's shape says it
  if (n.failed() || !dy || !x || !weight)
    return;
  if (x.rank() != weight.rank() || wanted.size() != 3)
    return n.fail("its input must have an axis of batches");
  llvm::SmallVector<Attr, 6> attrs = {
      {param::strides, llvm::ArrayRef<int64_t>(strides)},
      {param::padType, PadType::Custom},
      {param::pad, llvm::ArrayRef<int64_t>(pads)},
      {param::dilations, llvm::ArrayRef<int64_t>(dilations)},
      {param::groups, groups}};
  if (transposed)
    attrs.emplace_back(param::outputShape, llvm::ArrayRef<int64_t>(dy.shape()));
  Vals gradients = e.gradients(transposed ? ops::ConvTranspose : ops::Conv,
                               {x, weight}, attrs, dy, {wanted[0], wanted[1]});
  for (size_t i = 0; i != gradients.size(); ++i)
    if (wanted[i] && n.wants(i))
      n.out(i, gradients[i]);
  if (!wanted[2] || !n.wants(2))
    return;
  Shape allButChannels = {0};
  for (int64_t axis = 2; axis < dy.rank(); ++axis)
    allButChannels.push_back(axis);
  n.out(2, e.reduce(ops::ReduceSum, dy, allButChannels, false));
}

//===----------------------------------------------------------------------===//
// Poolings
//===----------------------------------------------------------------------===//

/// A tensor without an axis of batches gets one: of rank `count` + 2.
static Val withBatchAxis(Emitter &e, Val x, size_t count) {
  Shape shape(size_t(std::max<int64_t>(int64_t(count) + 2 - x.rank(), 0)), 1);
  llvm::append_range(shape, x.shape());
  return e.reshape(x, shape);
}

template <size_t Count>
static void averagePoolBackward(Node &n) {
  Emitter &e = n.e;
  Val dy = n.in("grad_output"), x = n.in("self");
  Shape kernel = n.spatial("kernel_size", Count);
  Shape strides =
      n.ints("stride").empty() ? kernel : n.spatial("stride", Count);
  Shape pads = bothSides(n.spatial("padding", Count));
  bool ceils = n.flag("ceil_mode"), counts = n.flag("count_include_pad");
  if (n.has("divisor_override")) {
    // The sum is what the average with all padding has, times the window.
    double window = 1;
    for (int64_t extent : kernel)
      window *= double(extent);
    dy = e.mul(dy, window / n.number("divisor_override"));
    counts = true;
    if (ceils)
      return n.fail("`divisor_override` with `ceil_mode`");
  }
  if (n.failed() || !dy || !x)
    return;
  Vals gradients =
      e.gradients(ops::AvgPool, {withBatchAxis(e, x, Count)},
                  {{param::kernelSizes, llvm::ArrayRef<int64_t>(kernel)},
                   {param::strides, llvm::ArrayRef<int64_t>(strides)},
                   {param::padType, PadType::Custom},
                   {param::pad, llvm::ArrayRef<int64_t>(pads)},
                   {param::excludePaddingFromAverage, !counts},
                   {param::ceilMode, ceils}},
                  withBatchAxis(e, dy, Count), {true});
  n.out(e.reshape(gradients.front(), x.shape()));
}

/// Each gradient goes to the element that its window took.
template <size_t Count>
static void maxPoolBackward(Node &n) {
  Emitter &e = n.e;
  Val dy = n.in("grad_output"), x = n.in("self"), indices = n.in("indices");
  for (StringRef form :
       {"kernel_size", "stride", "padding", "dilation", "ceil_mode"})
    n.ignore(form);
  if (n.failed() || !dy || !x || !indices)
    return;
  if (x.rank() < int64_t(Count) + 1 || indices.shape() != dy.shape())
    return n.fail("its indices are not of the windows of its input");
  int64_t plane = 1, windows = 1;
  for (size_t axis = 1; axis <= Count; ++axis) {
    plane *= x.dim(-int64_t(axis));
    windows *= dy.dim(-int64_t(axis));
  }
  int64_t planes = x.size() / std::max<int64_t>(plane, 1);
  if (planes * windows != dy.size())
    return n.fail("its gradient is not of the windows of its input");
  Val spread = e.make(
      ops::ScatterAlongAxis,
      {e.filled(dy.dtype(), {planes, plane}, 0),
       e.reshape(indices, {planes, windows}), e.reshape(dy, {planes, windows})},
      {{param::axis, 1}, {param::scatterMode, ScatterMode::Add}});
  n.out(e.reshape(spread, x.shape()));
}

static constexpr OpRow gradientTable[] = {
    {"aten.avg_pool2d_backward.default", averagePoolBackward<2>},
    {"aten.avg_pool3d_backward.default", averagePoolBackward<3>},
    {"aten.convolution_backward.default", convolutionBackward},
    {"aten.max_pool2d_with_indices_backward.default", maxPoolBackward<2>},
    {"aten.max_pool3d_with_indices_backward.default", maxPoolBackward<3>},
};

llvm::ArrayRef<OpRow> torch::gradientRows() { return gradientTable; }
