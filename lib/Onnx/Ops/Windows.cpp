//===- Windows.cpp - windows of convolutions and pooling ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Windows.h"
#include "../Choice.h"

using namespace anec;
using namespace anec::onnx;

static Shape orOnes(Shape values, size_t count) {
  if (values.empty())
    values.assign(count, 1);
  return values;
}

bool onnx::readWindows(Node &node, Shape kernel,
                       llvm::ArrayRef<int64_t> spatial, Windows &windows) {
  size_t count = spatial.size();
  windows.kernel = kernel;
  windows.strides = orOnes(node.attrInts("strides"), count);
  windows.dilations = orOnes(
      node.knows("dilations") ? node.attrInts("dilations") : Shape(), count);
  Shape pads = node.attrInts("pads");
  AutoPad autoPad = AutoPad::Explicit;
  if (node.knows("auto_pad"))
    autoPad = choiceOf<AutoPad>(node, "auto_pad");
  if (node.failed())
    return false;
  if (pads.empty() || autoPad != AutoPad::Explicit)
    pads.assign(2 * count, 0);
  if (kernel.size() != count || windows.strides.size() != count ||
      windows.dilations.size() != count || pads.size() != 2 * count) {
    node.fail("the attributes do not have a number for each spatial axis");
    return false;
  }
  for (size_t i = 0; i != count; ++i)
    if (kernel[i] < 1 || windows.strides[i] < 1 || windows.dilations[i] < 1) {
      node.fail("a kernel, stride or dilation is not positive");
      return false;
    }
  windows.before.assign(pads.begin(), pads.begin() + count);
  windows.after.assign(pads.begin() + count, pads.end());
  bool isLower = autoPad == AutoPad::SameLower;
  if (isSame(autoPad))
    for (size_t i = 0; i != count; ++i) {
      int64_t stride = windows.strides[i];
      int64_t reach = (kernel[i] - 1) * windows.dilations[i] + 1;
      int64_t results = (spatial[i] + stride - 1) / stride;
      int64_t total =
          std::max<int64_t>(0, (results - 1) * stride + reach - spatial[i]);
      windows.before[i] = isLower ? (total + 1) / 2 : total / 2;
      windows.after[i] = total - windows.before[i];
    }
  return true;
}

Shape onnx::pairsOf(const Windows &windows) {
  Shape pairs;
  for (size_t i = 0; i != windows.before.size(); ++i) {
    pairs.push_back(windows.before[i]);
    pairs.push_back(windows.after[i]);
  }
  return pairs;
}

llvm::ArrayRef<int64_t> onnx::spatialOf(Val x) {
  return llvm::ArrayRef<int64_t>(x.shape()).drop_front(
      size_t(std::min<int64_t>(2, x.rank())));
}

bool onnx::hasPlane(Node &node, Val x) {
  if (node.failed() || (x.rank() >= 3 && x.size() > 0))
    return !node.failed();
  node.fail("the input must have images, channels and spatial axes, and none "
            "of them be empty");
  return false;
}
