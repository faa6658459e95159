//===- Convolution.cpp - convolutions -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Convolution.h"
#include "../Choice.h"
#include "../Families.h"
#include "Windows.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Shape.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

/// The spatial extents of a weight, which the attribute repeats.
static Shape kernelOf(Node &node, Val weight) {
  Shape kernel(spatialOf(weight)), given = node.attrInts("kernel_shape");
  if (!given.empty() && given != kernel)
    node.fail("`kernel_shape` is " + shapeToString(given) +
              ", and the weight has " + shapeToString(kernel));
  return kernel;
}

Val onnx::convolved(Node &node, Val x, Val weight, Val bias) {
  Emitter &e = node.e;
  Windows windows;
  if (!readWindows(node, kernelOf(node, weight), spatialOf(x), windows))
    return {};
  Vals operands = {x, weight};
  bool stored = bias && bias.isKnown();
  if (stored)
    operands.push_back(bias);
  Val result = e.make(ops::Conv, operands,
                      {{param::strides, windows.strides},
                       {param::padType, PadType::Custom},
                       {param::pad, pairsOf(windows)},
                       {param::dilations, windows.dilations},
                       {param::groups, node.attr("group", 1)}});
  if (bias && !stored) {
    Shape shape(size_t(x.rank()), 1);
    shape[1] = bias.size();
    result = e.add(result, e.reshape(bias, shape));
  }
  return result;
}

static void conv(Node &node) {
  Val x = node.in(0), weight = node.in(1), bias = node.maybe(2);
  if (hasPlane(node, x) && hasPlane(node, weight))
    node.out(convolved(node, x, weight, bias));
}

/// Cuts the whole result of a transposed convolution, or adds zeros.
static Val resized(Emitter &e, Val x, int64_t axis, int64_t begin,
                   int64_t extent) {
  int64_t end = std::min(begin + extent, x.dim(axis));
  int64_t missing = begin + extent - end;
  x = e.slice(x, axis, begin, end);
  if (missing <= 0)
    return x;
  Shape pads(size_t(2 * x.rank()), 0);
  pads[size_t(2 * axis + 1)] = missing;
  return e.make(ops::Pad, {x},
                {{param::pad, pads},
                 {param::padMode, PadMode::Constant},
                 {param::constantVal, Constant::scalar(x.dtype(), 0)}});
}

static void convTranspose(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), weight = node.in(1), bias = node.maybe(2);
  Windows windows;
  if (!hasPlane(node, x) || !hasPlane(node, weight) ||
      !readWindows(node, kernelOf(node, weight), spatialOf(x), windows))
    return;
  size_t count = windows.kernel.size();
  Shape added = node.attrInts("output_padding"),
        wanted = node.attrInts("output_shape");
  if (added.empty())
    added.assign(count, 0);
  if (wanted.size() == count + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (added.size() != count || (!wanted.empty() && wanted.size() != count))
    return node.fail("the attributes do not have a number for each spatial "
                     "axis");
  auto autoPad = choiceOf<AutoPad>(node, "auto_pad");
  bool isSame = onnx::isSame(autoPad);
  Val result = e.make(ops::ConvTranspose, {x, weight},
                      {{param::strides, windows.strides},
                       {param::padType, PadType::Valid},
                       {param::dilations, windows.dilations},
                       {param::groups, node.attr("group", 1)}});
  if (!result)
    return;
  for (size_t i = 0; i != count; ++i) {
    auto axis = int64_t(i) + 2;
    int64_t before = windows.before[i], after = windows.after[i];
    int64_t extent = result.dim(axis) + added[i] - before - after;
    if (!wanted.empty() || isSame) {
      extent = wanted.empty() ? x.dim(axis) * windows.strides[i] : wanted[i];
      int64_t cut = result.dim(axis) + added[i] - extent;
      // Of version 1, ONNX and onnxruntime have different rules.
      if (cut > 0 && cut % 2 != 0 && !isSame && node.opset() < 11)
        return node.refuse("an `output_shape` with odd padding before version "
                           "11 of the operators");
      if (cut < 0 && wanted.empty())
        return node.refuse("`auto_pad` that asks for more elements than there "
                           "are");
      cut = std::max<int64_t>(0, cut); // zeros are added at the end
      before = autoPad == AutoPad::SameUpper ? cut / 2 : cut - cut / 2;
    }
    if (extent < 1 || before < 0 || before >= result.dim(axis))
      return node.refuse("its result is empty or begins with padding");
    result = resized(e, result, axis, before, extent);
  }
  if (bias) {
    Shape shape(size_t(x.rank()), 1);
    shape[1] = bias.size();
    result = e.add(result, e.reshape(bias, shape));
  }
  node.out(result);
}

/// Adds blocks where they belong in an image: a transposed convolution that
/// has a weight for each place in a block, with 1 there and 0 elsewhere.
static void col2im(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  Shape image = node.ints(1), block = node.ints(2);
  Shape strides = node.attrInts("strides"), pads = node.attrInts("pads"),
        dilations = node.attrInts("dilations");
  if (node.failed())
    return;
  size_t count = block.size();
  strides.resize(strides.empty() ? count : strides.size(), 1);
  dilations.resize(dilations.empty() ? count : dilations.size(), 1);
  pads.resize(pads.empty() ? 2 * count : pads.size(), 0);
  if (x.rank() != 3 || count < 1 || count > 3 || image.size() != count ||
      strides.size() != count || dilations.size() != count ||
      pads.size() != 2 * count)
    return node.fail(
        "the input must have rank 3, and the shapes and attributes "
        "a number for each of up to 3 spatial axes");
  Shape columns = {x.dim(0), x.dim(1)};
  int64_t places = 1;
  for (size_t i = 0; i != count; ++i) {
    if (image[i] < 1 || block[i] < 1 || strides[i] < 1 || dilations[i] < 1 ||
        pads[i] < 0 || pads[count + i] < 0 ||
        !node.affords({places, block[i]}) || !node.affords({image[i]}))
      return node.fail("its shapes and attributes are not sizes of a window");
    places *= block[i];
    int64_t space = image[i] + pads[i] + pads[count + i] -
                    (dilations[i] * (block[i] - 1) + 1);
    columns.push_back(space < 0 ? 0 : space / strides[i] + 1);
  }
  if (checkedNumElements(llvm::ArrayRef(columns).drop_front(2)) != x.dim(2) ||
      x.dim(1) % places != 0)
    return node.fail("the input does not have the blocks of the image");
  if (!node.affords({x.dim(1), places}))
    return;
  Shape weightShape = {x.dim(1), 1};
  weightShape.append(block.begin(), block.end());
  std::vector<double> ones(size_t(x.dim(1) * places));
  for (int64_t channel = 0; channel != x.dim(1); ++channel)
    ones[size_t(channel * places + channel % places)] = 1;
  DType dtype = x.dtype(), wide = dtype == DType::FP16 ? dtype : DType::FP32;
  Val weight = e.constant(Constant::fromDoubles({wide, weightShape}, ones));
  Val result =
      e.make(ops::ConvTranspose, {e.cast(e.reshape(x, columns), wide), weight},
             {{param::strides, strides},
              {param::padType, PadType::Valid},
              {param::dilations, dilations},
              {param::groups, x.dim(1) / places}});
  for (size_t i = 0; i != count && result; ++i)
    result = resized(e, result, int64_t(i) + 2, pads[i], image[i]);
  node.out(e.cast(result, dtype));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow convolutionTable[] = {
    {"Col2Im", col2im, 18, "the shapes must be known"},
    {"Conv", conv},
    {"ConvTranspose", convTranspose},
};

llvm::ArrayRef<OpRow> onnx::convolutionRows() { return convolutionTable; }
