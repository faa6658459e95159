//===- Convolutions.cpp - convolutions ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Reduce.h"

using namespace anec;
using namespace anec::torch;

namespace {
/// The numbers for each spatial axis.
struct ConvForm {
  Shape strides, dilations, before, after, added;
  int64_t groups = 1;
  bool transposed = false;
};
} // namespace

/// Inputs without an axis of batches get one.
static void giveConvolution(Node &n, const ConvForm &form) {
  Emitter &e = n.e;
  Val x = n.in("input"), weight = n.in("weight"), bias = n.maybe("bias");
  if (n.failed() || !x || !weight)
    return;
  bool isSingle = x.rank() == weight.rank() - 1;
  if (isSingle) {
    Shape shape = {1};
    llvm::append_range(shape, x.shape());
    x = e.reshape(x, shape);
  }
  Shape pads = form.before;
  llvm::append_range(pads, form.after);
  OnnxNode node(n, form.transposed ? llvm::StringLiteral("ConvTranspose")
                                   : llvm::StringLiteral("Conv"));
  node.in(x).in(weight);
  if (bias)
    node.in(bias);
  node.attr("strides", form.strides)
      .attr("dilations", form.dilations)
      .attr("pads", pads)
      .attr("group", form.groups);
  if (form.transposed)
    node.attr("output_padding", form.added);
  Val result = node.run();
  if (isSingle && result) {
    Shape shape(result.shape().begin() + 1, result.shape().end());
    result = e.reshape(result, shape);
  }
  n.out(result);
}

static size_t numSpatial(Node &n) {
  return size_t(std::max<int64_t>(n.item("weight").val.rank() - 2, 0));
}

static void readConvForm(Node &n, ConvForm &form) {
  size_t count = numSpatial(n);
  form.strides = n.spatial("stride", count);
  form.dilations = n.spatial("dilation", count);
  form.groups = n.integer("groups");
}

/// With a number of zeros on each side, or so many that the extents stay
/// (`same`), one more at the end where their number is odd.
static void conv(Node &n) {
  ConvForm form;
  readConvForm(n, form);
  size_t count = numSpatial(n);
  const Argument &padding = n.argument("padding");
  if (padding.kind != Argument::Kind::String) {
    form.before = form.after = n.spatial("padding", count);
    return giveConvolution(n, form);
  }
  Shape kernel = n.item("weight").val.shape();
  for (size_t i = 0; i != count; ++i) {
    int64_t total =
        padding.text == "same" ? form.dilations[i] * (kernel[i + 2] - 1) : 0;
    form.before.push_back(total / 2);
    form.after.push_back(total - total / 2);
  }
  giveConvolution(n, form);
}

static void convTranspose(Node &n) {
  ConvForm form;
  readConvForm(n, form);
  form.transposed = true;
  form.before = form.after = n.spatial("padding", numSpatial(n));
  form.added = n.spatial("output_padding", numSpatial(n));
  giveConvolution(n, form);
}

static void convolution(Node &n) {
  ConvForm form;
  readConvForm(n, form);
  form.transposed = n.flag("transposed");
  form.before = form.after = n.spatial("padding", numSpatial(n));
  form.added = n.spatial("output_padding", numSpatial(n));
  giveConvolution(n, form);
}

/// The elements of each window as a column.
static void imageToColumns(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape kernel = n.spatial("kernel_size", 2),
        dilation = n.spatial("dilation", 2), padding = n.spatial("padding", 2),
        stride = n.spatial("stride", 2);
  if (n.failed() || x.rank() != 4)
    return n.fail("its input must have rank 4");
  for (size_t i = 0; i != 2; ++i)
    if (kernel[i] < 1 || dilation[i] < 1 || stride[i] < 1 || padding[i] < 0)
      return n.fail("its numbers are not sizes of a window");
  Shape pads = {0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]};
  Val padded = OnnxNode(n, "Pad").in(x).in(e.list(pads)).run();
  Vals parts;
  Shape extents;
  for (size_t i = 0; i != 2; ++i)
    extents.push_back(
        (padded.dim(int64_t(i) + 2) - dilation[i] * (kernel[i] - 1) - 1) /
            stride[i] +
        1);
  if (!padded || extents[0] < 1 || extents[1] < 1 ||
      !e.affords({kernel[0], kernel[1]}))
    return n.fail("its windows do not fit");
  for (int64_t row = 0; row != kernel[0]; ++row)
    for (int64_t column = 0; column != kernel[1]; ++column) {
      int64_t top = row * dilation[0], left = column * dilation[1];
      Val part = e.slice(padded, 2, top, top + (extents[0] - 1) * stride[0] + 1,
                         stride[0]);
      part = e.slice(part, 3, left, left + (extents[1] - 1) * stride[1] + 1,
                     stride[1]);
      parts.push_back(
          e.reshape(part, {x.dim(0), x.dim(1), 1, extents[0] * extents[1]}));
      if (!parts.back())
        return;
    }
  Val all = e.concat(parts, 2);
  n.out(e.reshape(all, {x.dim(0), x.dim(1) * kernel[0] * kernel[1],
                        extents[0] * extents[1]}));
}

static void columnsToImage(Node &n) {
  Emitter &e = n.e;
  Val x = n.in("self");
  Shape size = n.spatial("output_size", 2),
        kernel = n.spatial("kernel_size", 2),
        dilation = n.spatial("dilation", 2), padding = n.spatial("padding", 2),
        stride = n.spatial("stride", 2);
  if (n.failed())
    return;
  Shape pads = {padding[0], padding[1], padding[0], padding[1]};
  n.out(OnnxNode(n, "Col2Im")
            .in(x)
            .in(e.list(size))
            .in(e.list(kernel))
            .attr("dilations", dilation)
            .attr("pads", pads)
            .attr("strides", stride)
            .run());
}

/// v * g / |v|: a weight by its direction and its length, which is that of all
/// axes but one.
static void weightNorm(Node &n) {
  Emitter &e = n.e;
  Val v = n.in("v"), g = n.in("g");
  int64_t kept = n.axis("dim", v.rank());
  Shape axes;
  for (int64_t axis = 0; axis != v.rank(); ++axis)
    if (axis != kept)
      axes.push_back(axis);
  Val norm = e.reduce(ops::ReduceL2Norm, v, axes, true);
  n.out(e.mul(v, e.div(g, norm)));
}

static constexpr OpRow convolutionTable[] = {
    {"aten._weight_norm.default", weightNorm},
    {"aten.col2im.default", columnsToImage},
    {"aten.conv1d.default", conv},
    {"aten.conv1d.padding", conv},
    {"aten.conv2d.default", conv},
    {"aten.conv2d.padding", conv},
    {"aten.conv3d.default", conv},
    {"aten.conv3d.padding", conv},
    {"aten.conv_transpose1d.default", convTranspose},
    {"aten.conv_transpose2d.input", convTranspose},
    {"aten.conv_transpose3d.input", convTranspose},
    {"aten.convolution.default", convolution},
    {"aten.im2col.default", imageToColumns},
};

llvm::ArrayRef<OpRow> torch::convolutionRows() { return convolutionTable; }
