//===- ResizeAxis.h - resizing along one axis -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_RESIZEAXIS_H
#define ANEC_LIB_ONNX_OPS_RESIZEAXIS_H

#include "../Choice.h"

namespace anec::onnx {

/// What a position reads: one pixel, 2 or 4.
ANEC_ENUM(ResizeKind, (Nearest, "nearest"), (Linear, "linear"),
          (Cubic, "cubic"))

/// How positions of the output correspond to those of the input.
ANEC_ENUM(Coordinates, (AlignCorners, "align_corners"),
          (Asymmetric, "asymmetric"), (HalfPixel, "half_pixel"),
          (HalfPixelSymmetric, "half_pixel_symmetric"),
          (PyTorchHalfPixel, "pytorch_half_pixel"),
          (CropAndResize, "tf_crop_and_resize"),
          (HalfPixelForNearest, "tf_half_pixel_for_nn"))

/// Which pixel is nearest. CeilWhereSmaller is the rule of older operators,
/// which no attribute names.
ANEC_ENUM(PositionRounding, (Ceil, "ceil"), (Floor, "floor"),
          (PreferCeil, "round_prefer_ceil"),
          (PreferFloor, "round_prefer_floor"), (CeilWhereSmaller, ""))

/// How a node resizes: the attributes of `Resize`, and what older operators
/// have in their place.
struct ResizeMode {
  ResizeKind kind = ResizeKind::Nearest;
  Coordinates coordinates = Coordinates::Asymmetric;
  PositionRounding rounding = PositionRounding::Floor; ///< for nearest
  double cubicA = -0.75;
  bool excludeOutside = false;
  /// Weights reach as far as each pixel of a smaller result stands for.
  bool antialias = false;
};

/// One axis: `extent` positions become `count`.
struct ResizeAxis {
  int64_t extent, count;
  double scale;
  double start = 0, end = 1; ///< the part that tf_crop_and_resize shows

  /// The position of the input for position `i` of the output.
  double positionOf(const ResizeMode &mode, int64_t i) const;
  /// What each position of the output reads: weights of all positions of the
  /// input, [count, extent].
  std::vector<double> weights(const ResizeMode &mode) const;
  /// Whether tf_crop_and_resize reads outside of the input.
  bool isOutside(const ResizeMode &mode, int64_t i) const;
};

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_RESIZEAXIS_H
