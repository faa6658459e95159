//===- Pooling.cpp - pooling ----------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pooling.h"
#include "../Choice.h"
#include "../Families.h"
#include "Windows.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {

/// The windows of a pooling op over a tensor, and their number along each axis.
struct Pooling {
  Windows windows;
  Shape extents;
  bool ceil = false;

  bool isPlain() const {
    return !ceil && llvm::all_of(windows.dilations, [](int64_t dilation) {
      return dilation == 1;
    });
  }
};

} // namespace

static int64_t reachOf(const Windows &windows, size_t axis) {
  return (windows.kernel[axis] - 1) * windows.dilations[axis] + 1;
}

static bool readPooling(Node &node, Val x, Pooling &pooling) {
  Windows &windows = pooling.windows;
  if (!hasPlane(node, x) ||
      !readWindows(node, node.attrInts("kernel_shape"), spatialOf(x), windows))
    return false;
  pooling.ceil = node.attr("ceil_mode", 0) != 0;
  for (auto [axis, extent] : llvm::enumerate(spatialOf(x))) {
    int64_t stride = windows.strides[axis];
    // What lies between windows is cut off in front by some, and by others not.
    if (isSame(choiceOf<AutoPad>(node, "auto_pad")) &&
        (extent - 1) / stride * stride + reachOf(windows, axis) + 1 < extent) {
      node.refuse("`auto_pad` of windows that are smaller than their stride");
      return false;
    }
    int64_t room = extent + windows.before[axis] + windows.after[axis] -
                   reachOf(windows, axis);
    if (room < 0) {
      node.fail("a window is larger than the input");
      return false;
    }
    int64_t count = room / stride + 1;
    // A window that begins in the padding at the end does not count.
    if (pooling.ceil && room % stride != 0 &&
        count * stride < extent + windows.before[axis])
      ++count;
    pooling.extents.push_back(count);
  }
  return true;
}

/// Pads `x` so that each window lies inside; with `inside`, the padding that
/// the attributes ask for differs from what the last windows add.
static Val paddedWindows(Emitter &e, Val x, const Pooling &pooling,
                         double outside, double inside) {
  const Windows &windows = pooling.windows;
  auto pad = [&](Val x, Shape before, Shape after, double value) {
    Shape pads(4, 0);
    for (size_t i = 0; i != before.size(); ++i) {
      pads.push_back(before[i]);
      pads.push_back(std::max<int64_t>(0, after[i]));
    }
    if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
      return x;
    return e.make(ops::Pad, {x},
                  {{param::pad, pads},
                   {param::padMode, PadMode::Constant},
                   {param::constantVal, Constant::scalar(x.dtype(), value)}});
  };
  Shape none(windows.kernel.size(), 0), more;
  x = pad(x, windows.before, windows.after, inside);
  if (!x)
    return x;
  for (auto [axis, extent] : llvm::enumerate(spatialOf(x)))
    more.push_back((pooling.extents[axis] - 1) * windows.strides[axis] +
                   reachOf(windows, axis) - extent);
  return pad(x, none, more, outside);
}

/// Calls `visit` with the elements at each place of the windows, and the place.
template <typename Visit>
static void forEachPlace(Emitter &e, Val x, const Pooling &pooling,
                         Visit visit) {
  const Windows &windows = pooling.windows;
  Shape place(windows.kernel.size(), 0);
  while (true) {
    Val part = x;
    for (size_t i = 0; i != place.size(); ++i) {
      int64_t begin = place[i] * windows.dilations[i];
      int64_t end = begin + (pooling.extents[i] - 1) * windows.strides[i] + 1;
      part = e.slice(part, int64_t(i) + 2, begin, end, windows.strides[i]);
    }
    if (!part)
      return;
    visit(part, llvm::ArrayRef<int64_t>(place));
    size_t axis = place.size();
    while (axis != 0 && ++place[axis - 1] == windows.kernel[axis - 1])
      place[--axis] = 0;
    if (axis == 0)
      return;
  }
}

static Val sumOfPlaces(Emitter &e, Val x, const Pooling &pooling) {
  Val sum;
  forEachPlace(e, x, pooling, [&](Val part, llvm::ArrayRef<int64_t>) {
    sum = sum ? e.add(sum, part) : part;
  });
  return sum;
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

/// The index of each element of an image's plane, of the padded one.
static Val indicesOf(Emitter &e, Val x, const Pooling &pooling,
                     llvm::ArrayRef<int64_t> extents, bool columnsFirst) {
  Shape shape = {1, 1}, steps(extents.size(), 1);
  llvm::append_range(shape, spatialOf(x));
  if (columnsFirst)
    for (size_t i = 1; i < extents.size(); ++i)
      steps[i] = steps[i - 1] * extents[i - 1];
  else
    for (size_t i = extents.size(); i-- > 1;)
      steps[i - 1] = steps[i] * extents[i];
  std::vector<double> indices;
  Shape place(extents.size(), 0);
  for (int64_t i = 0; i != TensorType(DType::Int32, shape).numElements(); ++i) {
    int64_t index = 0;
    for (size_t axis = 0; axis != place.size(); ++axis)
      index += (place[axis] - pooling.windows.before[axis]) * steps[axis];
    indices.push_back(double(index));
    for (size_t axis = place.size();
         axis-- > 0 && ++place[axis] == shape[axis + 2];)
      place[axis] = 0;
  }
  return e.constant(Constant::fromDoubles({DType::Int32, shape}, indices));
}

/// The first index of each image's channel.
static Val bases(Emitter &e, Val x) {
  Shape shape(size_t(x.rank()), 1);
  shape[0] = x.dim(0);
  shape[1] = x.dim(1);
  std::vector<double> values;
  int64_t plane = x.size() / (x.dim(0) * x.dim(1));
  for (int64_t i = 0; i != x.dim(0) * x.dim(1); ++i)
    values.push_back(double(i * plane));
  return e.constant(Constant::fromDoubles({DType::Int32, shape}, values));
}

Val onnx::maxima(Node &node, Val x) {
  Emitter &e = node.e;
  Pooling pooling;
  if (!readPooling(node, x, pooling))
    return {};
  bool columnsFirst = node.opset() >= 8 && node.attr("storage_order", 0) != 0;
  DType dtype = x.dtype();
  DType wide = dtype == DType::FP16 ? DType::FP16 : DType::FP32;
  Val from = e.cast(x, wide);
  if (!node.wants(1) && pooling.isPlain() && x.rank() <= 5)
    return e.cast(e.make(ops::MaxPool, {from},
                         {{param::kernelSizes, pooling.windows.kernel},
                          {param::strides, pooling.windows.strides},
                          {param::padType, PadType::Custom},
                          {param::pad, pairsOf(pooling.windows)}}),
                  dtype);
  Val best, index;
  Val filled = paddedWindows(e, from, pooling, -INFINITY, -INFINITY);
  if (!filled)
    return {};
  Vals indexParts;
  if (node.wants(1)) {
    if (!node.affords(spatialOf(filled)) || !node.affords({x.dim(0), x.dim(1)}))
      return {};
    Val indices = indicesOf(e, filled, pooling, spatialOf(x), columnsFirst);
    forEachPlace(e, indices, pooling, [&](Val part, llvm::ArrayRef<int64_t>) {
      indexParts.push_back(part);
    });
  }
  size_t place = 0;
  forEachPlace(e, filled, pooling, [&](Val part, llvm::ArrayRef<int64_t>) {
    if (node.wants(1)) {
      Val here = e.broadcast(indexParts[place++], part.shape());
      index = index ? e.select(e.make(ops::Greater, {part, best}), here, index)
                    : here;
    }
    best = best ? e.binary(ops::Maximum, best, part) : part;
  });
  if (node.wants(1))
    node.out(1, e.add(index, bases(e, x)));
  return e.cast(best, dtype);
}

static void maxPool(Node &node) { node.out(maxima(node, node.in(0))); }

//===----------------------------------------------------------------------===//
// Averages and norms
//===----------------------------------------------------------------------===//

Val onnx::averaged(Node &node, Val x) {
  Emitter &e = node.e;
  Pooling pooling;
  if (!readPooling(node, x, pooling))
    return {};
  bool counted = node.attr("count_include_pad", 0) != 0;
  if (pooling.isPlain() && x.rank() <= 5)
    return e.make(ops::AvgPool, {x},
                  {{param::kernelSizes, pooling.windows.kernel},
                   {param::strides, pooling.windows.strides},
                   {param::padType, PadType::Custom},
                   {param::pad, pairsOf(pooling.windows)},
                   {param::excludePaddingFromAverage, !counted}});
  Shape shape = {1, 1};
  llvm::append_range(shape, spatialOf(x));
  Val ones =
      paddedWindows(e, e.filled(x.dtype(), shape, 1), pooling, 0, counted);
  Val sums = sumOfPlaces(e, paddedWindows(e, x, pooling, 0, 0), pooling);
  return e.div(sums, sumOfPlaces(e, ones, pooling));
}

static void averagePool(Node &node) {
  Val x = node.in(0);
  node.out(averaged(node, x));
}

/// |x|^p
static Val powersOf(Emitter &e, Val x, double p) {
  Val size = e.unary(ops::Abs, x);
  return e.binary(ops::Pow, size, e.scalar(x.dtype(), p));
}

static Val root(Emitter &e, Val x, double p) {
  return e.binary(ops::Pow, x, e.scalar(x.dtype(), 1 / p));
}

static void lpPool(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  auto p = double(node.attr("p", 2));
  Pooling pooling;
  if (!readPooling(node, x, pooling))
    return;
  Val powers = powersOf(e, x, p);
  node.out(root(
      e, sumOfPlaces(e, paddedWindows(e, powers, pooling, 0, 0), pooling), p));
}

/// All spatial axes.
static Shape plane(Val x) {
  Shape axes;
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    axes.push_back(axis);
  return axes;
}

template <const OpDef &Def>
static void global(Node &node) {
  Val x = node.in(0);
  if (hasPlane(node, x))
    node.out(node.e.reduce(Def, x, plane(x), true));
}

static void globalLpPool(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  auto p = double(node.attr("p", 2));
  if (!hasPlane(node, x))
    return;
  Val powers = powersOf(e, x, p);
  node.out(root(e, e.reduce(ops::ReduceSum, powers, plane(x), true), p));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow poolingTable[] = {
    {"AveragePool", averagePool},
    {"GlobalAveragePool", global<ops::ReduceMean>},
    {"GlobalLpPool", globalLpPool, 2},
    {"GlobalMaxPool", global<ops::ReduceMax>},
    {"LpPool", lpPool, 2},
    {"MaxPool", maxPool},
};

llvm::ArrayRef<OpRow> onnx::poolingRows() { return poolingTable; }
