//===- Layout.h - where the engine has rows ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_LAYOUT_H
#define ANEC_LIB_RUNTIME_ANE_LAYOUT_H

#include "../Apple/RowLayout.h"

namespace anec::ane {

using namespace apple;

/// An input or output as the attributes of a loaded program describe it;
/// numbers are 0 and `type` is empty where they do not. An element is at
/// n * batchStride + (c * depth + d) * planeStride + h * rowStride + w * size,
/// in bytes.
struct ReportedLayout {
  uint64_t batches = 0, channels = 0, depth = 0, height = 0, width = 0;
  uint64_t rowStride = 0, planeStride = 0, batchStride = 0;
  uint64_t interleave = 0;
  std::string type; ///< `Float16`

  uint64_t rows() const;
  /// The bytes that a surface needs: max(BatchStride * N, PlaneStride * C * D *
  /// N), as pmetal computes them; 0 when not known.
  uint64_t bytes() const;
};

/// The layout of an input or output of `type` where the engine reports none:
/// rows at multiples of 64 bytes.
RowLayout paddedLayout(const TensorType &type);
/// The layout that the engine reports. Returns nothing, with the reason in
/// `problem`, when it is not one of `type`, or its rows cannot be found.
std::optional<RowLayout> reportedLayout(const TensorType &type,
                                        const ReportedLayout &reported,
                                        std::string &problem);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_LAYOUT_H
