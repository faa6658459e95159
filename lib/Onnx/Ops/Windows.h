//===- Windows.h - windows of convolutions and pooling ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_WINDOWS_H
#define ANEC_LIB_ONNX_OPS_WINDOWS_H

#include "../Node.h"

namespace anec::onnx {

/// The windows of a convolution or of pooling, of one number for each spatial
/// axis.
struct Windows {
  Shape kernel, strides, dilations, before, after;
};

/// Reads the attributes; `spatial` has the extents of the input. Returns false
/// after an error.
bool readWindows(Node &node, Shape kernel, llvm::ArrayRef<int64_t> spatial,
                 Windows &windows);

/// Before and after each axis, as MIL lists them.
Shape pairsOf(const Windows &windows);

/// The extents after images and channels.
llvm::ArrayRef<int64_t> spatialOf(Val x);

/// Whether there are images, channels and spatial axes; an error if not.
bool hasPlane(Node &node, Val x);

/// The convolution that the attributes of `node` describe; `bias` may be
/// missing. Missing after an error.
Val convolved(Node &node, Val x, Val weight, Val bias);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_WINDOWS_H
