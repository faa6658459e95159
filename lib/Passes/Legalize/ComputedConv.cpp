//===- ComputedConv.cpp - convolutions with computed weights --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine requires the weight of a convolution to be a compile-time
/// constant. A computed weight, or one passed as input, becomes a matrix
/// product with the columns of the image (im2col) instead.
///
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::legalize;

namespace {

/// Unfolds an image [N, C, ...]: each window of a kernel becomes a column.
class Unfolding {
public:
  explicit Unfolding(Rewriter &r) : r(r), groups(r.op.get(param::groups)) {
    if (r.op.is(ops::Conv))
      ofConvolution();
    else
      ofTransposed();
  }

  /// [N, taps * C, positions]; with groups, [N, groups, C / groups * taps,
  /// positions].
  Value *columns() const;

private:
  struct Axis {
    int64_t extent;                  ///< number of windows
    int64_t stride;                  ///< between windows
    llvm::SmallVector<int64_t> taps; ///< positions in the first window
  };

  void ofConvolution();
  void ofTransposed();
  Value *framed(Value *value, llvm::ArrayRef<std::pair<int64_t, int64_t>> by);
  Value *spread(Value *value, unsigned axis, int64_t stride);
  Value *window(llvm::ArrayRef<int64_t> begins) const;
  llvm::SmallVector<Value *> windows() const;

  Rewriter &r;
  int64_t groups;
  Value *image = nullptr;
  llvm::SmallVector<Axis, 3> axes;
};

} // namespace

void Unfolding::ofConvolution() {
  llvm::SmallVector<std::pair<int64_t, int64_t>, 3> pads;
  const Shape &in = r.x()->type.shape,
              &kernel = r.op.operand(param::weight)->type.shape;
  for (unsigned i = 2; i < in.size(); ++i) {
    ConvAxis axis = convAxis(r.op, i - 2, in[i], kernel[i]);
    pads.push_back({axis.before, axis.after});
    Axis &made = axes.emplace_back(Axis{axis.output(), axis.stride, {}});
    for (int64_t tap = 0; tap < axis.kernel; ++tap)
      made.taps.push_back(tap * axis.dilation);
  }
  image = framed(r.x(), pads);
}

/// Windows over the input with zeros between its elements, with a reversed
/// kernel: y[p] = sum over k of w[k] x[p + before - k * dilation].
void Unfolding::ofTransposed() {
  llvm::SmallVector<std::pair<int64_t, int64_t>, 3> pads;
  const Shape &in = r.x()->type.shape, &out = r.op.result()->type.shape,
              &kernel = r.op.operand(param::weight)->type.shape;
  Value *value = r.x();
  for (unsigned i = 2; i < in.size(); ++i) {
    ConvAxis axis = transposedAxis(r.op, i - 2, in[i], out[i], kernel[i]);
    value = spread(value, i, axis.stride);
    int64_t last = axis.span() - 1, before = last - axis.before;
    pads.push_back({before, out[i] + last - before - in[i] * axis.stride});
    Axis &made = axes.emplace_back(Axis{out[i], 1, {}});
    for (int64_t tap = 0; tap < axis.kernel; ++tap)
      made.taps.push_back(last - tap * axis.dilation);
  }
  image = framed(value, pads);
}

/// Pads the spatial axes with zeros; negative amounts crop.
Value *Unfolding::framed(Value *value,
                         llvm::ArrayRef<std::pair<int64_t, int64_t>> by) {
  Shape pad;
  for (auto [index, pair] : llvm::enumerate(by)) {
    auto [before, after] = pair;
    int64_t cut = std::max<int64_t>(-before, 0);
    int64_t left =
        value->type.shape[index + 2] - cut + std::min<int64_t>(after, 0);
    value = r.slice(value, unsigned(index) + 2, cut, left, "cut");
    pad.append({std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)});
  }
  return r.pad(value, pad, "framed");
}

/// Follows each element along `axis` by `stride` - 1 zeros.
Value *Unfolding::spread(Value *value, unsigned axis, int64_t stride) {
  if (stride == 1)
    return value;
  // As [axes before it, the axis, 1, axes after it].
  Shape whole = value->type.shape, apart = {1, whole[axis], 1, 1};
  for (unsigned i = 0; i < whole.size(); ++i)
    if (i != axis)
      apart[i < axis ? 0 : 3] *= whole[i];
  Value *wide =
      r.pad(r.reshape(value, apart, "apart"), {0, stride - 1, 0, 0}, "wide");
  whole[axis] *= stride;
  return r.reshape(wide, whole, "spread");
}

/// The image elements that one kernel element is multiplied by, for all
/// outputs.
Value *Unfolding::window(llvm::ArrayRef<int64_t> begins) const {
  Shape begin = {0, 0}, end(image->type.shape), stride = {1, 1};
  bool isDense = true;
  for (auto [index, axis] : llvm::enumerate(axes)) {
    begin.push_back(begins[index]);
    end[index + 2] = begins[index] + (axis.extent - 1) * axis.stride + 1;
    stride.push_back(axis.stride);
    isDense &= axis.stride == 1;
  }
  if (begin == Shape(begin.size(), 0) && end == image->type.shape && isDense)
    return image;
  if (!isDense) {
    // Written out for `slice-masks`.
    const std::vector<double> zeros(end.size());
    ConstantRef none = Constant::fromDoubles(
        TensorType(DType::Bool, {int64_t(end.size())}), zeros);
    return r.make(ops::SliceByIndex, {image},
                  {{param::begin, begin},
                   {param::end, end},
                   {param::stride, stride},
                   {param::beginMask, none},
                   {param::endMask, none}},
                  "window");
  }
  for (size_t i = 0; i < end.size(); ++i)
    end[i] -= begin[i];
  return r.make(ops::SliceBySize, {image},
                {{param::begin, begin}, {param::size, end}}, "window");
}

/// One window for each element of the kernel, in its order.
llvm::SmallVector<Value *> Unfolding::windows() const {
  llvm::SmallVector<Value *> windows;
  llvm::SmallVector<size_t, 3> at(axes.size(), 0);
  while (true) {
    llvm::SmallVector<int64_t, 3> begins;
    for (auto [index, axis] : llvm::enumerate(axes))
      begins.push_back(axis.taps[at[index]]);
    windows.push_back(window(begins));
    size_t axis = axes.size();
    while (axis > 0 && ++at[axis - 1] == axes[axis - 1].taps.size())
      at[--axis] = 0;
    if (axis == 0)
      return windows;
  }
}

Value *Unfolding::columns() const {
  llvm::SmallVector<Value *> parts = windows();
  int64_t batch = image->type.shape[0], channels = image->type.shape[1];
  int64_t taps = int64_t(parts.size()), positions = 1;
  for (const Axis &axis : axes)
    positions *= axis.extent;
  if (groups == 1)
    return r.reshape(r.concat(parts, 1, "rows"),
                     {batch, taps * channels, positions}, "columns");
  // The windows of a channel follow each other, so that a group is together.
  for (Value *&part : parts)
    part = r.reshape(part, {batch, channels, 1, positions}, "row");
  return r.reshape(r.concat(parts, 2, "rows"),
                   {batch, groups, channels / groups * taps, positions},
                   "columns");
}

/// The weight as [1, outputs, taps * inputs].
static Value *ungroupedRows(Rewriter &r, Value *weight) {
  Shape w = weight->type.shape;
  bool isTransposed = r.op.is(ops::ConvTranspose);
  int64_t outputs = w[isTransposed ? 1 : 0], inputs = w[isTransposed ? 0 : 1];
  int64_t taps = weight->type.numElements() / (outputs * inputs);
  if (isTransposed ? outputs > 1 || taps > 1 : taps > 1 && inputs > 1) {
    if (w.size() > 4)
      weight = r.reshape(weight, {w[0], w[1], taps}, "flat");
    Shape perm = {isTransposed ? 1 : 0};
    for (int64_t axis = 2; axis < int64_t(weight->type.rank()); ++axis)
      perm.push_back(axis);
    perm.push_back(isTransposed ? 0 : 1);
    weight = r.make(ops::Transpose, {weight}, {{param::perm, perm}}, "turned");
  }
  return r.reshape(weight, {1, outputs, taps * inputs}, "kernel");
}

/// The weight as [1, groups, outputs, inputs * taps], for each group.
static Value *groupedRows(Rewriter &r, Value *weight) {
  const Shape w = weight->type.shape;
  int64_t groups = r.op.get(param::groups);
  int64_t outputs = r.op.result()->type.shape[1] / groups;
  int64_t inputs = r.x()->type.shape[1] / groups;
  if (r.op.is(ops::ConvTranspose)) {
    // [inputs, outputs, taps] of each group
    int64_t taps = weight->type.numElements() / (w[0] * w[1]);
    weight = r.reshape(weight, {groups, inputs, outputs, taps}, "grouped");
    weight =
        r.make(ops::Transpose, {weight},
               {{param::perm, llvm::ArrayRef<int64_t>{0, 2, 1, 3}}}, "turned");
  }
  int64_t width = weight->type.numElements() / (groups * outputs);
  return r.reshape(weight, {1, groups, outputs, width}, "kernel");
}

static Value *weightRows(Rewriter &r) {
  Value *weight = r.op.operand(param::weight);
  // A product has the element type of its first operand, the weight; a
  // convolution has that of the image.
  if (DType dtype = r.x()->type.dtype; weight->type.dtype != dtype)
    weight = r.make(ops::Cast, {weight}, {{param::dtype, dtype}}, weight->name);
  return r.op.get(param::groups) == 1 ? ungroupedRows(r, weight)
                                      : groupedRows(r, weight);
}

/// conv(x, w) with a computed w ==> matmul(w as [1, O, taps * I], columns of x)
Value *legalize::convToMatmul(Rewriter &r) {
  // Each element of the kernel needs a slice of the image; with more, programs
  // get too long.
  constexpr int64_t mostTaps = 128;
  const Shape &w = r.op.operand(param::weight)->type.shape;
  int64_t taps = 1;
  for (int64_t extent : llvm::ArrayRef(w).drop_front(2))
    taps *= extent;
  if (taps > mostTaps)
    return nullptr;
  Value *product =
      r.make(ops::Matmul, {weightRows(r), Unfolding(r).columns()}, "product");
  Value *bias = r.op.operand(param::bias);
  Value *result =
      r.reshape(product, r.op.result()->type.shape, bias ? "image" : "");
  return bias ? addBias(r, result, bias) : result;
}
