//===- DeformConv.cpp - convolutions at computed places -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Each element of a window is read by `resample`, between pixels and with
/// zeros outside; a product with the weights follows.
///
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "Windows.h"
#include "anec/IR/Params.h"
#include "lib/Ops/Params/Sampling.h"
#include "lib/Ops/Rows/Sample.h"

using namespace anec;
using namespace anec::onnx;

/// The places of the elements of each window without offsets, as [1, rows *
/// columns of the kernel, extents[0], extents[1]] of one of the axes.
static Val regularPlaces(Emitter &e, const Windows &windows,
                         llvm::ArrayRef<int64_t> extents, size_t axis,
                         DType dtype) {
  std::vector<double> places;
  Shape at(4);
  for (at[0] = 0; at[0] != windows.kernel[0]; ++at[0])
    for (at[1] = 0; at[1] != windows.kernel[1]; ++at[1])
      for (at[2] = 0; at[2] != extents[0]; ++at[2])
        for (at[3] = 0; at[3] != extents[1]; ++at[3])
          places.push_back(double(at[axis] * windows.dilations[axis] +
                                  at[axis + 2] * windows.strides[axis] -
                                  windows.before[axis]));
  Shape shape = {1, windows.kernel[0] * windows.kernel[1], extents[0],
                 extents[1]};
  return e.constant(Constant::fromDoubles({dtype, shape}, places));
}

/// What the windows of a group of channels read: [images, channels, elements of
/// the kernel * rows, columns]. `offsets` are [images, elements, 2, rows,
/// columns].
static Val readPlaces(Emitter &e, Val x, Val offsets, const Windows &windows) {
  Shape extents(offsets.shape().end() - 2, offsets.shape().end());
  int64_t images = x.dim(0), elements = offsets.dim(1);
  Shape points = {images, elements * extents[0], extents[1], 1};
  auto coordinate = [&](size_t axis) {
    auto index = int64_t(axis);
    Val own = e.reshape(e.slice(offsets, 2, index, index + 1),
                        {images, elements, extents[0], extents[1]});
    Val all =
        e.add(own, regularPlaces(e, windows, extents, axis, offsets.dtype()));
    return e.reshape(all, points);
  };
  Val rows = coordinate(0), columns = coordinate(1);
  return e.make(ops::Resample, {x, e.concat({columns, rows}, -1)},
                {{param::interpolation, Interpolation::Bilinear},
                 {param::paddingMode, PaddingMode::Constant},
                 {param::paddingValue, Constant::scalar(x.dtype(), 0)},
                 {param::coordinatesMode, CoordinatesMode::Unnormalized},
                 {param::alignCorners, true}});
}

static void deformConv(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weight = node.in(1), offsets = node.in(2);
  Val bias = node.maybe(3), mask = node.maybe(4);
  if (!hasPlane(node, x) || !hasPlane(node, weight))
    return;
  if (x.rank() != 4)
    return node.refuse("an input that is not [images, channels, height, "
                       "width]");
  Windows windows;
  Shape kernel(spatialOf(weight)), given = node.attrInts("kernel_shape");
  if (!readWindows(node, kernel, spatialOf(x), windows))
    return;
  int64_t groups = node.attr("group", 1), parts = node.attr("offset_group", 1);
  int64_t images = x.dim(0), channels = x.dim(1), results = weight.dim(0);
  int64_t elements = kernel[0] * kernel[1];
  if ((!given.empty() && given != kernel) || groups < 1 || parts < 1 ||
      channels % parts != 0 || results % groups != 0 ||
      weight.dim(1) * groups != channels)
    return node.fail("the weight and the groups do not match the channels");
  int64_t rows = offsets.dim(2), columns = offsets.dim(3);
  Shape wanted = {images, parts * elements * 2, rows, columns};
  if (offsets.shape() != wanted)
    return node.fail("the offsets must have the shape " +
                     shapeToString(wanted));
  if (!node.affords({2, elements, rows, columns}))
    return;
  Val split = e.reshape(offsets, {images * parts, elements, 2, rows, columns});
  Val apart =
      e.reshape(x, {images * parts, channels / parts, x.dim(2), x.dim(3)});
  Val read = readPlaces(e, apart, split, windows);
  if (mask)
    read = e.mul(
        read, e.reshape(mask, {images * parts, 1, elements * rows, columns}));
  Val table = e.reshape(
      read, {images, groups, weight.dim(1) * elements, rows * columns});
  Val flat = e.reshape(weight,
                       {1, groups, results / groups, weight.dim(1) * elements});
  Val result =
      e.reshape(e.matmul(flat, table), {images, results, rows, columns});
  if (bias)
    result = e.add(result, e.reshape(bias, {1, results, 1, 1}));
  node.out(result);
}

static constexpr OpRow deformTable[] = {
    {"DeformConv", deformConv, 19, "in two dimensions"},
};

llvm::ArrayRef<OpRow> onnx::deformRows() { return deformTable; }
