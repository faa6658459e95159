//===- Layout.cpp - where the engine has rows -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Layout.h"
#include "anec/Target/Target.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::ane;

static uint64_t product(std::initializer_list<uint64_t> factors) {
  uint64_t result = 1;
  for (uint64_t factor : factors)
    result = llvm::SaturatingMultiply(result, factor);
  return result;
}

uint64_t ReportedLayout::rows() const {
  return product({batches, channels, depth, height});
}

uint64_t ReportedLayout::bytes() const {
  return std::max(product({batchStride, batches}),
                  product({planeStride, channels, depth, batches}));
}

RowLayout ane::paddedLayout(const TensorType &type) {
  const SurfaceRule &rule = genericTarget().surface;
  RowLayout layout = evenRows(type, rule.rowAlignment);
  layout.bytes = std::max(layout.bytes, surfaceBytes(rule, type));
  return layout;
}

/// The name of `dtype` in attributes; empty for those that are not known.
static llvm::StringRef reportedName(DType dtype) {
  switch (dtype) {
  case DType::FP16:
    return "Float16";
  case DType::FP32:
    return "Float32";
  case DType::Int32:
    return "Int32";
  default:
    return "";
  }
}

/// Whether all that takes one to a row is there.
static bool hasPlanes(const ReportedLayout &reported) {
  return reported.rows() && reported.planeStride && reported.batchStride;
}

/// What is unexpected about `reported`; empty when nothing is.
static std::string problemOf(const ReportedLayout &reported,
                             const TensorType &type, const RowLayout &layout) {
  llvm::StringRef name = reportedName(type.dtype);
  if (!reported.type.empty() && !name.empty() && reported.type != name)
    return llvm::formatv("its elements are {0}", reported.type).str();
  if (reported.interleave > 1)
    return llvm::formatv("the interleave is {0}", reported.interleave).str();
  if (reported.width && reported.width != layout.columns)
    return llvm::formatv("rows have {0} elements instead of {1}",
                         reported.width, layout.columns)
        .str();
  if (reported.rows() && reported.rows() != layout.rows)
    return llvm::formatv("there are {0} rows instead of {1}", reported.rows(),
                         layout.rows)
        .str();
  if (reported.rowStride < layout.rowBytes())
    return llvm::formatv("rows of {0} bytes are {1} bytes apart",
                         layout.rowBytes(), reported.rowStride)
        .str();
  uint64_t plane = product({reported.height, reported.rowStride});
  uint64_t batch =
      product({reported.channels, reported.depth, reported.planeStride});
  if (hasPlanes(reported) &&
      (reported.planeStride < plane || reported.batchStride < batch))
    return llvm::formatv("rows are {0} bytes apart, planes of {1} rows {2} "
                         "bytes, and batches of {3} planes {4} bytes",
                         reported.rowStride, reported.height,
                         reported.planeStride,
                         product({reported.channels, reported.depth}),
                         reported.batchStride)
        .str();
  return "";
}

std::optional<RowLayout> ane::reportedLayout(const TensorType &type,
                                             const ReportedLayout &reported,
                                             std::string &problem) {
  RowLayout layout = paddedLayout(type);
  // Attributes of a form that is not known.
  if (!reported.rowStride)
    return layout;
  problem = problemOf(reported, type, layout);
  if (!problem.empty())
    return std::nullopt;
  layout.stride = reported.rowStride;
  layout.planeStride = layout.batchStride =
      product({layout.planeRows, layout.stride});
  uint64_t bytes = product({layout.rows, layout.stride});
  if (hasPlanes(reported)) {
    layout.planeRows = reported.height;
    layout.batchPlanes = product({reported.channels, reported.depth});
    layout.planeStride = reported.planeStride;
    layout.batchStride = reported.batchStride;
    bytes = reported.bytes();
  }
  layout.bytes = std::max(layout.bytes, bytes);
  return layout;
}
